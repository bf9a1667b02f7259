#include "harness/nodes/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <initializer_list>
#include <memory>

namespace rankfault {
namespace {

using Bytes = std::span<const uint8_t>;

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

struct Free {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

// HMAC-SHA256 of the parts, one after the other.
Proof hmac(Bytes key, std::initializer_list<Bytes> parts) {
  static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);  // lives until the end
  RF_ASSERT(algorithm != nullptr, "libcrypto has HMAC");
  const std::unique_ptr<EVP_MAC_CTX, Free> context(EVP_MAC_CTX_new(algorithm));
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0), OSSL_PARAM_END};
  bool ok = context && EVP_MAC_init(context.get(), key.data(), key.size(), params) == 1;
  for (const Bytes part : parts) ok = ok && EVP_MAC_update(context.get(), part.data(), part.size()) == 1;
  Proof result{};
  size_t size = 0;
  ok = ok && EVP_MAC_final(context.get(), result.data(), &size, result.size()) == 1;
  RF_ASSERT(ok && size == result.size(), "libcrypto makes an HMAC-SHA256");
  return result;
}

}  // namespace

Nonce fresh_nonce() {
  Nonce nonce;
  fill_with_random_bytes(nonce);
  return nonce;
}

Proof proof(const RunKey& key, std::string_view role, const Nonce& own_nonce, const Nonce& peer_nonce) {
  return hmac(key.bytes(), {bytes_of("rankfault proof "), bytes_of(role), own_nonce, peer_nonce});
}

bool equal(const Proof& a, const Proof& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

FrameTags::FrameTags(const RunKey& key, std::string_view sender_role, const Nonce& tool_nonce,
                     const Nonce& node_nonce)
    : key_(hmac(key.bytes(),
                {bytes_of("rankfault frames "), bytes_of(sender_role), tool_nonce, node_nonce})) {}

FrameTag FrameTags::next(Bytes header, Bytes payload) {
  std::array<uint8_t, 8> number;
  for (size_t i = 0; i < number.size(); ++i) number[i] = static_cast<uint8_t>(frames_ >> (8 * i));
  ++frames_;
  const Proof whole = hmac(key_, {number, header, payload});
  FrameTag tag;
  std::copy_n(whole.begin(), tag.size(), tag.begin());
  return tag;
}

bool FrameTags::is_next(const FrameTag& tag, Bytes header, Bytes payload) {
  const FrameTag right = next(header, payload);
  return CRYPTO_memcmp(right.data(), tag.data(), tag.size()) == 0;
}

}  // namespace rankfault
