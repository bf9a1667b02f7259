// vector_calls_test: collectives in which each rank has its own counts: which ranks a nonblocking one needs,
// and whether the types agree.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

// Every other member owes a share, unless `mask` says otherwise.
CallSpec vector_call(uint16_t op, uint16_t more_flags, uint64_t mask) {
  CallSpec spec = all_reduce(4, 0x6000);
  spec.op = op;
  spec.reduce_op = RF_REDUCE_OTHER;
  spec.dtype = RF_DTYPE_INT32;
  spec.flags = static_cast<uint16_t>(RF_CALL_RANK_LOCAL | RF_CALL_MASK_VALID | more_flags);
  spec.needs_mask = mask;
  return spec;
}

constexpr uint16_t kVectorOps[] = {RF_OP_ALL_GATHERV, RF_OP_ALL_TO_ALLV, RF_OP_ALL_TO_ALLW};

// Rank 1 makes the call on another communicator than ranks 0 and 2, and waits there.
Findings on_the_wrong_communicator(uint16_t op, bool nonblocking) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.comm("third", {0, 1, 2});
  for (const int r : {0, 1, 2}) {
    const uint64_t mask = 0b111ull & ~(1ull << r);
    const CallSpec spec =
        on(vector_call(op, nonblocking ? RF_CALL_NONBLOCKING : 0, mask), r == 1 ? "third" : "world");
    if (nonblocking)
      job.enqueues(r, spec).waits(r, {job.last_origin(r)});
    else
      job.blocked(r, spec);
  }
  return diagnose(job.build());
}

TEST(VectorCalls, ANonblockingOneOnTheWrongCommunicatorIsFoundAsABlockingOneIs) {
  for (const uint16_t op : kVectorOps) {
    const Findings blocking = on_the_wrong_communicator(op, false);
    const Findings nonblocking = on_the_wrong_communicator(op, true);
    ASSERT_EQ(all_kinds(blocking), "order_deadlock") << op_text(op);
    ASSERT_EQ(all_kinds(nonblocking), "order_deadlock") << op_text(op);
    EXPECT_EQ(nonblocking.all[0].confidence, blocking.all[0].confidence);
    EXPECT_EQ(nonblocking.all[0].claim, blocking.all[0].claim);
  }
}

// Rank 0 needs the share of rank 1 or of rank 2, as `mask` says, and rank 2 dies.
TEST(VectorCalls, ANonblockingOneNeedsNobodyWhoOwesItNothing) {
  for (const uint64_t mask : {uint64_t{0b010}, uint64_t{0b100}}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce());
    job.enqueues(0, vector_call(RF_OP_ALL_TO_ALLV, RF_CALL_NONBLOCKING, mask)).waits(0, {job.last_origin(0)});
    job.enqueues(1, vector_call(RF_OP_ALL_TO_ALLV, RF_CALL_NONBLOCKING, 0)).killed(2);
    const Findings found = diagnose(job.build());
    const Finding* dead = finding_of(found, "dead_rank");
    ASSERT_NE(dead, nullptr);
    EXPECT_EQ(dead->confidence == Confidence::kProven, mask == 0b100u) << dead->text;
  }
}

struct Share {
  uint8_t dtype;
  uint64_t count;
};

const Finding* mismatch_of(const Findings& found) { return finding_of(found, "call_mismatch"); }

int taken(uint8_t dtype, int more = RF_SENDS_TO_EACH | RF_TAKES_FROM_EACH) {
  return dtype | RF_TAKEN_KNOWN | more;
}

// All ranks, or only the root, take what rank 0 sends. In a scatter each rank takes its own share.
int taken_by(uint16_t op, int r, uint8_t dtype_of_0, uint8_t own) {
  if (op == RF_OP_ALL_GATHERV) return taken(dtype_of_0, 0);
  if (op == RF_OP_SCATTERV) return r == 0 ? 0 : taken(own, 0);
  return r == 0 ? taken(dtype_of_0, 0) : 0;
}

Findings gathered(uint16_t op, Share all, Share of_rank_1, uint16_t flags) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.everyone(barrier());
  for (const int r : {0, 1, 2}) {
    CallSpec spec = vector_call(op, flags, 0);
    if (op != RF_OP_ALL_GATHERV) spec.peer = 0;
    spec.dtype = r == 1 ? of_rank_1.dtype : all.dtype;
    spec.count = r == 1 ? of_rank_1.count : all.count;
    spec.tag = taken_by(op, r, all.dtype, spec.dtype);
    job.does(r, spec);
  }
  for (const int r : {0, 1, 2}) job.finalized(r).exits(r);
  return diagnose(job.build());
}

TEST(VectorCalls, SharesOfAnotherTypeAreAMismatch) {
  for (const uint16_t op : {RF_OP_ALL_GATHERV, RF_OP_GATHERV, RF_OP_SCATTERV})
    for (const uint16_t flags : {0, static_cast<int>(RF_CALL_NONBLOCKING)}) {
      const Findings found = gathered(op, {RF_DTYPE_INT32, 4}, {RF_DTYPE_FLOAT32, 4}, flags);
      ASSERT_EQ(all_kinds(found), "call_mismatch") << op_text(op);
      EXPECT_EQ(found.all[0].field, "dtype");
      EXPECT_EQ(found.all[0].ranks, std::vector<int>{1});
      EXPECT_EQ(found.all[0].confidence, Confidence::kProven);
    }
}

// A rank that takes another type than it sends also differs from the others. Its own arguments show that it
// is the one; the comparison of two ranks could not.
TEST(VectorCalls, ARankThatTakesAnotherTypeThanItSendsIsNamedOnce) {
  for (const bool unequal : {true, false}) {
    TimelineBuilder job(2, RF_LIB_MPI);
    job.everyone(barrier());
    for (const int r : {1, 0}) {
      CallSpec spec = vector_call(RF_OP_ALL_TO_ALL, 0, 4);
      spec.dtype = RF_DTYPE_INT32;
      spec.flags = r == 1 && unequal ? RF_CALL_UNEQUAL : 0;
      spec.tag = taken(r == 1 ? RF_DTYPE_FLOAT32 : RF_DTYPE_INT32);
      job.does(r, spec);
    }
    const Findings found = diagnose(job.build());
    ASSERT_EQ(all_kinds(found), "call_mismatch");
    EXPECT_EQ(found.all[0].field, unequal ? "receive" : "dtype");
    EXPECT_EQ(found.all[0].ranks, unequal ? std::vector<int>{1} : std::vector<int>{}) << found.all[0].text;
    EXPECT_EQ(found.all[0].text.find("received as float32 and as int32") != std::string::npos, !unequal);
  }
}

// Another width moves other bytes by design; an empty share has no type; bytes carry any type.
TEST(VectorCalls, SharesThatMoveTheSameAreNone) {
  for (const Share other : {Share{RF_DTYPE_INT64, 2}, Share{RF_DTYPE_FLOAT32, 0}, Share{RF_DTYPE_BYTE, 16},
                            Share{RF_DTYPE_UINT32, 9}, Share{RF_DTYPE_OTHER, 16}})
    EXPECT_TRUE(gathered(RF_OP_ALL_GATHERV, {RF_DTYPE_INT32, 4}, other, 0).nothing_wrong())
        << dtype_text(other.dtype);
  CallSpec unknown = vector_call(RF_OP_ALL_GATHERV, RF_CALL_COUNT_UNKNOWN, 0);
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, unknown);
  unknown.dtype = RF_DTYPE_FLOAT32;
  job.does(1, unknown);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

// Two senders are not compared with each other: the root may take both types.
TEST(VectorCalls, SendersOfTwoTypesToATakerOfBytesAreNone) {
  for (const uint16_t op : {RF_OP_ALL_GATHERV, RF_OP_GATHERV, RF_OP_ALL_GATHER, RF_OP_GATHER})
    for (const bool recorded : {false, true}) {
      TimelineBuilder job(3, RF_LIB_MPI);
      for (const int r : {0, 1, 2}) {
        CallSpec spec = vector_call(op, 0, 0);
        const bool rooted = op == RF_OP_GATHERV || op == RF_OP_GATHER;
        if (op == RF_OP_ALL_GATHER || op == RF_OP_GATHER) spec.flags = 0;
        if (rooted) spec.peer = 0;
        if (recorded && (r == 0 || !rooted)) spec.tag = taken(RF_DTYPE_BYTE, 0);
        spec.dtype = r == 1 ? RF_DTYPE_FLOAT32 : RF_DTYPE_INT32;
        job.does(r, spec);
      }
      const Findings found = diagnose(job.build());
      EXPECT_TRUE(found.nothing_wrong()) << op_text(op) << " " << to_json(found).dump(1);
    }
}

// Bytes fit either of two types that do not fit each other. The order of the ranks must not matter, and of
// three such calls none stands alone.
TEST(VectorCalls, ACallThatFitsBothSidesStandsOnNone) {
  for (const int turn : {0, 1, 2}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    const std::vector<rf_dtype> dtypes{RF_DTYPE_BYTE, RF_DTYPE_INT32, RF_DTYPE_FLOAT32};
    for (const int r : {0, 1, 2}) {
      CallSpec spec = broadcast(0, dtypes[static_cast<size_t>((r + turn) % 3)] == RF_DTYPE_BYTE ? 16 : 4);
      spec.dtype = dtypes[static_cast<size_t>((r + turn) % 3)];
      job.does(r, spec);
    }
    const Findings found = diagnose(job.build());
    ASSERT_NE(mismatch_of(found), nullptr) << turn;
    EXPECT_EQ(mismatch_of(found)->field, "dtype");
    EXPECT_TRUE(mismatch_of(found)->ranks.empty()) << turn;
    EXPECT_EQ(mismatch_of(found)->sides.size(), 2u);
  }
}

CallSpec exchange(uint8_t sent, int tag) {
  CallSpec spec = vector_call(RF_OP_ALL_TO_ALLV, 0, 0);
  spec.dtype = sent;
  spec.tag = tag;
  return spec;
}

TEST(VectorCalls, AnAllToAllThatIsTakenAsAnotherTypeIsAMismatch) {
  for (const int how : {RF_SENDS_TO_EACH | RF_TAKES_FROM_EACH, static_cast<int>(RF_TAKES_FROM_EACH)}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    for (const int r : {0, 2}) job.does(r, exchange(RF_DTYPE_INT32, taken(RF_DTYPE_INT32)));
    job.does(1, exchange(RF_DTYPE_FLOAT32, taken(RF_DTYPE_FLOAT32, how)));
    for (const int r : {0, 1, 2}) job.finalized(r).exits(r);
    const Findings found = diagnose(job.build());
    ASSERT_NE(mismatch_of(found), nullptr);
    EXPECT_EQ(mismatch_of(found)->field, "dtype");
    EXPECT_EQ(mismatch_of(found)->ranks, std::vector<int>{1});
  }
}

// Rank 0 exchanges nothing with the two that differ.
TEST(VectorCalls, AnAllToAllIsComparedBetweenEachTwo) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.does(0, exchange(RF_DTYPE_BYTE, taken(RF_DTYPE_BYTE, 0)));
  job.does(1, exchange(RF_DTYPE_INT32, taken(RF_DTYPE_INT32)));
  job.does(2, exchange(RF_DTYPE_FLOAT32, taken(RF_DTYPE_FLOAT32)));
  const Findings found = diagnose(job.build());
  ASSERT_NE(mismatch_of(found), nullptr) << all_kinds(found);
  EXPECT_EQ(mismatch_of(found)->field, "dtype");
  // Two calls that look the same, but each sends what the other does not take.
  TimelineBuilder alike(2, RF_LIB_MPI);
  for (const int r : {0, 1}) alike.does(r, exchange(RF_DTYPE_INT32, taken(RF_DTYPE_FLOAT32)));
  EXPECT_NE(mismatch_of(diagnose(alike.build())), nullptr);
}

// Rank 0 sends what rank 1 takes, and takes what rank 1 sends: the types they send may differ.
TEST(VectorCalls, InAnAllToAllEachRankMaySendAnotherTypeThanItTakes) {
  TimelineBuilder crossed(2, RF_LIB_MPI);
  crossed.does(0, exchange(RF_DTYPE_INT32, taken(RF_DTYPE_FLOAT32)));
  crossed.does(1, exchange(RF_DTYPE_FLOAT32, taken(RF_DTYPE_INT32)));
  EXPECT_TRUE(diagnose(crossed.build()).nothing_wrong());
  // Two pairs that exchange nothing with each other.
  TimelineBuilder apart(4, RF_LIB_MPI);
  for (const int r : {0, 1}) apart.does(r, exchange(RF_DTYPE_INT32, taken(RF_DTYPE_INT32, 0)));
  for (const int r : {2, 3}) apart.does(r, exchange(RF_DTYPE_FLOAT32, taken(RF_DTYPE_FLOAT32, 0)));
  EXPECT_TRUE(diagnose(apart.build()).nothing_wrong());
}

// An older agent did not record the type that is taken.
TEST(VectorCalls, WithoutTheTypeThatIsTakenAnAllToAllIsNotCompared) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, exchange(RF_DTYPE_INT32, 0)).does(1, exchange(RF_DTYPE_FLOAT32, 0));
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

}  // namespace
}  // namespace rankfault::testing
