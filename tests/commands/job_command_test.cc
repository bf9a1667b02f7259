// job_command_test: commands as users type them, split into launcher, options and program.
#include "harness/commands/job_command.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rankfault {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

Workload job(const std::string& text, int ranks = kRanksNotGiven) {
  const Result<Workload> workload = workload_of(words(text), ranks);
  EXPECT_TRUE(workload.ok()) << text << ": " << (workload.ok() ? "" : workload.error().message);
  return workload.ok() ? *workload : Workload{};
}

std::string mistake(const std::string& text, int ranks = kRanksNotGiven) {
  const Result<Workload> workload = workload_of(words(text), ranks);
  EXPECT_FALSE(workload.ok()) << text;
  if (workload.ok()) return "";
  EXPECT_EQ(workload.error().kind, ErrorKind::kUsage);
  return workload.error().message;
}

TEST(JobWords, SrunsOptionsEndWhereTheProgramBegins) {
  const Workload w = job("srun -N3 --mpi=pmix -c 2 --ntasks-per-node=4 ./program --steps 3");
  EXPECT_EQ(w.launcher, LauncherKind::kSlurm);
  EXPECT_EQ(w.ranks, 12);
  EXPECT_THAT(w.launcher_args, ElementsAre("-N", "3", "--mpi=pmix", "-c", "2", "--ntasks-per-node=4"));
  EXPECT_THAT(w.command, ElementsAre("./program", "--steps", "3"));
  EXPECT_EQ(job("srun -n5 ./program").ranks, 5);
  EXPECT_EQ(job("srun -N 2 -n 6 ./program -n7").ranks, 6);
  EXPECT_EQ(job("srun -K ./program").ranks, 1);
  EXPECT_EQ(job("srun -N2 ./program", 9).ranks, 9) << "what the user says";
  EXPECT_EQ(job("srun -N2 torchrun --nnodes=2 --nproc-per-node=8 train.py").ranks, 16);
  EXPECT_THAT(mistake("srun -n 4"), HasSubstr("no program follows"));
  EXPECT_THAT(mistake("srun -n 4 ./a : ./b"), HasSubstr("several programs"));
  EXPECT_THAT(mistake("srun --multi-prog file"), HasSubstr("--multi-prog"));
}

TEST(JobWords, MpirunsOptionsEndWhereTheProgramBegins) {
  const Workload w =
      job("mpirun --oversubscribe -np 4 --mca btl self,vader -x A=b --bind-to none ./a.out -np 9");
  EXPECT_EQ(w.launcher, LauncherKind::kMpirun);
  EXPECT_EQ(w.ranks, 4);
  EXPECT_EQ(w.mpirun, "");
  EXPECT_THAT(w.launcher_args,
              ElementsAre("--oversubscribe", "--mca", "btl", "self,vader", "-x", "A=b", "--bind-to", "none"));
  EXPECT_THAT(w.command, ElementsAre("./a.out", "-np", "9"));
}

TEST(JobWords, HydrasOptionsHaveOneDashAndUpToTwoValues) {
  const Workload w =
      job("/opt/mpich/bin/mpiexec.hydra -n 3 -genv A b -envnone -ppn 2 -l -outfile-pattern o.%r ./a -n 9");
  EXPECT_EQ(w.launcher, LauncherKind::kMpirun);
  EXPECT_EQ(w.mpirun, "/opt/mpich/bin/mpiexec.hydra");
  EXPECT_EQ(w.ranks, 3);
  EXPECT_THAT(w.launcher_args,
              ElementsAre("-genv", "A", "b", "-envnone", "-ppn", "2", "-l", "-outfile-pattern", "o.%r"));
  EXPECT_THAT(w.command, ElementsAre("./a", "-n", "9"));
}

TEST(JobWords, ALauncherByItsPathIsThatOne) {
  EXPECT_EQ(job("/opt/ompi/bin/mpiexec -n 2 ./a").mpirun, "/opt/ompi/bin/mpiexec");
  EXPECT_EQ(job("/venv/bin/torchrun --nproc-per-node=2 t.py").torchrun, "/venv/bin/torchrun");
  EXPECT_EQ(job("/venv/bin/python3 -m torch.distributed.run --nproc_per_node 2 t.py").torchrun,
            "/venv/bin/python3");
}

TEST(JobWords, APythonByItsNameIsTheOneOnThePath) {
  ::setenv("PATH", ("/usr/bin:" + std::string(std::getenv("PATH"))).c_str(), 1);
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  EXPECT_EQ(job("python3 -m torch.distributed.run --nproc_per_node 2 t.py").torchrun, "/usr/bin/python3");
}

TEST(JobWords, AnUnknownOptionIsAFlagWhenAProgramFollowsIt) {
  EXPECT_THAT(job("mpirun -np 2 --new-flag sh -c x").command, ElementsAre("sh", "-c", "x"));
  EXPECT_THAT(job("mpirun -np 2 --new-option no-such-program-here sh").command, ElementsAre("sh"));
}

TEST(JobWords, TorchrunKeepsItsWordsAndItsDefaultIsOneRank) {
  const Workload w = job("torchrun --standalone --nproc_per_node=3 -m pkg.train --nproc_per_node=9");
  EXPECT_EQ(w.launcher, LauncherKind::kTorchrun);
  EXPECT_EQ(w.ranks, 3);
  EXPECT_THAT(w.launcher_args, ElementsAre("--standalone", "--nproc_per_node=3", "-m"));
  EXPECT_THAT(w.command, ElementsAre("pkg.train", "--nproc_per_node=9"));
  EXPECT_EQ(job("torchrun train.py").ranks, 1);
  EXPECT_EQ(job("torchrun --nproc-per-node gpu train.py", 2).ranks, 2);
}

// Another PyTorch for scenarios does not change the PyTorch that a watched job runs with.
TEST(JobWords, TorchrunByNameIsTheOneOnThePath) {
  char folder[] = "/tmp/rf-words-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string torchrun = std::string(folder) + "/torchrun", path = std::getenv("PATH");
  std::ofstream(torchrun) << "#!/bin/sh\n";
  ::chmod(torchrun.c_str(), 0755);
  ::setenv("PATH", (folder + (":" + path)).c_str(), 1);
  ::setenv("RANKFAULT_PYTHON", "/another/python", 0);
  EXPECT_EQ(job("torchrun train.py").torchrun, torchrun);
  ::setenv("PATH", path.c_str(), 1);
  std::filesystem::remove_all(folder);
}

TEST(JobWords, APlainProgramIsStartedAsOftenAsSaid) {
  const Workload w = job("./program --x 1", 3);
  EXPECT_EQ(w.launcher, LauncherKind::kLocal);
  EXPECT_EQ(w.ranks, 3);
  EXPECT_THAT(w.launcher_args, IsEmpty());
  EXPECT_THAT(w.command, ElementsAre("./program", "--x", "1"));
}

// A script that starts its ranks itself, or is a single process, does not become rank 0 of 1.
TEST(JobWords, APlainProgramWithoutANumberIsStartedOnceAsItIs) {
  const Workload w = job("python train.py");
  EXPECT_EQ(w.launcher, LauncherKind::kCommand);
  EXPECT_EQ(w.ranks, 1);
  EXPECT_EQ(job("python train.py", 1).launcher, LauncherKind::kLocal);
  for (const char* words :
       {"accelerate launch --num_processes 2 t.py", "bash run.sh", "env A=b torchrun t.py"})
    EXPECT_EQ(job(words).launcher, LauncherKind::kCommand) << words;
}

TEST(JobWords, SaysWhatIsWrong) {
  EXPECT_THAT(mistake(""), HasSubstr("the command is missing"));
  EXPECT_THAT(mistake("salloc -n 4 ./program"),
              HasSubstr("salloc starts processes that rankfault cannot reach"));
  EXPECT_THAT(mistake("mpirun ./program"), HasSubstr("the number of ranks is missing: write -np N"));
  EXPECT_THAT(mistake("mpirun -np"), HasSubstr("-np needs 1 more argument"));
  EXPECT_THAT(mistake("mpirun -np 2"), HasSubstr("no program follows"));
  EXPECT_THAT(mistake("mpirun -np two ./program"), HasSubstr("is not a number of ranks"));
  EXPECT_THAT(mistake("mpirun -np 0 ./program"), HasSubstr("is not a number of ranks"));
  EXPECT_THAT(mistake("mpirun -np 2 ./program", 3), HasSubstr("--ranks 3 and -np 2 differ"));
  EXPECT_THAT(mistake("mpirun -np 1 ./a : -np 1 ./b"), HasSubstr("several programs"));
  EXPECT_THAT(mistake("torchrun --nnodes=2 train.py"), HasSubstr("several hosts"));
  EXPECT_THAT(mistake("torchrun --nproc-per-node gpu train.py"), HasSubstr("--ranks N"));
  EXPECT_THAT(mistake("./program", -1), HasSubstr("at least 1"));
}

}  // namespace
}  // namespace rankfault
