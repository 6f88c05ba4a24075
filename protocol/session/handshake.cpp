#include "protocol/session/handshake.h"

#define XXH_INLINE_ALL  // the client library needs no xxHash library for this one function
#include <xxhash.h>

#include <algorithm>
#include <cstdio>

#include "protocol/snapshot/delta_codec.h"

#ifndef ORRERY_MESSAGE_SCHEMA_HASH
#error "the build passes the hash of protocol/session/messages.fbs"
#endif

namespace orrery::protocol {

std::uint64_t message_schema_hash() { return ORRERY_MESSAGE_SCHEMA_HASH; }

std::uint64_t hash_of_scene_bytes(Bytes binary) { return XXH3_64bits(binary.data(), binary.size()); }

ClientHello default_client_hello() { return {kProtocolVersion, message_schema_hash(), 0, 0}; }

std::optional<std::uint8_t> choose_codec(std::span<const std::uint8_t> of_client,
                                         std::span<const std::uint8_t> of_server) {
    static constexpr std::uint8_t kDefault[] = {DeltaCodec::kId};
    for (const std::uint8_t codec : of_client.empty() ? std::span<const std::uint8_t>(kDefault) : of_client) {
        if (std::find(of_server.begin(), of_server.end(), codec) != of_server.end()) return codec;
    }
    return std::nullopt;
}

Refusal check(const ClientHello& client, const ServerHello& server) {
    if (client.protocol_version != server.protocol_version) {
        return {RefusalReason::protocol_version, server.protocol_version, client.protocol_version};
    }
    if (client.schema_hash != server.schema_hash) {
        return {RefusalReason::schema_hash, server.schema_hash, client.schema_hash};
    }
    if (client.engine_version != 0 && client.engine_version != server.engine_version) {
        return {RefusalReason::engine_version, server.engine_version, client.engine_version};
    }
    if (client.scene_hash != 0 && client.scene_hash != server.scene_hash) {
        return {RefusalReason::scene_hash, server.scene_hash, client.scene_hash};
    }
    if (client.mode == SessionMode::mirror && !server.allow_mirror) return {RefusalReason::mirror_not_allowed, 0, 0};
    if (!choose_codec(client.codecs, {&server.snapshot_codec, 1})) {
        const std::uint64_t first = client.codecs.empty() ? DeltaCodec::kId : client.codecs.front();
        return {RefusalReason::no_common_codec, server.snapshot_codec, first};
    }
    return {};
}

std::string describe(const Refusal& refusal) {
    const char* what = "no reason was given";
    switch (refusal.reason) {
        case RefusalReason::none:
            break;
        case RefusalReason::protocol_version:
            what = "client and server speak different protocol versions";
            break;
        case RefusalReason::schema_hash:
            what = "client and server were built from different message schemas";
            break;
        case RefusalReason::engine_version:
            what = "client and server have different engine versions";
            break;
        case RefusalReason::scene_hash:
            what = "the server runs another scene than the client expects";
            break;
        case RefusalReason::room_full:
            what = "the room is full: try again later";
            break;
        case RefusalReason::overloaded:
            return "the server is overloaded and takes no new clients now: try again later";
        case RefusalReason::mirror_not_allowed:
            return "the server takes no clients that mirror its world: join by snapshots";
        case RefusalReason::no_common_codec:
            what = "client and server have no coder of snapshots in common";
            break;
    }
    char text[192];
    std::snprintf(text, sizeof text, "%s (server %016llx, client %016llx)", what,
                  static_cast<unsigned long long>(refusal.server_value),
                  static_cast<unsigned long long>(refusal.client_value));
    return text;
}

}  // namespace orrery::protocol
