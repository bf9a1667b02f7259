// fr_words: see fr_words.h. The words are those of ProcessGroupNCCL.cpp and ProcessGroupGloo.cpp
// (PyTorch 2.4 to 2.13), the type names those of c10/core/ScalarType.h.
#include "harness/flight_recorder/fr_words.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace rankfault {
namespace {

std::string_view word_of(const FrEntry& e) {
  std::string_view word = e.profiling_name;
  if (const size_t colon = word.find(':'); colon != std::string_view::npos) word.remove_prefix(colon + 1);
  return word.substr(0, word.find(' '));
}

constexpr std::pair<std::string_view, uint16_t> kOps[] = {
    {"all_reduce", RF_OP_ALL_REDUCE},
    {"allreduce", RF_OP_ALL_REDUCE},
    {"allreduce_coalesced", RF_OP_ALL_REDUCE},
    {"all_reduce_sparse", RF_OP_ALL_REDUCE},
    {"all_reduce_barrier", RF_OP_BARRIER},
    {"barrier", RF_OP_BARRIER},
    {"broadcast", RF_OP_BROADCAST},
    {"_broadcast_oop", RF_OP_BROADCAST},
    {"reduce", RF_OP_REDUCE},
    {"_reduce_oop", RF_OP_REDUCE},
    {"all_gather", RF_OP_ALL_GATHER},
    {"allgather", RF_OP_ALL_GATHER},
    {"_all_gather_base", RF_OP_ALL_GATHER},
    {"all_gather_into_tensor_coalesced", RF_OP_ALL_GATHER},
    {"reduce_scatter", RF_OP_REDUCE_SCATTER},
    {"_reduce_scatter_base", RF_OP_REDUCE_SCATTER_BLOCK},
    {"reduce_scatter_tensor_coalesced", RF_OP_REDUCE_SCATTER_BLOCK},
    {"all_to_all", RF_OP_ALL_TO_ALLV},
    {"all_to_all_single", RF_OP_ALL_TO_ALLV},
    {"alltoall", RF_OP_ALL_TO_ALLV},
    {"gather", RF_OP_GATHER},
    {"scatter", RF_OP_SCATTER},
    {"send", RF_OP_SEND},
    {"recv", RF_OP_RECV},
    {"recvAnySource", RF_OP_RECV},
};

constexpr std::pair<std::string_view, uint8_t> kTypes[] = {
    {"Float", RF_DTYPE_FLOAT32},
    {"Double", RF_DTYPE_FLOAT64},
    {"Half", RF_DTYPE_FLOAT16},
    {"BFloat16", RF_DTYPE_BFLOAT16},
    {"Byte", RF_DTYPE_UINT8},
    {"Char", RF_DTYPE_INT8},
    {"Short", RF_DTYPE_INT16},
    {"Int", RF_DTYPE_INT32},
    {"Long", RF_DTYPE_INT64},
    {"Bool", RF_DTYPE_BOOL},
    {"ComplexFloat", RF_DTYPE_COMPLEX64},
    {"ComplexDouble", RF_DTYPE_COMPLEX128},
    {"Float8_e4m3fn", RF_DTYPE_FLOAT8_E4M3},
    {"Float8_e5m2", RF_DTYPE_FLOAT8_E5M2},
};

bool is_pytorchs_own(const std::string& file) {
  return file.find("/torch/") != std::string::npos || file.find("/site-packages/") != std::string::npos ||
         file.empty() || file.front() == '<';
}

}  // namespace

uint16_t fr_op(const FrEntry& e) {
  const std::string_view word = word_of(e);
  for (const auto& [text, op] : kOps)
    if (word == text) return op;
  return RF_OP_NONE;
}

bool fr_ends_a_group(const FrEntry& e) {
  const std::string_view word = word_of(e);
  constexpr std::string_view kEnd = "coalesced";
  const bool ends = word.size() >= kEnd.size() && word.substr(word.size() - kEnd.size()) == kEnd;
  return ends && fr_op(e) == RF_OP_NONE;
}

int fr_peer(const FrEntry& e) {
  const std::string& name = e.profiling_name;
  const size_t to = name.find("->"), from = name.find("<-");
  const size_t at = to != std::string::npos ? to : from;
  if (at == std::string::npos) return RF_PEER_NONE;
  char* end = nullptr;
  const long peer = std::strtol(name.c_str() + at + 2, &end, 10);
  return end != name.c_str() + at + 2 && peer >= 0 && peer < (1 << 20) ? static_cast<int>(peer)
                                                                       : RF_PEER_NONE;
}

uint8_t fr_dtype(const FrEntry& e) {
  if (e.input_dtypes.empty()) return RF_DTYPE_OTHER;
  for (const auto& [text, dtype] : kTypes)
    if (e.input_dtypes.front() == text) return dtype;
  return RF_DTYPE_OTHER;
}

uint64_t fr_count(const FrEntry& e) {
  uint64_t all = 0;
  for (const std::vector<int64_t>& shape : e.input_sizes) {
    uint64_t one = 1;
    for (const int64_t n : shape) one *= n > 0 ? static_cast<uint64_t>(n) : 0;
    all += one;
  }
  return all;
}

bool fr_done(const FrEntry& e) {
  return e.state == FrState::kCompleted || (e.retired && backend_of(e.profiling_name) == FrBackend::kGloo);
}

std::string fr_call_site(const FrEntry& e) {
  if (!e.frames) return "";
  for (const auto& frame : *e.frames) {
    if (!frame || is_pytorchs_own(frame->file)) continue;
    const size_t slash = frame->file.rfind('/');
    return fmt::format("{}:{}", frame->file.substr(slash == std::string::npos ? 0 : slash + 1), frame->line);
  }
  return "";
}

}  // namespace rankfault
