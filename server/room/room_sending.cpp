// The part of Room that sends. What clients share is made in sequence. Then each client's messages are written, and its
// packets sealed into a buffer of its own, one task a client. At last the packets are handed to the transports, in
// order of client index. So what is sent does not depend on the number of threads.
#include <algorithm>
#include <array>

#include "protocol/session/scene_key_frame.h"
#include "server/room/room_client.h"
#include "sim/base/parallel.h"

namespace orrery::server {

using namespace orrery::protocol;

namespace {

// What a client takes, and what the walk over the bodies for its snapshot takes beside it. Less work than the least is
// not worth the waking of a thread.
constexpr std::size_t kClientWork_ns = 5'000, kBodyWork_ns = 2, kLeastSharedWork_ns = 40'000;

}  // namespace

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
    if (quantised_.tick() != world_->tick() && watched()) quantise();
    receivers_.clear();
    for (auto& client : clients_) {
        if (!client) continue;
        plan(*client, now);
        receivers_.push_back(client.get());
    }
    write_all(now);
    for (Client* client : receivers_) {
        hand_over(*client, now);
        if (client->session.state() != ServerSession::State::closed) continue;
        const bool kicked = client->session.goodbye() == GoodbyeReason::kicked;
        end_link(client->transport, client->link, kicked ? DisconnectReason::kicked : DisconnectReason::by_server, now);
    }
    mirror_log_.drop_state();
    handle_events(now);
}

// Makes what clients share.
void Room::plan(Client& client, TimeNs now) {
    const std::uint64_t tick = world_->tick();
    const ServerSession& session = client.session;
    const bool watches = session.slot() == kNoSlot, may_join = client.announced || watches;
    client.plan = {};
    client.plan.unsent = unsent(client);
    if (may_join && session.needs_key_frame()) client.plan.key_frame = &present_key_frame(session.from_scene());
    if (may_join && session.needs_mirror_state(now) &&
        mirror_log_.may_have_state(tick, !session.had_mirror_state(), now)) {
        const auto save = [&](std::vector<std::uint8_t>& out) {
            world_->save(out);
            ++stats_.mirror_saves;
        };
        client.plan.mirror_state = mirror_log_.state(tick, world_->stats().bodies, now, save);
    }
    // To a link that takes no more, the newest snapshot of when it does is sent, not those of now.
    const bool takes_more = client.plan.unsent <= kMaxUnsentBeforeSnapshot;
    const std::uint64_t every =
        watches ? overload_.ticks_per_spectator_snapshot(tick) : overload_.ticks_per_player_snapshot(tick);
    client.plan.tick_commands = takes_more;
    client.plan.snapshot = takes_more && tick - client.last_snapshot_tick >= every;
    if (client.plan.snapshot) client.last_snapshot_tick = tick;
}

void Room::write_all(TimeNs now) {
    const auto count = static_cast<std::uint32_t>(receivers_.size());
    const std::size_t work = count * (kClientWork_ns + quantised_.bodies().size() * kBodyWork_ns);
    if (!executor_ || work < kLeastSharedWork_ns) {
        for (Client* client : receivers_) write(*client, now);
    } else {
        sim::for_chunks(*executor_, count, 1,
                        [&](std::uint32_t i, std::uint32_t, std::uint32_t) { write(*receivers_[i], now); });
    }
}

// Changes this client alone, and its slot in the transport, so that threads may write to different clients at once.
void Room::write(Client& client, TimeNs now) const {
    ServerSession& session = client.session;
    const Client::Plan& plan = client.plan;
    session.send_board(board_, world_->tick());
    if (plan.key_frame) session.send_key_frame(*plan.key_frame, now);
    if (plan.mirror_state) session.send_mirror_state(*plan.mirror_state, world_->tick(), now);
    session.send_tick_commands(mirror_log_, plan.tick_commands);
    if (plan.snapshot) session.send_snapshot(quantised_);
    seal(client, now);
}

void Room::seal(Client& client, TimeNs now) const {
    const bool stream = client.transport == Transport::streams;
    const auto takes_more = [&] { return !stream || client.plan.unsent + client.packets.bytes() <= kMaxUnsentBytes; };
    if (clock_) now = std::max(now, clock_());
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (std::uint32_t i = 0; i < kMaxPacketsPerClientTick && takes_more(); ++i) {
        const std::size_t size = client.session.write_packet(now, packet);
        if (size == 0) return;
        if (stream)
            client.packets.add(Bytes(packet).first(size));
        else
            netcode_->seal_payload(client.link, Bytes(packet).first(size), now, client.packets);
    }
}

void Room::hand_over(Client& client, TimeNs now) {
    if (client.transport == Transport::datagrams) return netcode_->hand_over(client.link, client.packets);
    client.packets.hand_over([&](Bytes packet) { streams_->send_payload(client.link, packet, now); });
}

std::size_t Room::unsent(const Client& client) const {
    if (client.transport == Transport::datagrams) return 0;
    return std::min(streams_->unsent(client.link), kMaxUnsentBytes + 1);  // that of no connection is the largest number
}

void Room::flush(Client& client, TimeNs now) {
    client.plan.unsent = unsent(client);
    seal(client, now);
    hand_over(client, now);
}

Result<Ok> Room::stop(TimeNs now, std::string_view reason) {
    say_goodbye(now, reason);
    return close_recording();
}

void Room::say_goodbye(TimeNs now, std::string_view reason) {
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
}

Result<Ok> Room::close_recording() {
    if (!recorder_) return Ok{};
    const Result<Ok> closed = recorder_->close();
    tell_recording_news();
    return closed;
}

}  // namespace orrery::server
