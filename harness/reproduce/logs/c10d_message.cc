#include "harness/reproduce/logs/c10d_message.h"

#include <limits>

#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr size_t kLongestName = 200;

// "0(default_pg)" and "0 (default_pg)" are the default group; so is "0" before groups had names.
std::string group_name(std::string_view guid) {
  while (!guid.empty() && guid.back() == ' ') guid.remove_suffix(1);
  return std::string(guid.find("(default_pg)") != std::string_view::npos ? "default_pg" : guid);
}

std::string_view word_after(std::string_view text, std::string_view key) {
  Scan scan(text);
  if (!scan.find(key)) return {};
  const std::string_view rest = scan.rest();
  return rest.substr(0, rest.find_first_of(",) "));
}

}  // namespace

void say_group(Clue& clue, std::string_view line, size_t at) {
  const std::string_view before = line.substr(0, at);
  const size_t end = before.rfind(']');
  if (end == std::string_view::npos ||
      before.substr(end + 1).find_first_not_of(" :") != std::string_view::npos)
    return;
  const size_t begin = before.rfind('[', end);
  if (begin == std::string_view::npos || end - begin > kLongestName) return;
  const std::string_view inside = before.substr(begin + 1, end - begin - 1);
  const size_t word = inside.rfind("Rank ");
  if (word == std::string_view::npos) return;
  const int rank = as_int(Scan(inside, word + 5).number());
  if (rank < 0) return;
  std::string_view group = inside.substr(0, word);
  if (const size_t guid = group.find("PG GUID "); guid != std::string_view::npos)
    group = group.substr(guid + 8);
  else if (group.substr(0, 3) == "PG ")
    group = group.substr(3);
  clue.group = group_name(group);
  clue.group_rank = rank;
  if (clue.group.empty() || clue.group == "default_pg" || clue.group == "0") say_rank(clue, rank);
}

int64_t elements_of_shape(std::string_view shape) {
  Scan scan(shape);
  if (!scan.skip("[")) return -1;
  int64_t elements = 1;
  while (!scan.skip("]")) {
    const std::optional<int64_t> size = scan.number();
    if (!size || *size < 0) return -1;
    if (*size > 0 && elements > std::numeric_limits<int64_t>::max() / *size) return -1;
    elements *= *size;
    scan.skip(", ");
    if (scan.rest().empty()) return -1;
  }
  return elements;
}

void say_call(Clue& clue, std::string_view fields) {
  clue.seq = number_after(fields, "SeqNum=");
  if (clue.seq < 0) clue.seq = number_after(fields, "SequenceNumber=");
  clue.op = op_of_c10d(word_after(fields, "OpType="));
  clue.numel_in = number_after(fields, "NumelIn=");
  clue.numel_out = number_after(fields, "NumelOut=");
  clue.limit_ms = number_after(fields, "Timeout(ms)=");
  clue.dtype = dtype_of_c10d(word_after(fields, "TensorDtypes="));
  Scan scan(fields);
  if (clue.numel_in < 0 && scan.find("TensorShape=")) clue.numel_in = elements_of_shape(scan.rest());
}

}  // namespace rankfault
