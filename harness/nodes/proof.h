// proof: how the tool and a node guardian prove to each other that they know the run's key, and the tag that
// each frame has afterwards. proof.cc is the only file that knows OpenSSL's libcrypto (HMAC-SHA256).
//
// Of fixed sizes, so nothing has to be parsed before the proof:
//
//   tool -> node   Hello    magic (8), the tool's nonce (32)
//   node -> tool   Answer   magic (8), the node's nonce (32), proof (32) with the role "node"
//   tool -> node   Proof    proof (32) with the role "tool"
//
// A proof covers the role, both nonces and the key: a recorded proof is worth nothing in another connection,
// and a proof that is sent back to its author has the wrong role. Then each frame has a tag of 16 bytes, from
// a key of this connection and this direction, and from the number of the frame.
//
// What is protected: no one without the key can act as a node or as the tool, and no frame can be made,
// changed, left out, repeated or moved by someone on the path. What is not: whoever is on the path reads all
// frames (they are not encrypted) and can end or delay the connection. The key protects against other users;
// a process of the same user can read it.
//
// Threads: proof() and equal() any; one FrameTags belongs to one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/base/time.h"
#include "harness/nodes/run_key.h"

namespace rankfault {

inline constexpr size_t kNonceBytes = 32, kProofBytes = 32, kTagBytes = 16;
using Nonce = std::array<uint8_t, kNonceBytes>;
using Proof = std::array<uint8_t, kProofBytes>;
using FrameTag = std::array<uint8_t, kTagBytes>;
using Magic = std::array<uint8_t, 8>;

// The last byte but one is the version of the handshake and of the frames.
inline constexpr Magic kMagic{'R', 'F', 'N', 'O', 'D', 'E', 1, 0};
// The tool drops a peer whose answer is not there this long after it was accepted.
inline constexpr Duration kProofLimit{1'000'000'000};
inline constexpr const char* kToolRole = "tool";
inline constexpr const char* kNodeRole = "node";

struct Hello {
  Magic magic = kMagic;
  Nonce tool_nonce;
};
struct Answer {
  Magic magic = kMagic;
  Nonce node_nonce;
  Proof proof;
};
// Bytes without padding: the structs are what is sent.
static_assert(sizeof(Hello) == 40 && sizeof(Answer) == 72);

Nonce fresh_nonce();

// The proof of the one who has the role `role` and sent `own_nonce`.
Proof proof(const RunKey&, std::string_view role, const Nonce& own_nonce, const Nonce& peer_nonce);
bool equal(const Proof&, const Proof&);  // in a time that does not depend on them

// The tags of the frames that one side sends. Each side has one for sending and one for receiving.
class FrameTags {
 public:
  FrameTags(const RunKey&, std::string_view sender_role, const Nonce& tool_nonce, const Nonce& node_nonce);

  // The tag of the next frame. The parts of the frame are covered without a mark between them, so their
  // sizes must follow from the first one.
  FrameTag next(std::span<const uint8_t> header, std::span<const uint8_t> payload);
  // Whether this is the tag of the next frame, in a time that does not depend on the tags.
  bool is_next(const FrameTag&, std::span<const uint8_t> header, std::span<const uint8_t> payload);

 private:
  Proof key_;
  uint64_t frames_ = 0;
};

}  // namespace rankfault
