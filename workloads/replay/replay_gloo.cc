// replay_gloo.cc: performs the collectives and messages that a program text lists, over Gloo.
//
//   RANK=r WORLD_SIZE=n replay_gloo --store=DIR [FILE] [--limit=30m] [--steps-check] [--diverge]
//
// The text is in the environment variable REPLAY, or in FILE; program.h describes it. DIR is a folder that
// all ranks see, new for each job. --limit: the time limit of the contexts. --steps-check: before each step,
// that is each iteration of an outermost repeat, and before the end, the ranks compare how many collectives
// of each group they made, and which one is next. A failed call ends the rank with status 3, a bad text with
// status 64. Gloo has no pending collectives: a call that ends in _async blocks. It has no scans. As in
// PyTorch, a reduce_scatter is an all-reduce of the whole input. The program has no code for rankfault.
#include <unistd.h>

#include <csignal>
#include <list>

#include "gloo_calls.h"
#include "run.h"

namespace {

// A message that is under way.
struct Message {
  const replay_statement* statement;
  replay_buffer* memory;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
};

struct replay_run run;
std::vector<std::shared_ptr<Mesh>> meshes;  // of each group; null if no other rank is in it, or not this one
std::shared_ptr<Mesh> for_checks;
std::list<Message> pending;

std::chrono::milliseconds limit() {
  return std::chrono::milliseconds(std::max<int64_t>(1, static_cast<int64_t>(replay_limit(&run) * 1e3)));
}

void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

template <typename Call>
void guarded(const replay_statement* s, const char* what, Call call) {
  char title[2 * kNameSize];
  try {
    call();
  } catch (const std::exception& error) {
    replay_leave(&run, s ? replay_title(&run, s, title, sizeof title) : what, error.what());
    _exit(3);
  }
}

void start(const replay_statement& s, Mesh& mesh) {
  const auto bytes = static_cast<size_t>(s.count * replay_bytes_of(s.dtype));
  replay_buffer* memory = replay_take(&run, s.count * replay_bytes_of(s.dtype));
  pending.push_back({&s, memory, mesh.createUnboundBuffer(memory->memory, bytes)});
  const int peer = replay_index(&run.program.groups[s.group], s.peer);
  // The tag is the slot. The slots of collectives are above all tags.
  if (s.op == kSend)
    pending.back().buffer->send(peer, static_cast<uint64_t>(s.tag), 0, bytes);
  else
    pending.back().buffer->recv(peer, static_cast<uint64_t>(s.tag), 0, bytes);
}

void end(std::list<Message>::iterator message) {
  if (message->statement->op == kSend)
    message->buffer->waitSend(limit());
  else
    message->buffer->waitRecv(limit());
  message->memory->is_busy = 0;
  pending.erase(message);
}

void wait_for_all() {
  while (!pending.empty()) guarded(pending.front().statement, "", [] { end(pending.begin()); });
}

void perform(const replay_statement* s) {
  if (s->op == kWait) return wait_for_all();
  const std::shared_ptr<Mesh>& mesh = meshes[static_cast<size_t>(s->group)];
  if (!mesh) return;  // this rank is alone
  guarded(s, "", [&] {
    if (s->op < kCollectives) return make_collective(run, *s, mesh);
    start(*s, *mesh);
    if (!s->is_pending) end(std::prev(pending.end()));
  });
}

void check(const int64_t* mine) {
  const auto numbers = static_cast<size_t>(2 * run.program.groups_made);
  std::vector<int64_t> all(mine, mine + numbers);
  try {
    if (for_checks) {
      all.resize(numbers * static_cast<size_t>(run.program.size));
      gloo::AllgatherOptions options(for_checks);
      options.setInput(const_cast<int64_t*>(mine), numbers);  // read only
      options.setOutput(all.data(), all.size());
      gloo::allgather(options);
    }
  } catch (const std::exception& error) {
    fprintf(stderr, "defence step-check: a rank does not answer rank %d within %g s: %.*s\n", run.rank,
            replay_limit(&run), static_cast<int>(strcspn(error.what(), "\n")), error.what());
    _exit(3);
  }
  if (!replay_compare(&run, all.data())) _exit(3);
}

std::shared_ptr<Mesh> meet(const char* name, int index, int size) {
  if (index < 0 || size == 1) return nullptr;
  auto mesh = std::make_shared<Mesh>(index, size, limit());
  guarded(nullptr, (std::string("init on ") + name).c_str(), [&] { mesh->meet(run.store, name); });
  return mesh;
}

void refuse_scans() {
  for (int i = 0; i < run.program.made; ++i)
    if (run.program.statements[i].op == kScan || run.program.statements[i].op == kExscan)
      replay_stop(run.program.statements[i].line, "Gloo has no scan");
}

}  // namespace

int main(int argc, char** argv) {
  const char *rank = getenv("RANK"), *ranks = getenv("WORLD_SIZE");
  std::signal(SIGPIPE, SIG_IGN);  // a write to a peer that has ended is an error of the call
  run = replay_begin(argc, argv);
  run.allocate = allocate;
  run.perform = perform;
  run.check = check;
  refuse_scans();
  if (!rank || !ranks || !*run.store) replay_stop(0, "RANK, WORLD_SIZE and --store=DIR are needed");
  if (!replay_meet(&run, atoi(rank), atoi(ranks))) return kBadText;
  for (int g = 0; g < run.program.groups_made; ++g) {
    const replay_group* group = &run.program.groups[g];
    meshes.push_back(meet(group->name, replay_index(group, run.rank), group->size));
  }
  if (run.wants_check) for_checks = meet("step check", run.rank, run.program.size);
  replay_perform(&run);
  wait_for_all();
  replay_check(&run, run.program.made);
  return 0;
}
