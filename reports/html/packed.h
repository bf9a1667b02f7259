// Packed: a list of numbers as base64 of variable-length integers: seven bits in each byte, the low ones
// first. report/pack.js reads it.
#pragma once

#include <cstdint>
#include <string>

namespace rankfault::html {

class Packed {
 public:
  void put(uint64_t number);
  void put_signed(int64_t number);  // small numbers of either sign stay short
  size_t bytes() const { return bytes_.size(); }
  std::string base64() const;

 private:
  std::string bytes_;
};

std::string base64_of(const std::string& bytes);

}  // namespace rankfault::html
