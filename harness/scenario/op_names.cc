#include "harness/scenario/op_names.h"

namespace rankfault {

std::optional<rf_op> op_from_word(const std::string& word) {
  const auto op = op_from_text(word);
  return op && *op != RF_OP_NONE ? std::optional(static_cast<rf_op>(*op)) : std::nullopt;
}

const std::vector<std::string>& all_op_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    for (uint16_t op = 1; op < RF_OP_COUNT; ++op) all.emplace_back(op_text(op));
    return all;
  }();
  return words;
}

namespace {
constexpr std::pair<const char*, rf_library> kLibraryWords[] = {
    {"c10d", RF_LIB_C10D}, {"gloo", RF_LIB_GLOO}, {"mpi", RF_LIB_MPI}, {"nccl", RF_LIB_NCCL}};
}  // namespace

const std::vector<std::string>& library_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    for (const auto& [word, library] : kLibraryWords) all.emplace_back(word);
    return all;
  }();
  return words;
}

std::optional<rf_library> library_from_word(const std::string& word) {
  for (const auto& [text, library] : kLibraryWords)
    if (word == text) return library;
  return std::nullopt;
}

bool is_collective_op(rf_op op) { return rf_is_collective(op); }
bool is_p2p_op(rf_op op) { return op >= RF_OP_SEND && op <= RF_OP_SENDRECV; }
bool is_mark_op(rf_op op) { return op >= RF_OP_MARK && op <= RF_OP_BATCH; }
bool is_file_op(rf_op op) {
  return (op >= RF_OP_FILE_OPEN && op <= RF_OP_SHM_UNLINK) || op == RF_OP_FILE_ALLOCATE;
}

bool is_device_op(rf_op op) { return op >= RF_OP_DEVICE_ALLOC && op <= RF_OP_DEVICE_QUERY; }

std::string why_not_skipped(rf_op op) {
  if (is_collective_op(op) || is_p2p_op(op) || op == RF_OP_BATCH) return "";
  switch (op) {
    case RF_OP_INIT:
      return "the library would not be initialised, and no later call could be made";
    case RF_OP_COMM_CREATE:
    case RF_OP_COMM_SHRINK:
      return "it returns a communicator, and a skipped call has none to return";
    case RF_OP_WAIT:
    case RF_OP_WAIT_ANY:
    case RF_OP_TEST:
    case RF_OP_PROBE:
    case RF_OP_STREAM_WAIT:
    case RF_OP_ASYNC_ERROR:
      return "it returns the state of an earlier call, and a skipped call has none to return";
    case RF_OP_PERSISTENT_INIT:
      return "it returns a request, and a skipped call has none to return: name the collective that it "
             "starts";
    case RF_OP_COMM_AGREE:
      return "it returns the agreed value, and a skipped call has none to return";
    case RF_OP_GROUP:
      return "a group start needs its group end: name the calls inside the group";
    default:
      break;
  }
  if (is_mark_op(op)) return "it is a mark, not a call that other ranks wait for";
  if (is_file_op(op)) return "it is a file operation: use fail_call with an errno";
  if (is_device_op(op)) return "its caller uses its result: make it fail with cuda_error";
  return "no rank would miss it";
}

}  // namespace rankfault
