// Client ids as a recording may have them: PlayerRecord.
#pragma once

#include <cstdint>
#include <span>

namespace orrery::protocol::replay {

// The first 64 bits of BLAKE2b of the id, keyed with a secret of the host's. Who has no secret cannot tell whose id it
// is; the same secret gives the same hash, so that a client is known again over the recordings of a host.
std::uint64_t hashed_client_id(std::uint64_t client_id, std::span<const std::uint8_t, 32> secret);

}  // namespace orrery::protocol::replay
