// log_prefix: takes the prefixes of launchers and loggers off a line.
#include <algorithm>
#include <cctype>

#include "harness/reproduce/logs/log_lines.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr int kMostPrefixes = 8;
constexpr int64_t kMostTasks = 65'535;  // a larger number at the begin of a line counts lines or is a pid

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Whether the text begins like the pattern: 'd' is a digit, 'a' a letter, '_' a digit or a blank.
bool begins_like(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = text[i];
    const bool fits = pattern[i] == 'd'   ? is_digit(c)
                      : pattern[i] == 'a' ? is_alpha(c)
                      : pattern[i] == '_' ? is_digit(c) || c == ' '
                                          : c == pattern[i];
    if (!fits) return false;
  }
  return true;
}

size_t span(std::string_view text, bool (*fits)(char)) {
  size_t size = 0;
  while (size < text.size() && fits(text[size])) ++size;
  return size;
}

// The size of a time at the begin of the text, with its fraction and zone; 0 without one.
size_t time_size(std::string_view text) {
  for (const std::string_view whole : {"dddd-dd-dd dd:dd:dd", "dddd-dd-ddTdd:dd:dd", "dddd-dd-dd_dd:dd:dd",
                                       "dddd/dd/dd dd:dd:dd", "aaa aaa _d dd:dd:dd dddd", "aaa _d dd:dd:dd"})
    if (begins_like(text, whole))
      return whole.size() + span(text.substr(whole.size()), [](char c) {
               return is_digit(c) || c == '.' || c == ',' || c == '+' || c == ':' || c == 'Z';
             });
  return 0;
}

bool take_time(Scan& scan, LogLine& line) {
  Scan next = scan;
  const bool in_brackets = next.skip("[");
  const size_t size = time_size(next.rest());
  if (size == 0) return false;
  std::string_view time = next.rest().substr(0, size);
  next = Scan(line.text, next.at() + size);
  if (in_brackets && !next.skip("]")) return false;
  while (!is_digit(time.back()) && time.back() != 'Z') time.remove_suffix(1);
  line.time = time;
  next.skip(" ");
  next.skip("- ");
  scan = next;
  return true;
}

// "[E1128 10:22:36.123456789 ProcessGroupNCCL.cpp:632] ", "E1128 10:22:36.123000 4321 torch/x.py:874] ",
// "[E ProcessGroupNCCL.cpp:475] " of PyTorch before 2.2.
bool take_glog(Scan& scan, LogLine& line) {
  constexpr size_t kFarthest = 200;
  Scan next = scan;
  const bool in_brackets = next.skip("[");
  if (next.rest().empty() || std::string_view("IWEF").find(next.rest().front()) == std::string_view::npos)
    return false;
  const std::string_view level = next.rest();
  const bool has_time =
      begins_like(level.substr(1), "dddd dd:dd:dd") || begins_like(level.substr(1), "ddd dd:dd:dd");
  if (!has_time && !(in_brackets && level.size() > 1 && level[1] == ' ')) return false;
  const size_t end = level.find("] ");
  if (end == std::string_view::npos || end > kFarthest) return false;
  const std::string_view inside = level.substr(1, end - 1);
  if (!has_time && inside.find(".cpp:") == std::string_view::npos) return false;
  if (has_time) {
    const size_t clock = inside.find(' ') + 1;
    line.time = inside.substr(
        0, clock + span(inside.substr(clock), [](char c) { return is_digit(c) || c == ':' || c == '.'; }));
  }
  scan = Scan(line.text, next.at() + end + 2);
  return true;
}

// "[rank3]: ", "[default3]:", "[3] ".
bool take_rank_in_brackets(Scan& scan, LogLine& line) {
  Scan next = scan;
  if (!next.skip("[")) return false;
  const std::string_view role =
      next.rest().substr(0, span(next.rest(), [](char c) { return is_alpha(c) || c == '_'; }));
  next.skip(role);
  if (next.rest().empty() || !is_digit(next.rest().front())) return false;
  const int rank = as_int(next.number());
  if (rank < 0 || role == "node" || role == "host") return false;
  const bool is_world = role == "rank" || role == "Rank" || role == "RANK";
  if (!role.empty() && next.skip("]:")) {
    if (is_world) next.skip(" ");
    if (is_world || line.rank < 0) {
      line.rank = rank;
      line.rank_is_local = !is_world;
    }
  } else if (role.empty() && next.skip("] ")) {
    if (rank <= kMostTasks && line.rank < 0) line.rank = rank;
  } else {
    return false;
  }
  scan = next;
  return true;
}

// Open MPI: "[1,3]<stderr>:", "[prterun-host-123@1,3]<stdout>: ".
bool take_tag(Scan& scan, LogLine& line) {
  constexpr size_t kLongestJob = 120;
  Scan next = scan;
  if (!next.skip("[")) return false;
  const std::string_view inside = next.until("]<");
  const size_t comma = inside.rfind(',');
  if (inside.size() > kLongestJob || comma == std::string_view::npos) return false;
  const int rank = as_int(Scan(inside, comma + 1).number());
  if (rank < 0 || !next.skip("std")) return false;
  next.skip(next.rest().substr(0, span(next.rest(), is_alpha)));
  if (!next.skip(">:")) return false;
  line.rank = rank;
  line.rank_is_local = false;
  scan = next;
  return true;
}

// "3: " and " 3: " of srun --label. A pid and a number of a line are larger, or have no colon.
bool take_task(Scan& scan, LogLine& line) {
  Scan next = scan;
  next.skip_blanks();
  if (next.rest().empty() || !is_digit(next.rest().front())) return false;
  const int task = as_int(next.number(), kMostTasks);
  if (task < 0 || !next.skip(": ")) return false;
  if (line.rank < 0) line.rank = task;
  scan = next;
  return true;
}

bool is_of_host(char c) { return is_digit(c) || is_alpha(c) || c == '-' || c == '.' || c == '_' || c == '/'; }

// "node-17: ", "host7 | ", "pod/name: ", "[pod/name/container] ", "(WorkerDict pid=30332, ip=10.0.0.7) ".
bool take_host(Scan& scan, LogLine& line) {
  constexpr size_t kLongestHost = 253;
  Scan next = scan;
  if (next.skip("(")) {
    const std::string_view actor = next.until(") ");
    const size_t ip = actor.find(", ip=");
    if (actor.size() > kLongestHost || actor.find(" pid=") == std::string_view::npos) return false;
    if (ip != std::string_view::npos) line.host = actor.substr(ip + 5);
    scan = next;
    return true;
  }
  const bool in_brackets = next.skip("[");
  const std::string_view host = next.rest().substr(0, span(next.rest(), is_of_host));
  const bool has_digit = std::any_of(host.begin(), host.end(), is_digit);
  const bool has_slash = host.find('/') != std::string_view::npos;
  if (host.empty() || host.size() > kLongestHost || !is_alpha(host.front())) return false;
  next.skip(host);
  if (in_brackets) {
    if (!has_slash || !next.skip("] ")) return false;
  } else if (next.skip(": ")) {
    if (!has_digit && !has_slash) return false;
    for (const std::string_view program : {"python", "c10d", "c10", "mpi4py"})
      if (host.substr(0, program.size()) == program) return false;
  } else {
    next.skip_blanks();
    if (!has_digit || !next.skip("| ")) return false;
  }
  scan = next;
  if (host.substr(0, 4) == "rank" && as_int(Scan(host, 4).number()) >= 0)  // "rank3: "
    line.rank = as_int(Scan(host, 4).number());
  else
    line.host = host;
  return true;
}

}  // namespace

LogLine log_line(std::string_view text, uint64_t number) {
  LogLine line;
  line.text = has_controls(text) ? without_controls(text) : std::string(text);
  line.number = number;
  Scan scan(line.text);
  for (int i = 0; i < kMostPrefixes; ++i)
    if (!take_time(scan, line) && !take_glog(scan, line) && !take_rank_in_brackets(scan, line) &&
        !take_tag(scan, line) && !take_task(scan, line) && !take_host(scan, line))
      break;
  line.text.erase(0, scan.at());
  return line;
}

}  // namespace rankfault
