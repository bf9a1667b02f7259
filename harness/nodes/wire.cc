#include "harness/nodes/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace rankfault {
namespace {

std::span<const uint8_t> octets(std::string_view bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

constexpr size_t kManyReadBytes = size_t{1} << 20;

}  // namespace

Packer& Packer::number(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) payload_ += static_cast<char>(value >> (8 * i));
  return *this;
}

Packer& Packer::bytes(std::string_view block) {
  RF_ASSERT(block.size() <= UINT32_MAX, "a block has at most 4 GiB");
  u32(static_cast<uint32_t>(block.size()));
  payload_ += block;
  return *this;
}

std::string_view Unpacker::take(size_t bytes) {
  ok_ = ok_ && bytes <= rest_.size();
  if (!ok_) return {};
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

uint64_t Unpacker::number(size_t bytes) {
  const std::string_view taken = take(bytes);
  uint64_t value = 0;
  for (size_t i = 0; i < taken.size(); ++i) value |= uint64_t{static_cast<uint8_t>(taken[i])} << (8 * i);
  return value;
}

std::string_view Unpacker::bytes() {
  const uint32_t size = u32();
  return take(size);
}

uint32_t Unpacker::count(size_t least_bytes) {
  const uint32_t items = u32();
  ok_ = ok_ && items <= rest_.size() / std::max<size_t>(least_bytes, 1);
  return ok_ ? items : 0;
}

Status Unpacker::done() const {
  if (!ok_) return refused("a frame is shorter than its type demands");
  if (!rest_.empty())
    return refused(fmt::format("a frame has {} bytes more than its type has", rest_.size()));
  return Done{};
}

void append_frame(std::string& out, FrameTags& tags, uint16_t type, std::string_view payload) {
  RF_ASSERT(payload.size() <= kMostPayloadBytes, "a payload is at most 16 MiB");
  const Packer header = Packer().u32(static_cast<uint32_t>(payload.size())).u16(type);
  const FrameTag tag = tags.next(octets(header.payload()), octets(payload));
  out += header.payload();
  out += payload;
  out.append(tag.begin(), tag.end());
}

Result<std::optional<WireFrame>> FrameReader::next() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  if (rest.size() < kFrameHeaderBytes) return std::optional<WireFrame>();
  Unpacker header(rest);
  const size_t size = header.u32();
  const uint16_t type = header.u16();
  if (size > kMostPayloadBytes)
    return refused(fmt::format("a frame of {} bytes; {} at most", size, kMostPayloadBytes));
  if (rest.size() < kFrameHeaderBytes + size + kTagBytes) return std::optional<WireFrame>();
  const std::string_view payload = rest.substr(kFrameHeaderBytes, size);
  FrameTag tag;
  std::copy_n(rest.begin() + static_cast<ptrdiff_t>(kFrameHeaderBytes + size), kTagBytes, tag.begin());
  if (!tags_.is_next(tag, octets(rest.substr(0, kFrameHeaderBytes)), octets(payload)))
    return refused("a frame that was changed or is not from the other side");
  std::optional<WireFrame> frame(WireFrame{type, std::string(payload)});
  at_ += kFrameHeaderBytes + size + kTagBytes;
  if (at_ == bytes_.size() || at_ > kManyReadBytes) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  return frame;
}

}  // namespace rankfault
