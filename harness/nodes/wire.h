// wire: the frames between the tool and a node guardian, and what their payloads are made of.
//
//   u32 bytes of the payload, u16 type, payload, tag (16 bytes, see proof.h)
//
// All numbers are little endian. A text or a block of bytes is its u32 size and its bytes.
//
// Threads: one object belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/nodes/proof.h"

namespace rankfault {

inline constexpr size_t kMostPayloadBytes = size_t{16} << 20;
inline constexpr size_t kFrameHeaderBytes = 6;

struct WireFrame {
  uint16_t type = 0;
  std::string payload;
};

class Packer {
 public:
  Packer& u8(uint8_t value) { return number(value, 1); }
  Packer& u16(uint16_t value) { return number(value, 2); }
  Packer& u32(uint32_t value) { return number(value, 4); }
  Packer& u64(uint64_t value) { return number(value, 8); }
  Packer& i64(int64_t value) { return number(static_cast<uint64_t>(value), 8); }
  Packer& instant(Instant at) { return u64(ns_of(at)); }
  Packer& bytes(std::string_view);  // 4 GiB at most
  Packer& text(std::string_view words) { return bytes(words); }

  const std::string& payload() const { return payload_; }

 private:
  Packer& number(uint64_t value, int bytes);
  std::string payload_;
};

// Reads what a Packer wrote. After a read beyond the end, every read gives 0 or an empty text, and done() is
// an error: so read all, and then ask done() once before anything is used.
class Unpacker {
 public:
  explicit Unpacker(std::string_view payload) : rest_(payload) {}  // must outlive this and all views from it

  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  int64_t i64() { return static_cast<int64_t>(number(8)); }
  Instant instant() { return instant_of(u64()); }
  std::string_view bytes();  // points into the payload
  std::string text() { return std::string(bytes()); }
  // A u32 that says how many items follow, each of `least_bytes` or more. A number that the rest of the
  // payload cannot hold is an error: nothing is allocated for it.
  uint32_t count(size_t least_bytes);

  bool ok() const { return ok_; }
  Status done() const;  // an error: the payload is too short, or has bytes that were not read

 private:
  uint64_t number(size_t bytes);
  std::string_view take(size_t bytes);
  std::string_view rest_;
  bool ok_ = true;
};

// Appends one frame to `out`. A payload above kMostPayloadBytes is a bug of ours.
void append_frame(std::string& out, FrameTags&, uint16_t type, std::string_view payload);

// Makes frames of a stream of bytes.
class FrameReader {
 public:
  explicit FrameReader(FrameTags tags) : tags_(tags) {}

  void add(std::string_view bytes) { bytes_.append(bytes); }
  // nullopt: the next frame is not here yet. An error: the frame is too large, or its tag is wrong. Nothing
  // after it can be trusted: do not call it again.
  Result<std::optional<WireFrame>> next();
  bool is_inside_a_frame() const { return at_ < bytes_.size(); }

 private:
  FrameTags tags_;
  std::string bytes_;
  size_t at_ = 0;  // bytes before it were frames
};

}  // namespace rankfault
