#include "protocol/replay/sign.h"

#include <sodium.h>

#include <algorithm>
#include <cstdlib>

#include "protocol/replay/byte_io.h"

namespace orrery::protocol::replay {

namespace {

constexpr std::string_view kPurpose = "orrery replay v2";

std::vector<std::uint8_t> message_of(const RunId& run, std::uint64_t ticks, const Chain& before) {
    std::vector<std::uint8_t> message(kPurpose.begin(), kPurpose.end());
    ByteWriter writer(message);
    writer.bytes(run);
    writer.u64(ticks);
    writer.bytes(before);
    return message;
}

}  // namespace

SigningKey make_signing_key(std::span<const std::uint8_t, 32> seed) {
    if (sodium_init() < 0) std::abort();
    SigningKey key;
    PublicKey ignored;
    crypto_sign_seed_keypair(ignored.data(), key.secret.data(), seed.data());
    return key;
}

PublicKey public_key(const SigningKey& key) {
    PublicKey out;
    std::copy_n(key.secret.begin() + 32, out.size(), out.begin());
    return out;
}

SignRecord sign(const SigningKey& key, const RunId& run, std::uint64_t ticks, const Chain& before) {
    SignRecord record;
    record.tick = ticks;
    record.key = public_key(key);
    const std::vector<std::uint8_t> message = message_of(run, ticks, before);
    crypto_sign_detached(record.signature.data(), nullptr, message.data(), message.size(), key.secret.data());
    return record;
}

bool is_valid(const SignRecord& record, const RunId& run, const Chain& before) {
    const std::vector<std::uint8_t> message = message_of(run, record.tick, before);
    return crypto_sign_verify_detached(record.signature.data(), message.data(), message.size(), record.key.data()) == 0;
}

}  // namespace orrery::protocol::replay
