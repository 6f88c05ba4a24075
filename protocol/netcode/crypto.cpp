#include "protocol/netcode/crypto.h"

#include <sodium.h>

#include <cstdlib>

#include "protocol/netcode/wire.h"

namespace orrery::protocol {

std::uint64_t RandomSource::next_u64() {
    std::uint8_t raw[8];
    fill(raw);
    return load_le(raw, 8);
}

Key RandomSource::next_key() {
    Key key;
    fill(key);
    return key;
}

void SystemRandom::fill(MutableBytes out) {
    // Without a generator no key is secret, so there is nothing to go on with.
    if (sodium_init() < 0) std::abort();
    randombytes_buf(out.data(), out.size());
}

void wipe(MutableBytes secret) { sodium_memzero(secret.data(), secret.size()); }

}  // namespace orrery::protocol
