// By libsodium. Its counterpart in WebAssembly is client_sdk/web/chain.cpp.
#include "protocol/replay/chain.h"

#include <sodium.h>

#include <cstdlib>

namespace orrery::protocol::replay {

void begin_chains() {
    if (sodium_init() < 0) std::abort();  // lets libsodium pick its fastest BLAKE2b
}

Chain next_chain(const Chain& before, const HeaderBytes& header, std::span<const std::uint8_t> payload) {
    Chain chain;
    crypto_generichash_state state;
    crypto_generichash_init(&state, nullptr, 0, kChainBytes);
    crypto_generichash_update(&state, before.data(), before.size());
    crypto_generichash_update(&state, header.data(), header.size());
    crypto_generichash_update(&state, payload.data(), payload.size());
    crypto_generichash_final(&state, chain.data(), chain.size());
    return chain;
}

}  // namespace orrery::protocol::replay
