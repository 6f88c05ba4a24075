#include "protocol/replay/client_ids.h"

#include <sodium.h>

#include <string_view>
#include <vector>

#include "protocol/replay/byte_io.h"

namespace orrery::protocol::replay {

std::uint64_t hashed_client_id(std::uint64_t client_id, std::span<const std::uint8_t, 32> secret) {
    constexpr std::string_view kUse = "orrery replay client id";  // the secret has other uses, too
    std::vector<std::uint8_t> message(kUse.begin(), kUse.end());
    ByteWriter(message).u64(client_id);
    std::uint8_t hash[crypto_generichash_BYTES_MIN];
    crypto_generichash(hash, sizeof hash, message.data(), message.size(), secret.data(), secret.size());
    return ByteReader({hash, 8}).u64();
}

}  // namespace orrery::protocol::replay
