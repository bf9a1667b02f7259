#include "cuda_double/model/reduce.h"

#include <type_traits>

#include "cuda_double/model/small_float.h"

namespace cuda_double {
namespace {

template <class T>
constexpr bool is_small = !std::is_arithmetic_v<T>;

// The value to compute with: a float for small floats, else the value itself. combine() computes sums and
// products of integers in uint64_t, whose overflow wraps.
template <class T>
auto wide(T x) {
  if constexpr (is_small<T>) {
    return x.value();
  } else {
    return x;
  }
}
template <class T, class Wide>
T narrow(Wide x) {
  if constexpr (is_small<T>) {
    return T::of(x);
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
T combine(T a, T b, Reduction reduction) {
  auto x = wide(a), y = wide(b);
  switch (reduction) {
    case Reduction::product:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
      return narrow<T>(x * y);
    case Reduction::max:
      return x < y ? b : a;
    case Reduction::min:
      return y < x ? b : a;
    default:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
      return narrow<T>(x + y);
  }
}

// Calls `f` with a null pointer of the element type.
template <class F>
void with_type(Type type, F f) {
  switch (type) {
    case Type::int8:
      return f(static_cast<std::int8_t*>(nullptr));
    case Type::uint8:
      return f(static_cast<std::uint8_t*>(nullptr));
    case Type::int32:
      return f(static_cast<std::int32_t*>(nullptr));
    case Type::uint32:
      return f(static_cast<std::uint32_t*>(nullptr));
    case Type::int64:
      return f(static_cast<std::int64_t*>(nullptr));
    case Type::uint64:
      return f(static_cast<std::uint64_t*>(nullptr));
    case Type::float16:
      return f(static_cast<Float16*>(nullptr));
    case Type::float32:
      return f(static_cast<float*>(nullptr));
    case Type::float64:
      return f(static_cast<double*>(nullptr));
    case Type::bfloat16:
      return f(static_cast<BFloat16*>(nullptr));
    case Type::float8e4m3:
      return f(static_cast<Float8E4M3*>(nullptr));
    case Type::float8e5m2:
      return f(static_cast<Float8E5M2*>(nullptr));
  }
}

}  // namespace

std::size_t bytes_of(Type type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto* none) { bytes = sizeof *none; });
  return bytes;
}

void reduce_into(void* total, const void* next, std::size_t count, Type type, Reduction reduction) {
  with_type(type, [&](auto* none) {
    using T = std::remove_pointer_t<decltype(none)>;
    T* sums = static_cast<T*>(total);
    const T* values = static_cast<const T*>(next);
    for (std::size_t i = 0; i < count; ++i) sums[i] = combine(sums[i], values[i], reduction);
  });
}

void prepare(void* values, std::size_t count, Type type, Reduction reduction, const void* factor, int ranks) {
  if (reduction != Reduction::average && reduction != Reduction::scaled_sum) return;
  with_type(type, [&](auto* none) {
    using T = std::remove_pointer_t<decltype(none)>;
    if (reduction == Reduction::average && std::is_integral_v<T>) return;
    T* all = static_cast<T*>(values);
    T by = reduction == Reduction::average ? narrow<T>(wide(narrow<T>(1.0f)) / static_cast<float>(ranks))
                                           : *static_cast<const T*>(factor);
    if constexpr (std::is_same_v<T, double>) {
      if (reduction == Reduction::average) by = 1.0 / ranks;
    }
    for (std::size_t i = 0; i < count; ++i) all[i] = combine(all[i], by, Reduction::product);
  });
}

void finish(void* total, std::size_t count, Type type, Reduction reduction, int ranks) {
  if (reduction != Reduction::average) return;
  with_type(type, [&](auto* none) {
    using T = std::remove_pointer_t<decltype(none)>;
    if constexpr (std::is_integral_v<T>) {
      T* all = static_cast<T*>(total);
      for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<T>(all[i] / static_cast<T>(ranks));
    }
  });
}

}  // namespace cuda_double
