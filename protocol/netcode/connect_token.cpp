#include "protocol/netcode/connect_token.h"

#include <sodium.h>

#include <algorithm>

#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kPrivateLayoutBytes = kPrivateTokenBytes - kMacBytes;

void write_addresses(WireWriter& out, const AddressList& list) {
    out.u32(list.count);
    for (std::uint32_t i = 0; i < list.count; ++i) {
        const Address& address = list.items[i];
        out.u8(static_cast<std::uint8_t>(address.family));
        if (address.family == Address::Family::ipv4) {
            out.bytes(Bytes(address.bytes).first(4));
        } else {
            // Each group as a little-endian u16: the network's bytes, swapped in pairs.
            for (std::size_t g = 0; g < 8; ++g) {
                out.u8(address.bytes[2 * g + 1]);
                out.u8(address.bytes[2 * g]);
            }
        }
        out.u16(address.port);
    }
}

bool read_addresses(WireReader& in, AddressList& list) {
    list = {};
    const std::uint32_t count = in.u32();
    if (!in.ok() || count < 1 || count > kMaxServersPerToken) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        Address& address = list.items[i];
        const std::uint8_t type = in.u8();
        if (type == static_cast<std::uint8_t>(Address::Family::ipv4)) {
            address.family = Address::Family::ipv4;
            const Bytes raw = in.bytes(4);
            std::copy(raw.begin(), raw.end(), address.bytes.begin());
        } else if (type == static_cast<std::uint8_t>(Address::Family::ipv6)) {
            address.family = Address::Family::ipv6;
            for (std::size_t g = 0; g < 8; ++g) {
                address.bytes[2 * g + 1] = in.u8();
                address.bytes[2 * g] = in.u8();
            }
        } else {
            return false;
        }
        address.port = in.u16();
    }
    list.count = count;
    return in.ok();
}

struct TokenAssociatedData {
    std::array<std::uint8_t, kNetcodeVersion.size() + 16> bytes;

    TokenAssociatedData(std::uint64_t protocol_id, std::uint64_t expire_timestamp) {
        WireWriter out(bytes);
        out.bytes(kNetcodeVersion);
        out.u64(protocol_id);
        out.u64(expire_timestamp);
    }
};

Error token_error(const char* place, const char* message) { return {ErrorCode::parse, place, message}; }

}  // namespace

bool AddressList::contains(const Address& address) const {
    const auto end = items.begin() + count;
    return std::find(items.begin(), end, address) != end;
}

bool AddressList::add(const Address& address) {
    if (count >= items.size()) return false;
    items[count++] = address;
    return true;
}

void AddressList::put_first(const Address& address) {
    std::uint32_t at = 0;
    while (at < count && items[at] != address) ++at;
    if (at == count) at = count < items.size() ? count++ : count - 1;
    for (; at > 0; --at) items[at] = items[at - 1];
    items[0] = address;
}

void write_connect_token(const ConnectToken& token, std::span<std::uint8_t, kConnectTokenBytes> out) {
    WireWriter to(out);
    to.bytes(kNetcodeVersion);
    to.u64(token.protocol_id);
    to.u64(token.create_timestamp);
    to.u64(token.expire_timestamp);
    to.bytes(token.nonce);
    to.bytes(token.private_part);
    to.u32(static_cast<std::uint32_t>(token.timeout_seconds));
    write_addresses(to, token.servers);
    to.bytes(token.client_to_server);
    to.bytes(token.server_to_client);
    to.zeros_to_end();
}

Result<ConnectToken> read_connect_token(Bytes bytes) {
    if (bytes.size() != kConnectTokenBytes) {
        return token_error("connect token",
                           "must have exactly 2048 bytes: it was cut off or is not a token; mint a new one");
    }
    WireReader in(bytes);
    const Bytes version = in.bytes(kNetcodeVersion.size());
    if (!std::equal(version.begin(), version.end(), kNetcodeVersion.begin())) {
        return token_error("connect token, version", "is not \"NETCODE 1.02\": mint a token of this version");
    }
    ConnectToken token;
    token.protocol_id = in.u64();
    token.create_timestamp = in.u64();
    token.expire_timestamp = in.u64();
    if (token.create_timestamp > token.expire_timestamp) {
        return token_error("connect token, expire timestamp", "is before its create timestamp: mint a new token");
    }
    in.array(token.nonce);
    in.array(token.private_part);
    token.timeout_seconds = static_cast<std::int32_t>(in.u32());
    if (!read_addresses(in, token.servers)) {
        return token_error("connect token, server addresses",
                           "must be 1 to 32 addresses of type 1 (IPv4) or 2 (IPv6): mint a new token");
    }
    in.array(token.client_to_server);
    in.array(token.server_to_client);
    if (!in.ok()) return token_error("connect token", "ends inside its fields: mint a new token");
    return token;
}

void write_private_token(const PrivateToken& token, std::span<std::uint8_t, kPrivateTokenBytes> out) {
    WireWriter to(out);
    to.u64(token.client_id);
    to.u32(static_cast<std::uint32_t>(token.timeout_seconds));
    write_addresses(to, token.servers);
    to.bytes(token.client_to_server);
    to.bytes(token.server_to_client);
    to.bytes(token.user_data);
    to.zeros_to_end();
}

bool read_private_token(Bytes bytes, PrivateToken& out) {
    if (bytes.size() != kPrivateTokenBytes) return false;
    WireReader in(bytes.first(kPrivateLayoutBytes));
    out.client_id = in.u64();
    out.timeout_seconds = static_cast<std::int32_t>(in.u32());
    if (!read_addresses(in, out.servers)) return false;
    in.array(out.client_to_server);
    in.array(out.server_to_client);
    in.array(out.user_data);
    return in.ok();
}

void seal_private_token(std::span<std::uint8_t, kPrivateTokenBytes> bytes, std::uint64_t protocol_id,
                        std::uint64_t expire_timestamp, const TokenNonce& nonce, const Key& private_key) {
    const TokenAssociatedData ad(protocol_id, expire_timestamp);
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes.data(), nullptr, bytes.data(), kPrivateLayoutBytes,
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
