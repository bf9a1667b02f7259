#include "faults/limit_lowering.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "faults/lowering.h"

namespace rankfault {
namespace {

constexpr int64_t kMost = int64_t{1} << 50;    // above the memory of any machine; its sum with the use fits
constexpr int64_t kMostDescriptors = 1 << 30;  // the kernel's own maximum (fs.nr_open) is not above it

Action unlimited_after(Action limit, Duration lasts, size_t place) {
  limit.verb = RF_VERB_NONE;
  limit.outside = "unlimit";
  limit.delay = lasts;
  limit.after = static_cast<int32_t>(place);
  return limit;
}

}  // namespace

Result<std::vector<Action>> lower_to_limit(const FaultSpec& fault, const LowerContext& context,
                                           int resource) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const int64_t spare = read_int(fault.params, "spare", 0);
  const int64_t most = resource == RLIMIT_NOFILE ? kMostDescriptors : kMost;
  if (spare < 0 || spare > most)
    return usage_error(
        fmt::format("\"spare\", the amount that the victim may still take, must be 0 to {}", most),
        fault.params.find("spare")->pos);
  const std::optional<Duration> lasts = read_duration(fault.params, "for");
  if (lasts && *lasts <= Duration::zero())
    return usage_error("\"for\" must be above 0", fault.params.find("for")->pos);
  std::vector<Action> out;
  for (Action& limit : for_each_victim(fault, context, [&](Action& action) {
         action.verb = RF_VERB_OUTSIDE;
         action.outside = "limit";
         action.mode = resource;
         action.size = spare;
       })) {
    out.push_back(std::move(limit));
    if (lasts) out.push_back(unlimited_after(out.back(), *lasts, out.size() - 1));
  }
  return out;
}

}  // namespace rankfault
