// pickle_writer: writes plain data as a pickle of protocol 2, with the opcodes that PyTorch's own writer uses
// (torch/csrc/jit/serialization/pickler.cpp).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace rankfault {

class PickleWriter {
 public:
  PickleWriter();
  // A container's items come between its begin and its end; in a dict, keys and values alternate.
  void begin_dict() { out_ += "}("; }
  void end_dict() { out_ += 'u'; }
  void begin_list() { out_ += "]("; }
  void end_list() { out_ += 'e'; }
  void pair() { out_ += '\x86'; }  // the last two values
  void none() { out_ += 'N'; }
  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }
  void integer(int64_t value);
  void real(double value);
  void text(std::string_view value);  // a byte that is not UTF-8 becomes '?'; equal texts are written once
  // If `object` was remembered before, writes a reference to its value and returns true.
  bool again(const void* object);
  void remember(const void* object);  // the last value
  std::string finish() &&;

 private:
  void put();
  void get(uint32_t id);
  void fixed(uint64_t value, size_t bytes);
  std::string out_;
  std::unordered_map<std::string, uint32_t> texts_;
  std::unordered_map<const void*, uint32_t> objects_;
  uint32_t memo_ = 0;
};

}  // namespace rankfault
