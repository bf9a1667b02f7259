// subject_main: picks the behaviour.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/agent/subject.h"

std::map<std::string, Behaviour>& behaviours() {
  static std::map<std::string, Behaviour> all;
  return all;
}

const rf_core_v1& core() {
  static const auto* table =
      static_cast<const rf_core_table_v1*>(dlsym(RTLD_DEFAULT, "rankfault_core_table_v1"));
  if (!table) std::_Exit(90);
  return *table->core;
}

int recorded_call(uint16_t op, uint32_t comm, uint64_t count) {
  rf_call call{};
  call.op = op;
  call.library = RF_LIB_NCCL;
  call.comm = comm;
  call.peer = call.recv_peer = RF_PEER_NONE;
  call.count = count;
  call.where = __builtin_return_address(0);
  if (core().begin(&call) == RF_DO_FAIL) return core().end(&call, call.fail_code);
  return core().end(&call, 0);
}

int main(int argc, char** argv) {
  if (argc < 2 || !behaviours().count(argv[1])) {
    std::fprintf(stderr, "no such behaviour\n");
    return 91;
  }
  return behaviours()[argv[1]](argv + 2);
}
