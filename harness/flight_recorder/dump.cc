// dump: the words for the enumerations of dump.h.
#include "harness/flight_recorder/dump.h"

namespace rankfault {

FrBackend backend_of(std::string_view profiling_name) {
  const size_t colon = profiling_name.find(':');
  if (colon == profiling_name.npos) return FrBackend::kUnknown;
  const std::string_view prefix = profiling_name.substr(0, colon);
  return prefix == "nccl" ? FrBackend::kNccl : prefix == "gloo" ? FrBackend::kGloo : FrBackend::kOther;
}

const char* state_word(FrState state) {
  switch (state) {
    case FrState::kScheduled:
      return "scheduled";
    case FrState::kStarted:
      return "started";
    case FrState::kCompleted:
      return "completed";
    case FrState::kUnknown:
      break;
  }
  return "unknown";
}

const char* backend_word(FrBackend value) {
  switch (value) {
    case FrBackend::kNccl:
      return "nccl";
    case FrBackend::kGloo:
      return "gloo";
    case FrBackend::kOther:
      return "other";
    case FrBackend::kMixed:
      return "mixed";
    case FrBackend::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace rankfault
