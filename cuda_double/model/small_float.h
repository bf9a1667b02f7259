// small_float.h: floats of 8 and 16 bits, by their numbers of exponent and mantissa bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cuda_double {

// `Infinite`: the highest exponent means infinity and NaN. Otherwise (8 bits, 4 of exponent) only all ones is
// NaN, and numbers that are too large become the largest number.
template <class Bits, int Exponent, int Mantissa, bool Infinite>
struct SmallFloat {
  Bits bits;

  static constexpr int kBias = (1 << (Exponent - 1)) - 1;
  static constexpr int kTop = (1 << Exponent) - 1;
  static constexpr int kSign = 1 << (Exponent + Mantissa);
  static constexpr int kNan = kSign - 1;
  static constexpr int kLargest = Infinite ? (kTop << Mantissa) - 1 : kNan - 1;

  float value() const {
    int exponent = (bits >> Mantissa) & kTop, mantissa = bits & ((1 << Mantissa) - 1);
    float sign = bits & kSign ? -1.0f : 1.0f;
    if (Infinite && exponent == kTop) {
      return mantissa ? std::numeric_limits<float>::quiet_NaN()
                      : sign * std::numeric_limits<float>::infinity();
    }
    if (!Infinite && (bits & kNan) == kNan) return std::numeric_limits<float>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), 1 - kBias - Mantissa);
    return sign * std::ldexp(static_cast<float>(mantissa | (1 << Mantissa)), exponent - kBias - Mantissa);
  }

  // Rounded to nearest, ties to even.
  static SmallFloat of(float f) {
    int sign = std::signbit(f) ? kSign : 0;
    if (std::isnan(f)) return {static_cast<Bits>(kNan)};
    float size = std::fabs(f);
    int rounded = kTop << Mantissa;  // infinity
    if (!std::isinf(size)) {
      int exponent = size == 0 ? 1 - kBias : std::max(std::ilogb(size), 1 - kBias);
      // in units of the last place; a carry into the exponent gives the right result by itself
      int units = static_cast<int>(std::nearbyint(std::ldexp(size, Mantissa - exponent)));
      rounded = units + ((exponent + kBias - 1) << Mantissa);
      if (Infinite && rounded > kLargest) rounded = kTop << Mantissa;
    }
    if (!Infinite && rounded > kLargest) rounded = kLargest;
    return {static_cast<Bits>(sign | rounded)};
  }
};

using Float16 = SmallFloat<std::uint16_t, 5, 10, true>;
using BFloat16 = SmallFloat<std::uint16_t, 8, 7, true>;
using Float8E4M3 = SmallFloat<std::uint8_t, 4, 3, false>;
using Float8E5M2 = SmallFloat<std::uint8_t, 5, 2, true>;

}  // namespace cuda_double
