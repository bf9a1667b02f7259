#include "harness/base/time.h"

#include <fmt/format.h>
#include <time.h>

#include <array>
#include <charconv>
#include <cmath>

namespace rankfault {
namespace {

struct Unit {
  std::string_view name;
  double ns;
};
constexpr std::array<Unit, 6> kUnits{
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};

}  // namespace

Instant HostClock::now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Instant(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

Result<Duration> parse_duration(std::string_view text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size() - end);
  if (status == std::errc() && std::isfinite(number) && number >= 0)
    for (const Unit& u : kUnits)
      if (unit == u.name && number * u.ns < static_cast<double>(kLongestDuration.count()))
        return Duration(std::llround(number * u.ns));
  return usage_error(
      fmt::format("\"{}\" is not a duration: write a number with a unit, as 200ms, 1.5s or 2m", text));
}

std::string to_text(Duration d) {
  const double ns = static_cast<double>(d.count());
  if (ns < 1e3) return fmt::format("{}ns", d.count());
  if (ns < 1e6) return fmt::format("{:.3g}us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3g}ms", ns / 1e6);
  if (ns < 600e9) return fmt::format("{:.4g}s", ns / 1e9);
  return fmt::format("{:.4g}m", ns / 60e9);
}

}  // namespace rankfault
