// Sealing, opening and minting connect tokens: what needs libsodium. A client over WebSocket does none of it.
#include <sodium.h>

#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

struct TokenAssociatedData {
    std::array<std::uint8_t, kNetcodeVersion.size() + 16> bytes;

    TokenAssociatedData(std::uint64_t protocol_id, std::uint64_t expire_timestamp) {
        WireWriter out(bytes);
        out.bytes(kNetcodeVersion);
        out.u64(protocol_id);
        out.u64(expire_timestamp);
    }
};

}  // namespace

void seal_private_token(std::span<std::uint8_t, kPrivateTokenBytes> bytes, std::uint64_t protocol_id,
                        std::uint64_t expire_timestamp, const TokenNonce& nonce, const Key& private_key) {
    const TokenAssociatedData ad(protocol_id, expire_timestamp);
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes.data(), nullptr, bytes.data(), kPrivateTokenBytes - kMacBytes,
                                               ad.bytes.data(), ad.bytes.size(), nullptr, nonce.data(),
                                               private_key.data());
}

bool open_private_token(std::span<const std::uint8_t, kPrivateTokenBytes> sealed, std::uint64_t protocol_id,
                        std::uint64_t expire_timestamp, const TokenNonce& nonce, const Key& private_key,
                        PrivateToken& out) {
    const TokenAssociatedData ad(protocol_id, expire_timestamp);
    std::array<std::uint8_t, kPrivateTokenBytes> plain{};
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain.data(), nullptr, nullptr, sealed.data(), sealed.size(),
                                                   ad.bytes.data(), ad.bytes.size(), nonce.data(),
                                                   private_key.data()) != 0) {
        return false;
    }
    const bool read = read_private_token(plain, out);
    wipe(plain);
    return read;
}

Result<PublicTokenBytes> mint_connect_token(const TokenRequest& request, const Key& private_key, RandomSource& random) {
    const auto& servers = request.servers;
    if (servers.count < 1 || servers.count > kMaxServersPerToken) {
        return Error{ErrorCode::invalid_argument, "server addresses", "are not 1 to 32 addresses; name that many"};
    }
    for (std::uint32_t i = 0; i < servers.count; ++i) {
        if (servers.items[i].valid()) continue;
        return Error{ErrorCode::invalid_argument, "server addresses[" + std::to_string(i) + "]",
                     "is not set; give an address with a port"};
    }
    if (request.create_timestamp > UINT64_MAX - request.expires_in_seconds) {
        return Error{ErrorCode::invalid_argument, "create timestamp",
                     "is not a time in Unix seconds; give the present time"};
    }
    PrivateToken secret;
    secret.client_id = request.client_id;
    secret.timeout_seconds = request.timeout_seconds;
    secret.servers = servers;
    secret.client_to_server = random.next_key();
    secret.server_to_client = random.next_key();
    secret.user_data = request.user_data;

    ConnectToken token;
    token.protocol_id = request.protocol_id;
    token.create_timestamp = request.create_timestamp;
    token.expire_timestamp = request.create_timestamp + request.expires_in_seconds;
    random.fill(token.nonce);
    write_private_token(secret, token.private_part);
    seal_private_token(token.private_part, token.protocol_id, token.expire_timestamp, token.nonce, private_key);
    token.timeout_seconds = request.timeout_seconds;
    token.servers = servers;
    token.client_to_server = secret.client_to_server;
    token.server_to_client = secret.server_to_client;

    PublicTokenBytes out;
    write_connect_token(token, out);
    return out;
}

}  // namespace orrery::protocol
