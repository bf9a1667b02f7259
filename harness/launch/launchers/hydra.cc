// hydra: the mpiexec of MPICH 4 and 5. It passes its own environment to the ranks; -genv passes the agent's.
#include <fmt/format.h>

#include <regex>

#include "harness/launch/gather.h"
#include "harness/launch/launchers/mpi_implementation.h"

namespace rankfault {
namespace {

int version(const std::string& text) {
  std::smatch match;
  const bool found =
      std::regex_search(text, match, std::regex(R"(HYDRA build details:\s+Version:\s+([45])\.)"));
  return found ? std::stoi(match[1]) : 0;
}

void options(const LaunchContext& context, int, const std::map<std::string, std::string>& agent,
             std::vector<std::string>& argv) {
  const auto& own = context.plan.scenario.workload.launcher_args;
  make_folder(context, mpirun_output_dir(context));
  // Within a batch system's allocation it would use that system to start the ranks, out of the guardian's
  // reach.
  if (!mentions(own, "-launcher")) add(argv, {"-launcher", "fork"});
  const std::string output = mpirun_output_dir(context) + "/rank.%r";
  for (const char* stream : {"-outfile-pattern", "-errfile-pattern"})
    if (!mentions(own, stream)) add(argv, {stream, output});
  for (const auto& [name, value] : agent) add(argv, {"-genv", name, value});
}

// When a rank fails, hydra kills the others and reports one of them by its pid, not always the first. A
// signal's number is in the text that follows, which is missing after an exit.
std::vector<ReportedEnd> reported(const LaunchContext& context, const std::string& text, const ExitStatus&) {
  const std::regex said(
      R"(PID (\d{1,9}) RUNNING AT \S+ = EXIT CODE: (\d{1,9}) )"
      R"(= CLEANING UP REMAINING PROCESSES = YOU CAN IGNORE THE BELOW CLEANUP MESSAGES =+)"
      R"(( YOUR APPLICATION TERMINATED WITH THE EXIT STRING: [^()]*\(signal (\d{1,9})\))?)");
  std::vector<ReportedEnd> ends;
  for (std::sregex_iterator it(text.begin(), text.end(), said), none; it != none; ++it) {
    const bool signal = (*it)[3].matched;
    ends.push_back({-1,
                    std::stoi((*it)[1]),
                    context.attempt,
                    {signal ? ExitStatus::Kind::kSignal : ExitStatus::Kind::kCode,
                     std::stoi(signal ? (*it)[4] : (*it)[2])}});
  }
  return ends;
}

std::vector<std::string> output(const LaunchContext& context, int rank) {
  return files_matching(fmt::format("{}/rank.{}", mpirun_output_dir(context), rank));
}

const Registration<MpiImplementation> registration{{
    .name = "MPICH",
    .version = version,
    .options = options,
    .pass_on = [](const std::vector<std::string>&, std::vector<std::string>&) {},  // it passes all on
    .reported = reported,
    .output = output,
}};

}  // namespace
}  // namespace rankfault
