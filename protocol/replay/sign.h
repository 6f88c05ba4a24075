// Signatures of recordings: Ed25519 over
//
//   purpose | run id (16) | ticks u64 | chain hash of the chunk before the signature (32)
//
// The chain covers all that comes before, so that one signature signs the file up to it. The purpose is "orrery replay
// v2", or "orrery replay v2, whole" of the last one of a recording, directly before END: so nobody without the key
// makes a whole recording out of its first part. A signature says that who has the secret key wrote it; which keys are
// trusted is for the verifier to know, never for the file to say.
#pragma once

#include <optional>

#include "protocol/replay/ancillary.h"
#include "protocol/replay/records.h"

namespace orrery::protocol::replay {

struct SigningKey {
    std::array<std::uint8_t, 64> secret{};  // as libsodium keeps it, the public key included
};

// The same seed makes the same key: 32 random bytes, as secret as the key.
SigningKey make_signing_key(std::span<const std::uint8_t, 32> seed);
PublicKey public_key(const SigningKey& key);

enum class SignedExtent : std::uint8_t { so_far, whole };

SignRecord sign(const SigningKey& key, SignedExtent extent, const RunId& run, std::uint64_t ticks, const Chain& before);
// What the signature signs; nothing if it is not of this recording, or not of this place in it.
std::optional<SignedExtent> signed_extent(const SignRecord& record, const RunId& run, const Chain& before);

}  // namespace orrery::protocol::replay
