// One client of a room, inside of Room.
#pragma once

#include <optional>
#include <span>

#include "protocol/netcode/packet_batch.h"
#include "protocol/session/token_role.h"
#include "server/room/room.h"

namespace orrery::server {

inline constexpr std::uint32_t kNoClient = ~std::uint32_t{0};  // of Room::client_of_link_

struct Room::Client {
    protocol::ServerSession session;
    std::uint32_t index = 0;
    protocol::Transport transport = protocol::Transport::datagrams;
    std::uint32_t link = 0;  // the index in the transport
    std::uint64_t id = 0;
    protocol::TokenRole role = protocol::TokenRole::player;
    bool returned = false;   // to a seat that was held
    bool announced = false;  // to the director, as joined
    bool refusal_counted = false;
    std::uint64_t last_snapshot_tick = 0;

    // What it is sent in a tick, besides what waits in its session.
    struct Plan {
        const protocol::KeyFrame* key_frame = nullptr;                       // null: none
        std::optional<std::span<const protocol::SharedBytes>> mirror_state;  // empty: the world is too large
        bool tick_commands = false;                                          // of the last ticks, beside the stream
        bool snapshot = false;
        std::size_t unsent = 0;  // of its stream: see protocol::StreamSink
    };
    Plan plan;
    protocol::PacketBatch packets;  // sealed, to be handed over

    Client(const protocol::RoomDescription& room, const protocol::SnapshotCodec& codec, std::uint16_t slot,
           protocol::Transport by, protocol::TimeNs now)
        : session(room, codec, slot, now, protocol::server_channel_config(by == protocol::Transport::streams)),
          transport(by) {}

    bool ending() const {
        return session.state() == protocol::ServerSession::State::closing ||
               session.state() == protocol::ServerSession::State::closed;
    }
};

}  // namespace orrery::server
