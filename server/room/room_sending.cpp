// The part of Room that sends: key frames, snapshots and what waits, to each client.
#include <algorithm>

#include "protocol/session/scene_key_frame.h"
#include "server/room/room_client.h"

namespace orrery::server {

using namespace orrery::protocol;

bool Room::link_ready(const Client& client) const {
    return client.transport == Transport::datagrams || streams_->ready(client.link);
}

bool Room::ready_for_snapshot(const Client& client) const {
    return client.transport == Transport::datagrams || streams_->ready_for_snapshot(client.link);
}

const KeyFrame& Room::present_key_frame(bool from_scene) {
    std::optional<KeyFrame>& kept = from_scene ? scene_key_frame_ : key_frame_;
    if (kept) return *kept;
    ++stats_.key_frames_made;
    if (from_scene)
        kept = make_scene_key_frame(description_.scene_world, quantised_, codec_);
    else
        kept.emplace(quantised_, description_.shapes, description_.names, codec_, description_.vocabulary);
    return *kept;
}

void Room::update_clients(TimeNs now) {
    const std::uint64_t tick = world_->tick();
    if (quantised_.tick() != tick && watched()) quantise();
    for (auto& client : clients_) {
        if (!client) continue;
        ServerSession& session = client->session;
        session.send_board(board_, tick);
        const bool watches = session.slot() == kNoSlot;
        if (session.needs_key_frame() && (client->announced || watches))
            session.send_key_frame(present_key_frame(session.from_scene()), now);
        if (session.mirrors()) update_mirror(*client, client->announced || watches, now);
        const std::uint64_t every =
            watches ? overload_.ticks_per_spectator_snapshot(tick) : overload_.ticks_per_player_snapshot(tick);
        // To a link that takes no more, the newest snapshot of when it does is sent, not those of now.
        if (tick - client->last_snapshot_tick >= every && ready_for_snapshot(*client)) {
            session.send_snapshot(quantised_);
            client->last_snapshot_tick = tick;
        }
        flush(*client, now);
        if (session.state() == ServerSession::State::closed) {
            const bool kicked = session.goodbye() == GoodbyeReason::kicked;
            end_link(client->transport, client->link, kicked ? DisconnectReason::kicked : DisconnectReason::by_server,
                     now);
        }
    }
    mirror_log_.drop_state();
    handle_events(now);
}

void Room::update_mirror(Client& client, bool may_join, TimeNs now) {
    ServerSession& session = client.session;
    const std::uint64_t tick = world_->tick();
    if (may_join && session.needs_mirror_state(now)) {
        const auto save = [&](std::vector<std::uint8_t>& out) { world_->save(out); };
        session.send_mirror_state(mirror_log_.state(tick, save), tick, now);
    }
    session.send_tick_commands(mirror_log_, ready_for_snapshot(client));
}

void Room::flush(Client& client, TimeNs now) {
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (std::uint32_t i = 0; i < kMaxPacketsPerClientTick && link_ready(client); ++i) {
        const std::size_t size = client.session.write_packet(now, packet);
        if (size == 0) return;
        if (client.transport == Transport::streams)
            streams_->send_payload(client.link, Bytes(packet).first(size), now);
        else
            netcode_->send_payload(client.link, Bytes(packet).first(size), now);
    }
}

Result<Ok> Room::stop(TimeNs now, std::string_view reason) {
    for (auto& client : clients_) {
        if (!client) continue;
        client->session.send_board(board_, world_->tick());
        flush(*client, now);
        client->session.close(GoodbyeReason::server_stopped, now, reason);
        flush(*client, now);
    }
    netcode_->stop(now);
    if (streams_) streams_->stop(now);
    handle_events(now);
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        if (seats_[slot].state == Seat::State::held) free_seat(slot, LeaveReason::stopped);
    }
    if (recording_error_) return *recording_error_;
    return recorder_ ? recorder_->close() : Result<Ok>(Ok{});
}

}  // namespace orrery::server
