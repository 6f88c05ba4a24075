#include "protocol/netcode/packet.h"

#include <sodium.h>

#include <algorithm>
#include <cassert>

#include "protocol/netcode/replay_protection.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

struct PacketAssociatedData {
    std::array<std::uint8_t, kNetcodeVersion.size() + 9> bytes;

    PacketAssociatedData(std::uint64_t protocol_id, std::uint8_t prefix) {
        WireWriter out(bytes);
        out.bytes(kNetcodeVersion);
        out.u64(protocol_id);
        out.u8(prefix);
    }
};

bool replay_protected(PacketType type) { return type >= PacketType::keep_alive; }

}  // namespace

TokenTag ConnectionRequest::tag() const {
    TokenTag out;
    std::copy(private_part.end() - kMacBytes, private_part.end(), out.begin());
    return out;
}

void write_request(const ConnectionRequest& request, std::span<std::uint8_t, kRequestBytes> out) {
    WireWriter to(out);
    to.u8(static_cast<std::uint8_t>(PacketType::request));
    to.bytes(kNetcodeVersion);
    to.u64(request.protocol_id);
    to.u64(request.expire_timestamp);
    to.bytes(request.nonce);
    to.bytes(request.private_part);
    assert(to.ok() && to.remaining() == 0);
}

bool read_request(Bytes datagram, std::uint64_t protocol_id, std::uint64_t unix_now_s, ConnectionRequest& out,
                  Ignored& reason) {
    reason = Ignored::request_length;
    if (datagram.size() != kRequestBytes || datagram[0] != 0) return false;
    WireReader in(datagram.subspan(1));
    reason = Ignored::request_version;
    const Bytes version = in.bytes(kNetcodeVersion.size());
    if (!std::equal(version.begin(), version.end(), kNetcodeVersion.begin())) return false;
    reason = Ignored::request_protocol;
    out.protocol_id = in.u64();
    if (out.protocol_id != protocol_id) return false;
    reason = Ignored::request_expired;
    out.expire_timestamp = in.u64();
    in.array(out.nonce);
    in.array(out.private_part);
    return out.expire_timestamp > unix_now_s;
}

bool open_packet(Bytes datagram, TypeMask allowed, std::uint64_t protocol_id, const Key& key, ReplayProtection* replay,
                 PacketScratch& scratch, OpenedPacket& out, Ignored& reason) {
    reason = Ignored::too_short;
    if (datagram.size() < kMinSealedBytes) return false;
    const std::uint8_t prefix = datagram[0];
    const std::uint8_t type = prefix & 0x0f;
    reason = Ignored::unknown_type;
    if (type >= kPacketTypes) return false;
    reason = Ignored::type_not_allowed;
    out.type = static_cast<PacketType>(type);
    if ((allowed & mask_of(out.type)) == 0) return false;
    reason = Ignored::bad_sequence_length;
    const std::size_t sequence_bytes = prefix >> 4;
    if (sequence_bytes < 1 || sequence_bytes > 8) return false;
    reason = Ignored::no_room_for_tag;
    if (datagram.size() < 1 + sequence_bytes + kMacBytes) return false;
    out.sequence = load_le(datagram.data() + 1, sequence_bytes);

    reason = Ignored::replayed;
    const bool watched = replay && replay_protected(out.type);
    if (watched && replay->is_replayed(out.sequence)) return false;

    // Nothing valid is longer than the scratch; a longer box is refused before it is written there.
    const Bytes box = datagram.subspan(1 + sequence_bytes);
    reason = Ignored::wrong_size;
    if (box.size() > kMaxPayloadBytes + kMacBytes) return false;
    reason = Ignored::does_not_open;
    const PacketAssociatedData ad(protocol_id, prefix);
    const auto nonce = nonce_of(out.sequence);
    if (crypto_aead_chacha20poly1305_ietf_decrypt(scratch.data(), nullptr, nullptr, box.data(), box.size(),
                                                  ad.bytes.data(), ad.bytes.size(), nonce.data(), key.data()) != 0) {
        return false;
    }
    if (watched) replay->advance(out.sequence);

    reason = Ignored::wrong_size;
    out.body = Bytes(scratch).first(box.size() - kMacBytes);
    return body_size_is_valid(out.type, out.body.size());
}

std::size_t seal_packet(PacketType type, std::uint64_t sequence, Bytes body, std::uint64_t protocol_id, const Key& key,
                        std::span<std::uint8_t, kMaxSealedBytes> out) {
    assert(type != PacketType::request && body_size_is_valid(type, body.size()));
    std::size_t sequence_bytes = 1;
    while (sequence_bytes < 8 && (sequence >> (8 * sequence_bytes)) != 0) ++sequence_bytes;
    const auto prefix = static_cast<std::uint8_t>(static_cast<std::size_t>(type) | (sequence_bytes << 4));
    out[0] = prefix;
    store_le(out.data() + 1, sequence, sequence_bytes);
    const PacketAssociatedData ad(protocol_id, prefix);
    const auto nonce = nonce_of(sequence);
    crypto_aead_chacha20poly1305_ietf_encrypt(out.data() + 1 + sequence_bytes, nullptr, body.data(), body.size(),
                                              ad.bytes.data(), ad.bytes.size(), nullptr, nonce.data(), key.data());
    return 1 + sequence_bytes + body.size() + kMacBytes;
}

bool body_size_is_valid(PacketType type, std::size_t size) {
    switch (type) {
        case PacketType::request:
            return false;
        case PacketType::denied:
            return size == 0;
        case PacketType::challenge:
        case PacketType::response:
            return size == kChallengeBodyBytes;
        case PacketType::keep_alive:
            return size == kKeepAliveBodyBytes;
        case PacketType::payload:
            return size >= 1 && size <= kMaxPayloadBytes;
        case PacketType::disconnect:
            return size == 0;
    }
    return false;
}

void write_challenge_body(const ChallengeBody& body, std::span<std::uint8_t, kChallengeBodyBytes> out) {
    WireWriter to(out);
    to.u64(body.sequence);
    to.bytes(body.token);
}

bool read_challenge_body(Bytes bytes, ChallengeBody& out) {
    if (bytes.size() != kChallengeBodyBytes) return false;
    WireReader in(bytes);
    out.sequence = in.u64();
    in.array(out.token);
    return in.ok();
}

void write_keep_alive_body(const KeepAliveBody& body, std::span<std::uint8_t, kKeepAliveBodyBytes> out) {
    WireWriter to(out);
    to.u32(body.client_index);
    to.u32(body.max_clients);
}

bool read_keep_alive_body(Bytes bytes, KeepAliveBody& out) {
    if (bytes.size() != kKeepAliveBodyBytes) return false;
    WireReader in(bytes);
    out.client_index = in.u32();
    out.max_clients = in.u32();
    return in.ok();
}

}  // namespace orrery::protocol
