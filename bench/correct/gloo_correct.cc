// gloo_correct.cc: makes correct programs over plain Gloo from seeds. Each program is a sequence of features,
// the same on all ranks.
//
//   RANK=r WORLD_SIZE=n gloo_correct --store=FOLDER --seed=S [--programs=1] [--steps=10] [--only=FEATURE]
//
// The programs have the seeds S, S + 1 ... and run in one job, one after the other. Rank 0 prints the
// features that each program used, and a sum over its checked results. Both depend only on the arguments and
// the number of ranks.
#include <gloo/allgatherv.h>
#include <gloo/transport/unbound_buffer.h>

#include <thread>

#include "bench/correct/gloo_world.h"

namespace {

void collectives(World& w) {
  for (int i = w.below(6); i >= 0; --i) {
    w.pause_sometimes();
    one_collective(w, w.context);
  }
}

void uneven(World& w) {
  std::vector<size_t> shares;
  for (int r = 0; r < w.me.size; ++r) shares.push_back(static_cast<size_t>(r % 3));  // some give nothing
  std::vector<int32_t> in(3, w.me.rank), out(3 * shares.size());
  gloo::AllgathervOptions options(w.context);
  options.setInput(in.data(), shares[static_cast<size_t>(w.me.rank)]);
  options.setOutput(out.data(), shares);
  gloo::allgatherv(options);
  w.check(out[0] == 1, "all_gatherv");
}

// Some ranks make a mesh, use it and leave it.
void parts(World& w) {
  const int first = w.below(w.me.size);
  const std::string name = w.new_name();
  const auto draws = w.common;
  if (w.me.rank >= first) {
    const Context part = w.me.connect(name, w.me.rank - first, w.me.size - first);
    for (int i = 0; i < 3; ++i) one_collective(w, part);
    part->closeConnections();
  }
  w.common = draws;
}

void again(World& w) {
  barrier(w.context);
  w.context->closeConnections();
  w.context = w.me.connect(w.new_name(), w.me.rank, w.me.size);
  one_collective(w, w.context);
}

// Two threads share one context and use different tags.
void threads(World& w) {
  bool are_right[2] = {true, true};
  const auto sums = [&](uint32_t lane) {
    for (int i = 0; i < 10; ++i) are_right[lane] &= sum_of(w.context, 1, 10 + lane) == w.me.size;
  };
  std::thread second(sums, 1);
  sums(0);
  second.join();
  w.check(are_right[0] && are_right[1], "two threads");
}

void pending_messages(World& w) {
  const auto ranks = static_cast<size_t>(w.me.size);
  std::vector<int32_t> got(ranks, -1), mine(ranks, w.me.rank);
  auto in = w.context->createUnboundBuffer(got.data(), got.size() * 4);
  auto out = w.context->createUnboundBuffer(mine.data(), mine.size() * 4);
  for (size_t r = 0; r < ranks; ++r)
    if (static_cast<int>(r) != w.me.rank) in->recv(static_cast<int>(r), 77, 4 * r, 4);
  w.pause_sometimes();
  for (size_t r = 0; r < ranks; ++r)
    if (static_cast<int>(r) != w.me.rank) out->send(static_cast<int>(r), 77, 4 * r, 4);
  for (size_t n = 1; n < ranks; ++n) in->waitRecv();
  for (size_t n = 1; n < ranks; ++n) out->waitSend();
  for (size_t r = 0; r < ranks; ++r)
    w.check(static_cast<int>(r) == w.me.rank || got[r] == static_cast<int>(r), "messages");
}

// One rank waits in a mesh of its own for a message that no rank sends, and handles the timeout.
void given_up(World& w) {
  const Context pair = w.me.connect(w.new_name(), w.me.rank, w.me.size);
  if (w.me.rank == w.below(w.me.size)) {
    int32_t number = 0;
    auto in = pair->createUnboundBuffer(&number, 4);
    in->recv((w.me.rank + 1) % w.me.size, 5);
    bool gave_up = false;
    try {
      gave_up = !in->waitRecv(std::chrono::milliseconds(20));
    } catch (const std::exception&) {
      gave_up = true;
    }
    if (!gave_up) throw std::runtime_error("a message that nobody sent");
  }
  barrier(w.context);
}

void long_pause(World& w) {
  if (w.me.rank == w.below(w.me.size)) usleep(300000);
  barrier(w.context);
}

void helpers(World& w) { w.check(system("true | cat") == 0, "a helper"); }

struct Feature {
  const char* name;
  void (*use)(World&);
  int weight;
};
constexpr Feature kFeatures[] = {{"collectives", collectives, 8},
                                 {"uneven", uneven, 3},
                                 {"parts", parts, 4},
                                 {"again", again, 2},
                                 {"threads", threads, 4},
                                 {"given_up", given_up, 1},
                                 {"long_pause", long_pause, 1},
                                 {"helpers", helpers, 2},
                                 {"pending_messages", pending_messages, 4}};

const Feature& drawn(World& w, const std::string& only) {
  int total = 0;
  for (const Feature& f : kFeatures) total += f.weight;
  int at = w.below(total);
  for (const Feature& f : kFeatures)
    if (only.empty() ? (at -= f.weight) < 0 : only == f.name) return f;
  throw std::runtime_error("no feature " + only);
}

void run_program(World& w, unsigned seed) {
  w.common.seed(seed);
  w.own.seed(seed * 1000003 + static_cast<unsigned>(w.me.rank));
  w.sum = 0;
  std::map<std::string, int> used;
  for (int i = w.me.number("steps", 10); i > 0; --i) {
    const Feature& feature = drawn(w, w.me.flag("only", ""));
    if (getenv("CORRECT_VERBOSE")) fprintf(stderr, "rank %d: %s\n", w.me.rank, feature.name);
    feature.use(w);
    ++used[feature.name];
  }
  const int32_t all = sum_of(w.context, static_cast<int32_t>(w.sum & 0xffffff));
  if (w.me.rank != 0) return;
  printf("seed %u\n", seed);
  for (const auto& [name, count] : used) printf("used %s %d\n", name.c_str(), count);
  printf("sum %d\n", all);
}

}  // namespace

int main(int argc, char** argv) {
  return run_rank(argc, argv, [](Rank& me) {
    World w{me, me.world(), {}, {}};
    const auto first = static_cast<unsigned>(me.number("seed", 1));
    const auto programs = static_cast<unsigned>(me.number("programs", 1));
    for (unsigned i = 0; i < programs; ++i) run_program(w, first + i);
  });
}
