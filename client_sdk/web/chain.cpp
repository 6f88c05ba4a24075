// In the place of protocol/replay/chain.cpp: WebAssembly has no libsodium.
#include "protocol/replay/chain.h"

#include "client_sdk/web/blake2b.h"

namespace orrery::protocol::replay {

void begin_chains() {}

Chain next_chain(const Chain& before, const HeaderBytes& header, std::span<const std::uint8_t> payload) {
    client::Blake2b256 hash;
    hash.update(before);
    hash.update(header);
    hash.update(payload);
    return hash.finish();
}

}  // namespace orrery::protocol::replay
