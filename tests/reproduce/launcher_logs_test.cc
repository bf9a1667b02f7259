// launcher_logs_test: messages of launchers, MPI libraries, stores and Python give the clue that they say.
#include <gtest/gtest.h>

#include "log_samples.h"

namespace rankfault {
namespace {

TEST(Torchrun, TableNamesTheFirstFailure) {
  const std::vector<Clue> clues = clues_of(
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
      "============================================================\n"
      "train.py FAILED\n"
      "------------------------------------------------------------\n"
      "Failures:\n"
      "[1]:\n"
      "  time      : 2026-11-27_22:06:57\n"
      "  host      : node-2\n"
      "  rank      : 9 (local_rank: 1)\n"
      "  exitcode  : 1 (pid: 4852)\n"
      "  error_file: <N/A>\n"
      "  traceback : To enable traceback see: https://pytorch.org\n"
      "------------------------------------------------------------\n"
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  time      : 2026-11-27_22:06:55\n"
      "  host      : node-1\n"
      "  rank      : 2 (local_rank: 2)\n"
      "  exitcode  : -9 (pid: 4853)  (SIGKILL)\n"
      "  error_file: <N/A>\n"
      "  traceback : Signal 9 (SIGKILL) received by PID 4853\n"
      "============================================================\n");
  ASSERT_EQ(clues.size(), 2u);
  EXPECT_EQ(clues[0].rank, 9);
  EXPECT_EQ(clues[0].code, 1);
  EXPECT_EQ(clues[0].host, "node-2");
  EXPECT_EQ(clues[0].reason, "");
  EXPECT_EQ(clues[1].kind, ClueKind::kEnded);
  EXPECT_EQ(clues[1].rank, 2);
  EXPECT_EQ(clues[1].signal, 9);
  EXPECT_EQ(clues[1].code, -1);
  EXPECT_EQ(clues[1].pid, 4853);
  EXPECT_EQ(clues[1].time, "2026-11-27_22:06:55");
  EXPECT_EQ(clues[1].reason, "first observed failure");
  EXPECT_EQ(clues[1].line, 15u);
}

TEST(Torchrun, SignalsAndFailures) {
  Clue clue =
      clue_of("W1128 22:06:57.613000 4779 torch/x.py:1014] Sending process 4852 closing signal SIGTERM");
  EXPECT_EQ(clue.pid, 4852);
  EXPECT_EQ(clue.signal, 15);
  EXPECT_EQ(clue.reason, "the launcher ended it");
  EXPECT_EQ(clue_of("Closing process 12 via signal SIGKILL").signal, 9);
  clue = clue_of(
      "E1128 22:06:57.9 4779 x.py:988] failed (exitcode: -9) local_rank: 1 (pid: 4853) of binary: python");
  EXPECT_EQ(clue.signal, 9);
  EXPECT_EQ(clue.rank, 1);
  EXPECT_TRUE(clue.rank_is_local);
  EXPECT_EQ(clue.pid, 4853);
}

TEST(DeepSpeed, Launcher) {
  EXPECT_EQ(
      clue_of("[2023-04-14 13:11:27,879] [INFO] [launch.py:428:sigkill_handler] Killing subprocess 13266")
          .pid,
      13266);
  const Clue clue = clue_of(
      "[ERROR] [launch.py:434:sigkill_handler] ['python3', '-u', 'main.py', '--local_rank=3', "
      "'--zero_stage', '2'] exits with return code = -11");
  EXPECT_EQ(clue.signal, 11);
  EXPECT_EQ(clue.rank, 3);
  EXPECT_TRUE(clue.rank_is_local);
  EXPECT_EQ(clue_of("[launch.py:348:main] Process 4021 exits successfully.").code, 0);
}

TEST(Slurm, TasksAndMemory) {
  Clue clue = clue_of("srun: error: node-3: task 17: Killed");
  EXPECT_EQ(clue.about, (Ranks{17}));
  EXPECT_EQ(clue.signal, 9);
  EXPECT_EQ(clue.host, "node-3");
  clue = clue_of("srun: error: node-3: tasks 0-2,7: Exited with exit code 1");
  EXPECT_EQ(clue.about, (Ranks{0, 1, 2, 7}));
  EXPECT_EQ(clue.code, 1);
  EXPECT_EQ(clue_of("slurmstepd: error: Detected 1 oom_kill event in StepId=113.0. Some of the step tasks "
                    "have been OOM "
                    "Killed.")
                .kind,
            ClueKind::kHostResource);
  clue = clue_of(
      "slurmstepd: error: *** STEP 3757.0 ON node-1 CANCELLED AT 2021-08-03T18:56:59 DUE TO TIME LIMIT ***");
  EXPECT_EQ(clue.reason, "time limit");
  EXPECT_EQ(clue.host, "node-1");
  EXPECT_EQ(clue_of("[12345.6] Out of memory: Killed process 4021 (python) total-vm:1kB").pid, 4021);
}

TEST(Mpi, AbortAndKilledRank) {
  Clue clue = clue_of(
      "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 3.\n\nNOTE: x\n");
  EXPECT_EQ(clue.rank, 2);
  EXPECT_EQ(clue.code, 3);
  EXPECT_EQ(clue.reason, "MPI_Abort");
  clue = clue_of(
      "MPI_ABORT was invoked on rank 0 in communicator MPI COMMUNICATOR 3 SPLIT FROM 0\n"
      "  Proc: [[26357,1],5]\n  Errorcode: 1\n");
  EXPECT_EQ(clue.rank, 5);
  EXPECT_EQ(clue.group_rank, 0);
  EXPECT_EQ(clue.code, 1);
  clue = clue_of("mpirun noticed that process rank 2 with PID 0 on node n1 exited on signal 9 (Killed).");
  EXPECT_EQ(clue.rank, 2);
  EXPECT_EQ(clue.signal, 9);
  EXPECT_EQ(clue.host, "n1");
  EXPECT_EQ(clue.pid, -1);
  clue = clue_of(
      "prterun noticed that process rank 1 with PID 77 on node n2 exited on\nsignal 11 (Segmentation "
      "fault).\n");
  EXPECT_EQ(clue.signal, 11);
  EXPECT_EQ(clue.pid, 77);
  clue = clue_of(
      "prterun detected that one or more processes exited with non-zero status,\nthus causing the job to be "
      "terminated. The first process to do so was:\n\n   Process name: [prterun-n1-5@1,3]\n   Exit code:    "
      "4\n");
  EXPECT_EQ(clue.rank, 3);
  EXPECT_EQ(clue.code, 4);
  clue = clue_of("[node-1:29709] *** Process received signal ***\n[node-1:29709] Signal: Bus error (7)\n");
  EXPECT_EQ(clue.signal, 7);
  EXPECT_EQ(clue.pid, 29709);
  EXPECT_EQ(clue.host, "node-1");
  clue = clue_of("application called MPI_Abort(MPI_COMM_WORLD, 1) - process 2");
  EXPECT_EQ(clue.rank, 2);
  EXPECT_EQ(clue.code, 1);
}

TEST(Mpi, HydraTellsSignalsFromCodes) {
  Clue clue = clue_of(
      "=====\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
      "=   RANK 6 PID 2447372 RUNNING AT node0009\n=   KILLED BY SIGNAL: 9 (Killed)\n=====\n");
  EXPECT_EQ(clue.rank, 6);
  EXPECT_EQ(clue.signal, 9);
  EXPECT_EQ(clue.host, "node0009");
  clue = clue_of(
      "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 92248 RUNNING AT h\n"
      "=   EXIT CODE: 9\n=   CLEANING UP REMAINING PROCESSES\n"
      "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n=====\n"
      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n");
  EXPECT_EQ(clue.signal, 9);
  EXPECT_EQ(clue.code, -1);
  EXPECT_EQ(clue.rank, -1);
  EXPECT_EQ(clue_of("=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 3 RUNNING AT h\n=   "
                    "EXIT CODE: 3\n")
                .code,
            3);
}

TEST(Mpi, ErrorsOfCalls) {
  Clue clue = clue_of(
      "Abort(810170127) on node 1 (rank 1 in comm 0): Fatal error in internal_Allreduce: Other MPI error, "
      "error stack:\n"
      "internal_Allreduce(7054): MPI_Allreduce(sbuf=0x7f, rbuf=0x7e, count=4, datatype=MPI_INT, op=MPI_SUM, "
      "comm=MPI_COMM_WORLD) failed\n");
  EXPECT_EQ(clue.op, "all_reduce");
  EXPECT_EQ(clue.rank, 1);
  EXPECT_EQ(clue.numel_in, 4);
  EXPECT_EQ(clue.dtype, "int32");
  EXPECT_EQ(clue.group, "MPI_COMM_WORLD");
  clue = clue_of(
      "[vm:26610] *** An error occurred in MPI_Alltoallv\n[vm:26610] *** reported by process [187236353,2]\n"
      "[vm:26610] *** on communicator MPI_COMM_WORLD\n[vm:26610] *** MPI_ERR_TRUNCATE: message truncated\n");
  EXPECT_EQ(clue.op, "all_to_allv");
  EXPECT_EQ(clue.rank, 2);
  EXPECT_EQ(clue.pid, 26610);
  EXPECT_EQ(clue.reason, "MPI_ERR_TRUNCATE: message truncated");
  EXPECT_TRUE(clues_of("Fatal error in module loader: no file\n").empty());
}

TEST(TorchHost, MemoryAndWorkers) {
  Clue clue = clue_of(
      "RuntimeError: unable to allocate shared memory(shm) for file </torch_7_1_0>: No space left on device "
      "(28)");
  EXPECT_EQ(clue.kind, ClueKind::kHostResource);
  EXPECT_EQ(clue.path, "/torch_7_1_0");
  EXPECT_EQ(clue.code, 28);
  EXPECT_EQ(clue.reason, "No space left on device");
  clue = clue_of(
      "[rank2]: RuntimeError: DataLoader worker (pid 1234) is killed by signal: Bus error. It is possible");
  EXPECT_EQ(clue.kind, ClueKind::kEnded);
  EXPECT_EQ(clue.rank, 2);
  EXPECT_EQ(clue.signal, 7);
  EXPECT_EQ(clue.host_call, "DataLoader worker");
  EXPECT_EQ(clue_of("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.26 GiB.").kind,
            ClueKind::kHostResource);
}

TEST(Rendezvous, WhoJoined) {
  Clue clue = clue_of(
      "[rank2]: torch.distributed.DistStoreError: Timed out initializing process group in store based "
      "barrier on rank 2, for key: store_based_barrier_key:1 (world_size=4, num_workers_joined=3, "
      "timeout=0:30:00 error=x)");
  EXPECT_EQ(clue.kind, ClueKind::kNotJoined);
  EXPECT_EQ(clue.rank, 2);
  EXPECT_EQ(clue.world_size, 4);
  EXPECT_EQ(clue.reason, "3 of 4 joined");
  EXPECT_EQ(clue.limit_ms, 1'800'000);
  clue = clue_of(
      "torch.distributed.DistStoreError: Timed out after 61 seconds waiting for clients. 3/4 clients "
      "joined.");
  EXPECT_EQ(clue.limit_ms, 61'000);
  EXPECT_EQ(clue.reason, "3 of 4 joined");
  clue =
      clue_of("torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cpu//0/2");
  EXPECT_EQ(clue.about, (Ranks{2}));
  EXPECT_EQ(clue.limit_ms, 300'000);
  EXPECT_TRUE(clue_of("wait timeout after 300000ms, keys: /default_pg/0//cuda//0").about.empty());
  EXPECT_EQ(clue_of("[./gloo/rendezvous/file_store.cc:147] Wait timeout for key(s): world/2").about,
            (Ranks{2}));
  clue = clue_of(
      "[7] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by "
      "key "
      "'0', but store->get('0') got error: wait timeout after 600000ms, keys: /default_pg/0//cuda//0");
  EXPECT_EQ(clue.rank, 7);
  EXPECT_EQ(clue.about, (Ranks{0}));
  clue = clue_of(
      "[E1 00:00:00 socket.cpp:957] [c10d] The client socket has timed out after 60000ms while trying to "
      "connect "
      "to (node-1, 29500).");
  EXPECT_EQ(clue.path, "node-1, 29500");
  EXPECT_EQ(clue_of("RuntimeError: Socket Timeout").kind, ClueKind::kNotJoined);
  clue = clue_of(
      "[W1127 21:32:35.98 TCPStore.cpp:138] [c10d] recvValueWithTimeout failed on SocketImpl(fd=3, "
      "addr=[::1]:52048, remote=[::1]:40077): Connection reset by peer");
  EXPECT_EQ(clue.kind, ClueKind::kPeerLost);
  EXPECT_TRUE(
      clues_of(
          "Waiting in store based barrier to initialize process group for rank: 2\nSocket Timeout is set\n"
          "waited 3 seconds waiting for clients\n")
          .empty());
}

TEST(Python, TracebackGivesTheCallAndTheLastLine) {
  const std::vector<Clue> clues = clues_of(
      "[rank1]: Traceback (most recent call last):\n"
      "[rank0]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/src/train.py\", line 36, in step\n"
      "[rank1]:     dist.all_reduce(x)\n"
      "[rank0]:   File \"/src/train.py\", line 12, in load\n"
      "[rank1]:   File \"/lib/torch/distributed/distributed_c10d.py\", line 2810, in all_reduce\n"
      "[rank0]: ValueError: no such file: 3\n"
      "[rank1]: RuntimeError: it failed\n");
  ASSERT_EQ(clues.size(), 2u);
  EXPECT_EQ(clues[0].rank, 1);
  EXPECT_EQ(clues[0].op, "all_reduce");
  EXPECT_EQ(clues[0].line, 1u);
  ASSERT_EQ(clues[0].frames.size(), 2u);
  EXPECT_EQ(clues[0].frames[1], "step (/src/train.py:36)");
  EXPECT_EQ(clues[1].rank, 0);
  EXPECT_EQ(clues[1].op, "");
  EXPECT_EQ(clues[1].text, "ValueError: no such file: 3");
}

TEST(PySpy, OneClueForEachProcess) {
  const std::vector<Clue> clues = clues_of(
      "Process 123: python train.py --x\n"
      "Python v3.11.2 (/usr/bin/python3.11)\n"
      "\n"
      "Thread 123 (idle): \"MainThread\"\n"
      "    all_reduce (torch/distributed/distributed_c10d.py:2810)\n"
      "    wrapper (torch/distributed/c10d_logger.py:83)\n"
      "        Arguments:\n"
      "            x: 3\n"
      "    step (train.py:41)\n"
      "Thread 0x7F3A5C7FE700 (active): \"Thread-1\"\n"
      "    wait (threading.py:324)\n"
      "\n"
      "Process \x1b[1m\x1b[33m124\x1b[0m: python train.py --x\n"
      "Python v3.11.2 (/usr/bin/python3.11)\n"
      "\n"
      "Thread 124 (active): \"MainThread\"\n"
      "    validate (train.py:90)\n"
      "    <module> (train.py:120)\n"
      "done\n");
  ASSERT_EQ(clues.size(), 2u);
  EXPECT_EQ(clues[0].kind, ClueKind::kStack);
  EXPECT_EQ(clues[0].pid, 123);
  EXPECT_EQ(clues[0].op, "all_reduce");
  ASSERT_EQ(clues[0].frames.size(), 3u);
  EXPECT_EQ(clues[0].frames[0], "all_reduce (torch/distributed/distributed_c10d.py:2810)");
  EXPECT_EQ(clues[1].pid, 124);
  EXPECT_EQ(clues[1].op, "");
  EXPECT_EQ(clues[1].frames[0], "validate (train.py:90)");
  EXPECT_TRUE(clues_of("Process 12 started\nThread pool (3): x\nProcess group 3: y\n").empty());
}

TEST(Faulthandler, MainThreadOrTheOneInACall) {
  const std::vector<Clue> clues = clues_of(
      "Fatal Python error: Aborted\n\n"
      "Thread 0x00007f01 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/threading.py\", line 324 in wait\n"
      "\n"
      "Current thread 0x00007f02 (most recent call first):\n"
      "  File \"/lib/torch/distributed/distributed_c10d.py\", line 4111 in barrier\n"
      "  File \"train.py\", line 12 in <module>\n"
      "\n"
      "Extension modules: torch._C (total: 1)\n");
  ASSERT_EQ(clues.size(), 1u);
  EXPECT_EQ(clues[0].op, "barrier");
  EXPECT_EQ(clues[0].frames[1], "<module> (train.py:12)");
}

TEST(Ras, TextReport) {
  const std::vector<Clue> clues = clues_of(
      "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
      "    #  in group  per comm  per node  per comm  in group\n"
      "    0         1         1         4         4         4   RUNNING  INCOMPLETE\n"
      "\nErrors\n======\n\n"
      "DEAD\n"
      "  1 job process is considered dead (unreachable via the RAS network)\n"
      "  Process 4021 on node n2 managing GPU 1\n"
      "\n"
      "#0-0 (36a5cba4e26c1e5a) INCOMPLETE\n"
      "  Missing communicator data from 1 rank\n"
      "  Rank 3 -- GPU 3 managed by process 4021 on node n2\n"
      "\nWarnings\n========\n\n"
      "#0-0 (36a5cba4e26c1e5a) MISMATCH\n"
      "  Communicator ranks have different status\n"
      "  2 ranks have status RUNNING\n"
      "  Rank 1 has status ABORT -- GPU 1 managed by process 9 on node n1\n"
      "  Communicator ranks have different AllReduce operation counts\n"
      "  2 ranks have launched up to operation 10\n"
      "  Rank 2 has launched up to operation 9 -- GPU 2 managed by process 8 on node n1\n"
      "\n");
  ASSERT_EQ(clues.size(), 4u);
  EXPECT_EQ(clues[0].kind, ClueKind::kPeerLost);
  EXPECT_EQ(clues[0].pid, 4021);
  EXPECT_EQ(clues[0].host, "n2");
  EXPECT_EQ(clues[1].about, (Ranks{3}));
  EXPECT_EQ(clues[1].group, "36a5cba4e26c1e5a");
  EXPECT_EQ(clues[2].about, (Ranks{1}));
  EXPECT_EQ(clues[2].reason, "status ABORT");
  EXPECT_EQ(clues[3].kind, ClueKind::kDiffers);
  EXPECT_EQ(clues[3].op, "all_reduce");
  EXPECT_EQ(clues[3].about, (Ranks{2}));
  EXPECT_EQ(clues[3].last_enqueued, 9);
  EXPECT_EQ(clues[3].seq, 10);
}

TEST(Ras, UnlistedRanksAreTheRest) {
  const Clue clue = clue_of(
      "    #  in group  per comm  per node  per comm  in group\n"
      "    0         1         1         4         4         4   RUNNING  MISMATCH\n"
      "\n"
      "#0-0 (3f) MISMATCH\n"
      "  Communicator ranks have different Broadcast operation counts\n"
      "  3 ranks have not launched any operations\n"
      "  Rank 1 has launched up to operation 1 -- GPU 1 managed by process 8 on node n1\n\n");
  EXPECT_EQ(clue.about, (Ranks{0, 2, 3}));
  EXPECT_EQ(clue.last_enqueued, 0);
}

TEST(Ras, JsonReport) {
  const std::vector<Clue> clues = clues_of(R"({
  "nccl_version": "2.28.9",
  "communicators": [
    { "hash": "0x3f", "size": 3,
      "ranks": [
        { "rank": 0, "collective_counts": { "Broadcast": 1, "AllReduce": 10 } },
        { "rank": 1, "collective_counts": { "Broadcast": 1, "AllReduce": 9 } }
      ],
      "missing_ranks": [
        { "rank": 2, "host": "n2", "pid": 7, "status": { "unresponsive": true, "considered_dead": true } }
      ] } ],
  "ras": { "timeouts_count": 0 }
}
)");
  ASSERT_EQ(clues.size(), 2u);
  EXPECT_EQ(clues[0].op, "all_reduce");
  EXPECT_EQ(clues[0].about, (Ranks{1}));
  EXPECT_EQ(clues[0].last_enqueued, 9);
  EXPECT_EQ(clues[1].about, (Ranks{2}));
  EXPECT_EQ(clues[1].reason, "considered dead by RAS");
}

}  // namespace
}  // namespace rankfault
