// logs_test: messages of PyTorch, Gloo and NCCL give the clue that they say, and near misses give none.
#include <gtest/gtest.h>

#include "log_samples.h"

namespace rankfault {
namespace {

TEST(Watchdog, TimeoutsOfAllVersions) {
  // 1.13
  Clue clue = clue_of(
      "[E ProcessGroupNCCL.cpp:821] [Rank 3] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=12, OpType=ALLGATHER, TensorShape=[20, 10], Timeout(ms)=10000) ran for 10050 "
      "milliseconds "
      "before timing out.");
  EXPECT_EQ(clue.kind, ClueKind::kCallTimedOut);
  EXPECT_EQ(clue.rank, 3);
  EXPECT_EQ(clue.op, "all_gather");
  EXPECT_EQ(clue.seq, 12);
  EXPECT_EQ(clue.numel_in, 200);
  EXPECT_EQ(clue.limit_ms, 10'000);
  EXPECT_EQ(clue.ran_ms, 10'050);
  EXPECT_EQ(clue.line, 1u);
  EXPECT_EQ(clue.text.substr(0, 16), "Watchdog caught ");
  // 2.6
  clue = clue_of(
      "[rank1]:[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective "
      "operation "
      "timeout: WorkNCCL(SeqNum=808, OpType=_REDUCE_SCATTER_BASE, NumelIn=9801528, NumelOut=2450382, "
      "Timeout(ms)=600000) ran for 600020 milliseconds before timing out.");
  EXPECT_EQ(clue.op, "reduce_scatter_block");
  EXPECT_EQ(clue.numel_in, 9'801'528);
  EXPECT_EQ(clue.numel_out, 2'450'382);
  EXPECT_EQ(clue.rank, 1);
  EXPECT_EQ(clue.time, "626 06:24:44.903881913");
  // A group that is not the world: the prefix gives the rank, the message the place in the group.
  clue = clue_of(
      "[rank6]:[E101 00:00:00.1 ProcessGroupNCCL.cpp:9] [PG ID 2 PG GUID 9(mesh_tp) Rank 1] Watchdog caught "
      "collective "
      "operation timeout: WorkNCCL(SeqNum=4, OpType=COALESCED, NumelIn=1, NumelOut=1, Timeout(ms)=1000) ran "
      "for 1001 "
      "milliseconds before timing out.");
  EXPECT_EQ(clue.rank, 6);
  EXPECT_EQ(clue.group_rank, 1);
  EXPECT_EQ(clue.group, "9(mesh_tp)");
  EXPECT_EQ(clue.op, "");  // a group of several calls
  EXPECT_EQ(
      clue_of("[PG ID 2 PG GUID 9(mesh_tp) Rank 1] Watchdog caught collective operation timeout: "
              "WorkNCCL(SeqNum=4, OpType=SEND, NumelIn=1, NumelOut=1, Timeout(ms)=1) ran for 2 milliseconds")
          .rank,
      -1);
  clue = clue_of(
      "[Rank 2] Work WorkNCCL(SeqNum=5, OpType=BROADCAST, NumelIn=7, NumelOut=7, Timeout(ms)=3000) timed out "
      "in blocking wait.");
  EXPECT_EQ(clue.op, "broadcast");
  EXPECT_EQ(clue.limit_ms, 3000);
}

TEST(Watchdog, RepeatedMessageIsOneClue) {
  const std::string message =
      "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=10, "
      "NumelOut=10, "
      "Timeout(ms)=6000) ran for 6092 milliseconds before timing out.";
  const std::vector<Clue> clues = clues_of(
      "[rank0]:[E1127 22:13:05.05 ProcessGroupNCCL.cpp:757] [Rank 0] " + message +
      "\n[rank0]:[E1127 22:13:16.54 ProcessGroupNCCL.cpp:2197] [PG ID 0 PG GUID 0(default_pg) Rank 0] "
      "Process group "
      "watchdog thread terminated with exception: [Rank 0] " +
      message +
      "\n  what():  [PG ID 0 PG GUID 0(default_pg) Rank 0] Process group watchdog thread terminated with "
      "exception: [Rank 0] " +
      message + "\n");
  ASSERT_EQ(clues.size(), 1u);
  EXPECT_EQ(clues[0].times, 3u);
  EXPECT_EQ(clues[0].line, 1u);
}

TEST(Watchdog, Progress) {
  const char* const kForms[] = {
      "[rank1]:[E1 00:00:00 P.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 1] Exception (either an error or "
      "timeout) "
      "detected by watchdog at work: 808, last enqueued NCCL work: 811, last completed NCCL work: 807.",
      "[PG ID 0 PG GUID 0(default_pg) Rank 1] Timeout at NCCL work: 808, last enqueued NCCL work: 811, last "
      "completed "
      "NCCL work: 807.",
      "[rank1]: [PG ID 0 PG GUID 0(default_pg) Rank 1]  failure detected by watchdog at work sequence id: "
      "808 PG "
      "status: last enqueued work: 811, last completed work: 807",
  };
  for (const char* const form : kForms) {
    const Clue clue = clue_of(form);
    EXPECT_EQ(clue.kind, ClueKind::kProgress) << form;
    EXPECT_EQ(clue.rank, 1) << form;
    EXPECT_EQ(clue.group, "default_pg") << form;
    EXPECT_EQ(clue.seq, 808) << form;
    EXPECT_EQ(clue.last_enqueued, 811) << form;
    EXPECT_EQ(clue.last_completed, 807) << form;
  }
  const Clue dump = clue_of(
      "[rank4]:[E703 15:37:17.178 ProcessGroupNCCL.cpp:1987] [PG ID 0 PG GUID 0(default_pg) Rank 4] Received "
      "a dump "
      "signal due to a collective timeout from  rank 7 and we will try our best to dump the debug info. Last "
      "enqueued "
      "NCCL work: -1, last completed NCCL work: -1.This is most likely caused by incorrect usages of "
      "collectives");
  EXPECT_EQ(dump.last_enqueued, 0);  // it made no call
  EXPECT_EQ(dump.last_completed, 0);
  EXPECT_EQ(dump.seq, -1);
  const std::vector<Clue> periodic = clues_of(
      "[I1 P.cpp:1] [PG 0 Rank 2] NCCL Work update periodically: last enqueued NCCL work: 4, last completed "
      "NCCL work: 4.\n"
      "[I1 P.cpp:1] [PG 0 Rank 2] NCCL Work update periodically: last enqueued NCCL work: 9, last completed "
      "NCCL work: 8.\n");
  ASSERT_EQ(periodic.size(), 1u);
  EXPECT_EQ(periodic[0].last_enqueued, 9);
  EXPECT_EQ(periodic[0].rank, 2);
}

TEST(Watchdog, OtherErrors) {
  Clue clue = clue_of(
      "[rank0]:[E1 00:00:00 P.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL's watchdog "
      "got stuck for 480 seconds without making progress in monitoring enqueued collectives.");
  EXPECT_EQ(clue.kind, ClueKind::kLibraryError);
  EXPECT_EQ(clue.limit_ms, 480'000);
  clue = clue_of(
      "[PG ID 0 PG GUID 0(default_pg) Rank 0] Process group watchdog thread terminated with exception: NCCL "
      "error: remote process exited or there was a network error, NCCL version 2.29.7");
  EXPECT_EQ(clue.kind, ClueKind::kPeerLost);
  clue = clue_of(
      "[Rank 1] NCCL watchdog thread terminated with exception: CUDA error: an illegal memory access");
  EXPECT_EQ(clue.kind, ClueKind::kLibraryError);
  EXPECT_EQ(clue.reason, "CUDA error: an illegal memory access");
}

TEST(Desync, ReportOfSeveralLines) {
  const std::vector<Clue> clues = clues_of(
      "\t - [0] Timeout at collective: ALLREDUCE, #101\n"
      "\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n"
      "\t   - [1] joined but didn't finish collective #100 (count from 1)\n"
      "\t     [2, 3] finished collective #100, but didn't join collective #101 (count from 1)\n"
      "\t - Snapshot of ranks' latest states:\n"
      "\t   #100 finished ranks:\n"
      "\t     [2, 3] finished BROADCAST\n"
      "\t   #101 started ranks:\n"
      "\t     [0, 4] started ALLREDUCE\n");
  ASSERT_EQ(clues.size(), 5u);
  EXPECT_EQ(clues[0].kind, ClueKind::kCallTimedOut);
  EXPECT_EQ(clues[0].rank, 0);
  EXPECT_EQ(clues[0].seq, 101);
  EXPECT_EQ(clues[0].op, "all_reduce");
  EXPECT_EQ(clues[1].about, (Ranks{1}));
  EXPECT_EQ(clues[1].seq, 100);
  EXPECT_EQ(clues[2].about, (Ranks{2, 3}));
  EXPECT_EQ(clues[2].seq, 101);
  EXPECT_EQ(clues[2].reason, "did not join");
  EXPECT_EQ(clues[3].op, "broadcast");
  EXPECT_EQ(clues[3].seq, 100);
  EXPECT_EQ(clues[4].about, (Ranks{0, 4}));
  EXPECT_EQ(clues[4].reason, "started");
  const Clue never = clue_of(
      "\t - To our best knowledge, ranks [2] are the lagging ranks that caused this timeout. They "
      "never joined any collectives");
  EXPECT_EQ(never.about, (Ranks{2}));
}

TEST(Mismatch, NamesBothRanks) {
  const std::vector<Clue> clues = clues_of(
      "[rank1]: RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: "
      "CollectiveFingerPrint(SequenceNumber=101, OpType=ALLGATHER, TensorShape=[3, 2], TensorDtypes=Long, "
      "TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda)), but Rank 7 is running "
      "collective: "
      "CollectiveFingerPrint(SequenceNumber=0OpType=REDUCE).Collectives differ in the following aspects: Op "
      "type: "
      "ALLGATHERvs REDUCE");
  ASSERT_EQ(clues.size(), 2u);
  EXPECT_EQ(clues[0].about, (Ranks{1}));
  EXPECT_EQ(clues[0].op, "all_gather");
  EXPECT_EQ(clues[0].numel_in, 6);
  EXPECT_EQ(clues[0].dtype, "int64");
  EXPECT_EQ(clues[1].about, (Ranks{7}));
  EXPECT_EQ(clues[1].op, "reduce");
  EXPECT_EQ(clues[1].seq, 0);
}

TEST(Mismatch, RunningCallsGiveTheLast) {
  const std::vector<Clue> clues = clues_of(
      "[I P.cpp:562] [Rank 0] Running collective: CollectiveFingerPrint(SequenceNumber=3, OpType=BROADCAST, "
      "TensorShape=[2], TensorDtypes=Float)\n"
      "[I P.cpp:562] [Rank 0] Running collective: CollectiveFingerPrint(SequenceNumber=4, OpType=ALLREDUCE, "
      "TensorShape=[], TensorDtypes=Float)\n");
  ASSERT_EQ(clues.size(), 1u);
  EXPECT_EQ(clues[0].kind, ClueKind::kProgress);
  EXPECT_EQ(clues[0].seq, 4);
  EXPECT_EQ(clues[0].rank, 0);
  EXPECT_EQ(clues[0].dtype, "float32");
}

TEST(Mismatch, MonitoredBarrier) {
  Clue clue = clue_of("[E1 P.cpp:1] [Rank 0]: Rank 2 failed to pass monitoredBarrier in 1000 ms");
  EXPECT_EQ(clue.kind, ClueKind::kDiffers);
  EXPECT_EQ(clue.about, (Ranks{2}));
  EXPECT_EQ(clue.limit_ms, 1000);
  EXPECT_EQ(clue.op, "barrier");
  EXPECT_EQ(clue_of("[Rank 0]: Ranks 1, 2, 5 failed to pass monitoredBarrier in 60000 ms").about,
            (Ranks{1, 2, 5}));
  clue = clue_of("Rank 0 timed out in monitoredBarrier after 1000 ms.");
  EXPECT_EQ(clue.kind, ClueKind::kCallTimedOut);
  EXPECT_EQ(clue.rank, 0);
}

TEST(Gloo, TimeoutsAndLosses) {
  Clue clue = clue_of(
      "[rank1]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed "
      "out waiting 1800000ms for recv operation to complete");
  EXPECT_EQ(clue.kind, ClueKind::kCallTimedOut);
  EXPECT_EQ(clue.limit_ms, 1'800'000);
  EXPECT_EQ(clue.op, "");  // Gloo does not say which call waits
  EXPECT_EQ(clue.rank, 1);
  EXPECT_EQ(clue_of("Timed out waiting 2000ms for send operation to complete").reason, "waits for a send");
  const std::pair<const char*, const char*> kLosses[] = {
      {"[../gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:30944. This is typically",
       "closed by peer"},
      {"[x/gloo/transport/tcp/pair.cc:1] Read error [10.0.0.1]:1234: Connection reset by peer. GLHF",
       "Connection reset by peer"},
      {"[x/gloo/transport/tcp/pair.cc:1] writev [fe80::1]:1234: Broken pipe", "Broken pipe"},
      {"Application timeout caused pair closure", "a wait of this rank timed out before"},
      {"Connection closed by peer [127.0.0.1]:1234", "closed by peer"},
  };
  for (const auto& [text, reason] : kLosses) {
    clue = clue_of(text);
    EXPECT_EQ(clue.kind, ClueKind::kPeerLost) << text;
    EXPECT_EQ(clue.reason, reason) << text;
    EXPECT_TRUE(clue.about.empty()) << text;
  }
  clue = clue_of("Gloo connectFullMesh failed with [x/gloo/transport/tcp/pair.cc:144] no error");
  EXPECT_EQ(clue.kind, ClueKind::kNotJoined);
}

TEST(Nccl, SharedMemory) {
  const Clue clue = clue_of(
      "[2026-11-27 21:49:58] node-1:9173:9176 [1] misc/shmutils.cc:132 NCCL WARN Error while attaching to "
      "shared memory "
      "segment /dev/shm/nccl-8x4jb6 (size 9637888), error: No such file or directory (2)");
  EXPECT_EQ(clue.kind, ClueKind::kHostResource);
  EXPECT_EQ(clue.path, "/dev/shm/nccl-8x4jb6");
  EXPECT_EQ(clue.host_call, "attaching to shared memory segment");
  EXPECT_EQ(clue.reason, "No such file or directory");
  EXPECT_EQ(clue.code, 2);
  EXPECT_EQ(clue.host, "node-1");
  EXPECT_EQ(clue.pid, 9173);
  const Clue call =
      clue_of("h:1:2 [0] misc/shmutils.cc:94 NCCL WARN Call to open failed: Too many open files");
  EXPECT_EQ(call.kind, ClueKind::kHostResource);
  EXPECT_EQ(call.host_call, "open");
}

TEST(Nccl, LastErrorOfPyTorchsException) {
  const std::vector<Clue> clues = clues_of(
      "[rank4]: torch.distributed.DistBackendError: NCCL error in: ../x.cpp:3690, unhandled system error\n"
      "[rank4]: Last error:\n"
      "[rank1]: other text\n"
      "[rank4]: Error while attaching to shared memory segment /dev/shm/nccl-a1 (size 8), error: No such "
      "file or "
      "directory (2)\n"
      "the last error: none\n");
  ASSERT_EQ(clues.size(), 1u);
  EXPECT_EQ(clues[0].kind, ClueKind::kHostResource);
  EXPECT_EQ(clues[0].rank, 4);
  EXPECT_EQ(clues[0].path, "/dev/shm/nccl-a1");
}

TEST(Nccl, WarningsGetTheRankOfTheirProcess) {
  const std::vector<Clue> clues = clues_of(
      "h:10:11 [3] NCCL INFO ncclCommInitRank comm 0x55d8 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 1 commId "
      "0x1f - Init "
      "COMPLETE\n"
      "h:10:12 [3] NCCL INFO ncclCommSplit comm 0x66 rank 0 nranks 2 cudaDev 3 busId 1 commId 0x2f - Init "
      "COMPLETE\n"
      "h:10:99 [3] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer h2<57557>\n"
      "h:20:99 [4] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 10.0.0.2<45763> failed : "
      "Connection "
      "refused\n"
      "h:10:99 [3] enqueue.cc:1 (launch) NCCL WARN Cuda failure 700 'an illegal memory access'\n");
  ASSERT_EQ(clues.size(), 3u);
  EXPECT_EQ(clues[0].kind, ClueKind::kPeerLost);
  EXPECT_EQ(clues[0].rank, 3);
  EXPECT_EQ(clues[0].world_size, 8);
  EXPECT_EQ(clues[1].rank, -1);
  EXPECT_EQ(clues[1].reason, "Connection refused");
  EXPECT_EQ(clues[2].kind, ClueKind::kLibraryError);
}

TEST(NearMisses, GiveNone) {
  EXPECT_TRUE(
      clues_of("NCCL version 2.29.7+cuda12.9\n"
               "[I1 P.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL initialization options: "
               "size: 4, global rank: 0, TIMEOUT(ms): 600000\n"
               "vm:1:2 [0] NCCL INFO Channel 00/1 : 0[0] -> 7[7] via P2P/CUMEM\n"
               "the watchdog of NCCL has a timeout of 600000 milliseconds\n"
               "Connection closed by 10.0.0.1 port 22\n"
               "Timed out waiting for the data loader\n"
               "Timed out waiting 20s for recv operation to complete\n"
               "Read error on disk\n"
               "last enqueued work: none\n"
               "Rank x failed to pass monitoredBarrier\n"
               "[] joined but didn't finish collective #\n"
               "Watchdog caught collective operation timeout: later\n")
          .empty());
}

TEST(Interleaved, MessagesInOneLineKeepTheirRanks) {
  const std::vector<Clue> clues = clues_of(
      "[rank0]:[E1 00:00:01 P.cpp:1] [Rank 0] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=7, "
      "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=6000) ran for 6001 milliseconds before timing "
      "out.[rank2]:[E1 00:00:01 P.cpp:1] [Rank 2] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=8, "
      "OpType=BROADCAST, NumelIn=5, NumelOut=5, Timeout(ms)=6000) ran for 6002 milliseconds before timing "
      "out.\n");
  ASSERT_EQ(clues.size(), 2u);
  EXPECT_EQ(clues[0].rank, 0);
  EXPECT_EQ(clues[0].op, "all_reduce");
  EXPECT_EQ(clues[0].ran_ms, 6001);
  EXPECT_EQ(clues[1].rank, 2);
  EXPECT_EQ(clues[1].op, "broadcast");
  EXPECT_EQ(clues[1].seq, 8);
}

TEST(Colours, AreNoPartOfAMessage) {
  const Clue clue = clue_of(
      "\x1b[33m[rank1]:\x1b[0m Rank 0: Timed out \x1b[1mwaiting\x1b[0m 50ms for recv operation to "
      "complete\r\n");
  EXPECT_EQ(clue.limit_ms, 50);
  EXPECT_EQ(clue.rank, 1);
}

}  // namespace
}  // namespace rankfault
