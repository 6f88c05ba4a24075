#include "protocol/netcode/connect_token.h"

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

}  // namespace orrery::protocol
