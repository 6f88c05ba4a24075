#include "protocol/replay/sign.h"

#include <sodium.h>

#include <algorithm>
#include <cstdlib>

#include "protocol/replay/byte_io.h"

namespace orrery::protocol::replay {

namespace {

std::vector<std::uint8_t> message_of(SignedExtent extent, const RunId& run, std::uint64_t ticks, const Chain& before) {
    constexpr std::string_view kSoFar = "orrery replay v2", kWhole = "orrery replay v2, whole";
    const std::string_view purpose = extent == SignedExtent::whole ? kWhole : kSoFar;
    std::vector<std::uint8_t> message(purpose.begin(), purpose.end());
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

SignRecord sign(const SigningKey& key, SignedExtent extent, const RunId& run, std::uint64_t ticks,
                const Chain& before) {
    SignRecord record;
    record.tick = ticks;
    record.key = public_key(key);
    const std::vector<std::uint8_t> message = message_of(extent, run, ticks, before);
    crypto_sign_detached(record.signature.data(), nullptr, message.data(), message.size(), key.secret.data());
    return record;
}

std::optional<SignedExtent> signed_extent(const SignRecord& record, const RunId& run, const Chain& before) {
    for (const SignedExtent extent : {SignedExtent::so_far, SignedExtent::whole}) {
        const std::vector<std::uint8_t> message = message_of(extent, run, record.tick, before);
        if (crypto_sign_verify_detached(record.signature.data(), message.data(), message.size(), record.key.data()) ==
            0)
            return extent;
    }
    return std::nullopt;
}

}  // namespace orrery::protocol::replay
