#include "harness/reproduce/logs/nccl_words.h"

#include <algorithm>

#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

// Reasons of a system that is short of something, or forbids it. Others come from a peer.
constexpr std::string_view kRefusals[] = {
    "No such file or directory",
    "No space left on device",
    "Too many open files",
    "Permission denied",
    "Operation not permitted",
    "Cannot allocate memory",
    "File exists",
    "Resource temporarily unavailable",
};
constexpr std::string_view kLosses[] = {
    "Connection reset by peer",
    "Connection refused",
    "Broken pipe",
    "Connection timed out",
    "No route to host",
    "Network is unreachable",
    "Software caused connection abort",
};

std::string_view word(std::string_view text) { return text.substr(0, text.find_first_of(" ,")); }

// "No such file or directory (2)": the reason, and its number as `code`.
void say_reason(Clue& clue, std::string_view text) {
  const size_t bracket = text.find(" (");
  clue.reason = message_text(text.substr(0, bracket), 0);
  if (bracket != std::string_view::npos) clue.code = as_int(Scan(text, bracket + 2).number(), 4096);
}

bool is_about_memory(Clue& clue, std::string_view message) {
  struct Form {
    std::string_view begin, call;
  };
  constexpr Form kForms[] = {
      {"Error while attaching to shared memory segment ", "attaching to shared memory segment"},
      {"Error while creating shared memory segment ", "creating shared memory segment"},
      {"Error: failed to create shared memory file ", "creating shared memory file"},
      {"Error: failed to extend ", "extending shared memory segment"},
      {"Error: Could not map ", "mapping shared memory segment"},
      {"unlink shared memory ", "unlinking shared memory segment"},
  };
  for (const Form& form : kForms) {
    Scan scan(message);
    if (!scan.skip(form.begin)) continue;
    clue.kind = ClueKind::kHostResource;
    clue.host_call = form.call;
    clue.path = message_text(word(scan.rest()), 0);
    if (scan.find("error: ") || scan.find("error ")) say_reason(clue, scan.rest());
    return true;
  }
  return false;
}

// "Call to open failed: Permission denied", "Call to posix_fallocate failed : No space left on device".
bool is_refused_call(Clue& clue, std::string_view message) {
  const auto* refusal =
      std::find_if(std::begin(kRefusals), std::end(kRefusals),
                   [&](std::string_view reason) { return message.find(reason) != std::string_view::npos; });
  if (refusal == std::end(kRefusals)) return false;
  Scan scan(message);
  clue.kind = ClueKind::kHostResource;
  clue.reason = *refusal;
  if (scan.find("Call to ")) clue.host_call = message_text(word(scan.rest()), 0);
  return true;
}

bool is_lost_peer(Clue& clue, std::string_view message) {
  if (message.find("Connection closed by remote peer") != std::string_view::npos) {
    clue.reason = "closed by remote peer";
  } else if (message.find("Got completion from peer") != std::string_view::npos) {
    clue.reason = "InfiniBand completion with an error";
  } else {
    const auto* loss = std::find_if(std::begin(kLosses), std::end(kLosses), [&](std::string_view reason) {
      return message.find(reason) != std::string_view::npos;
    });
    if (loss == std::end(kLosses)) return false;
    clue.reason = *loss;
  }
  clue.kind = ClueKind::kPeerLost;
  return true;
}

}  // namespace

void say_nccl_warning(Clue& clue, std::string_view message) {
  if (is_about_memory(clue, message) || is_lost_peer(clue, message) || is_refused_call(clue, message)) return;
  Scan scan(message);
  if (scan.find("Cuda failure ")) {
    scan.skip("'");
    const std::string_view rest = scan.rest();
    clue.reason = message_text(rest.substr(0, rest.find('\'')), 0);
    return;
  }
  if (message.find("Mismatched collective detected") != std::string_view::npos) {
    clue.kind = ClueKind::kDiffers;
    if (const int rank = as_int(number_after(message, "around rank ")); rank >= 0) clue.about = {rank};
  }
}

}  // namespace rankfault
