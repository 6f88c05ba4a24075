// The part of Room that has to do with its clients: what arrives, seats, messages, ends.
#include <algorithm>

#include "protocol/session/token_role.h"
#include "server/room/room_client.h"

namespace orrery::server {

using namespace orrery::protocol;

void Room::receive(const Address& from, Bytes datagram, TimeNs arrival) { inbox_.push(from, datagram, arrival); }

void Room::stream_opened(StreamConnection connection, const Address& from, TimeNs arrival) {
    stream_inbox_.opened(connection, from, arrival);
}

void Room::stream_received(StreamConnection connection, Bytes message, TimeNs arrival) {
    if (!streams_ || stream_inbox_.received(connection, message, arrival)) return;
    stream_sink_->close(connection, kStreamEnded + static_cast<std::uint16_t>(DisconnectReason::by_server),
                        "the server cannot take so many messages");
    stream_inbox_.closed(connection, true, arrival);
}

void Room::stream_closed(StreamConnection connection, bool lost, TimeNs arrival) {
    stream_inbox_.closed(connection, lost, arrival);
}

void Room::drain_inbox(TimeNs now, std::uint64_t unix_now_s) {
    netcode_->update(now, unix_now_s);
    for (const DatagramQueue::Entry& entry : inbox_.entries()) {
        netcode_->receive(entry.address, inbox_.bytes_of(entry), std::min(entry.time, now));
        handle_events(std::min(entry.time, now));
    }
    inbox_.clear();
    handle_events(now);
    if (streams_) drain_streams(now);
}

void Room::drain_streams(TimeNs now) {
    streams_->update(now);
    for (const StreamQueue::Entry& entry : stream_inbox_.entries()) {
        const TimeNs arrival = std::min(entry.time, now);
        switch (entry.kind) {
            case StreamQueue::Kind::opened:
                streams_->opened(entry.connection, entry.address, arrival);
                break;
            case StreamQueue::Kind::received:
                streams_->received(entry.connection, stream_inbox_.bytes_of(entry), arrival);
                break;
            case StreamQueue::Kind::closed:
                streams_->closed(entry.connection, entry.lost, arrival);
                break;
        }
        handle_events(arrival);
    }
    stream_inbox_.clear();
    handle_events(now);
}

void Room::handle_events(TimeNs now) {
    NetcodeServerEvent event;
    while (netcode_->next_event(event)) handle_event(Transport::datagrams, event, now);
    while (streams_ && streams_->next_event(event)) handle_event(Transport::streams, event, now);
}

void Room::handle_event(Transport transport, const NetcodeServerEvent& event, TimeNs now) {
    const std::uint32_t index = client_of_link_[static_cast<std::size_t>(transport)][event.client_index];
    switch (event.kind) {
        case NetcodeServerEvent::Kind::connected:
            connect(transport, event, now);
            break;
        case NetcodeServerEvent::Kind::disconnected:
            if (index != kNoClient) drop(index, event.reason);
            break;
        case NetcodeServerEvent::Kind::payload:
            if (index != kNoClient) clients_[index]->session.receive_packet(event.bytes, now);
            break;
    }
}

// A transport ends the connection that a newer one of its own replaces. One of the other transport ends here.
std::optional<std::uint32_t> Room::index_for(std::uint64_t client_id, TimeNs now) {
    for (const auto& other : clients_) {
        if (!other || other->id != client_id) continue;
        const std::uint32_t index = other->index;
        end_link(other->transport, other->link, DisconnectReason::replaced, now);
        drop(index, DisconnectReason::replaced);
        break;
    }
    const auto free = std::find(clients_.begin(), clients_.end(), nullptr);
    if (free == clients_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(free - clients_.begin());
}

void Room::end_link(Transport transport, std::uint32_t link, DisconnectReason reason, TimeNs now) {
    if (transport == Transport::streams)
        streams_->disconnect(link, now, reason);
    else
        netcode_->disconnect(link, now, reason);
}

Transport Room::transport_of(std::uint32_t client) const {
    return client < clients_.size() && clients_[client] ? clients_[client]->transport : Transport::datagrams;
}

void Room::connect(Transport transport, const NetcodeServerEvent& event, TimeNs now) {
    UserData user_data{};
    std::copy_n(event.bytes.begin(), std::min(event.bytes.size(), user_data.size()), user_data.begin());
    const TokenIdentity identity = read_token_identity(user_data).value_or(TokenIdentity{});
    const std::optional<std::uint32_t> index = index_for(event.client_id, now);
    if (!index) return end_link(transport, event.client_index, DisconnectReason::by_server, now);
    name_hashed_seat(event.client_id);
    const JoinAnswer answer = ask_to_join(event.client_id, identity);
    const std::optional<std::uint16_t> held = seats_.held_by(event.client_id);
    const std::optional<std::uint16_t> slot = take_seat(answer, event.client_id);
    auto& client = clients_[*index];
    client = std::make_unique<Client>(description_, codec_, slot.value_or(kNoSlot), transport, now);
    client->index = *index;
    client->link = event.client_index;
    client->id = event.client_id;
    client_of_link_[static_cast<std::size_t>(transport)][event.client_index] = *index;
    client->role = identity.role;
    // A player without a seat watches.
    const bool watches = identity.role == TokenRole::player && !slot;
    client->session.set_role(watches ? TokenRole::spectator : identity.role);
    client->returned = held && slot == held;
    if (observer_) observer_->connected(*index, event.client_id, event.address);
    if (answer.kind == JoinAnswer::Kind::refuse)
        client->session.close(GoodbyeReason::refused_by_game, now, answer.reason);
    // Last, since the director is told: it may kick the client.
    if (held && slot != held) free_seat(*held, LeaveReason::left);
}

// A slot that a director drives is taken from it only if no other is free.
std::optional<std::uint16_t> Room::free_slot() const {
    const auto idle = [&](std::uint16_t slot) { return seats_[slot].leaving || !world_->slot_taken(slot); };
    const std::optional<std::uint16_t> slot = seats_.lowest_free(idle);
    return slot ? slot : seats_.lowest_free([](std::uint16_t) { return true; });
}

JoinAnswer Room::ask_to_join(std::uint64_t client_id, const TokenIdentity& identity) const {
    JoinRequest request;
    request.client_id = client_id;
    request.role = identity.role;
    request.user_data = identity.game_data;
    request.held_slot = seats_.held_by(client_id);
    request.free_slot = free_slot();
    if (closed_because_ && !request.held_slot) return JoinAnswer::refuse(*closed_because_);
    if (director_) return director_->on_join_request(request);
    return identity.role == TokenRole::player ? JoinAnswer::seat() : JoinAnswer::spectator();
}

std::optional<std::uint16_t> Room::take_seat(const JoinAnswer& answer, std::uint64_t client_id) {
    if (answer.kind != JoinAnswer::Kind::seat) return std::nullopt;
    const std::optional<std::uint16_t> held = seats_.held_by(client_id);
    std::optional<std::uint16_t> slot = answer.slot ? answer.slot : held ? held : free_slot();
    if (!slot || *slot >= seats_.size()) return std::nullopt;
    if (slot != held && seats_[*slot].state != Seat::State::free) return std::nullopt;
    seats_.take(*slot, client_id);
    return slot;
}

void Room::drop(std::uint32_t index, DisconnectReason reason) {
    const std::unique_ptr<Client> client = std::move(clients_[index]);
    client_of_link_[static_cast<std::size_t>(client->transport)][client->link] = kNoClient;
    const ServerSession& session = client->session;
    const Departure how{reason, session.goodbye(), session.refusal().reason};
    if (reason == DisconnectReason::by_peer) {  // what it has sent before counts
        process(*client, ServerSession::Joins::shed);
        hand_on_messages(*client);
    }
    give_seat_up(*client, how);
    const InputCounters& inputs = session.inputs().counters();
    stats_.inputs_applied += inputs.applied;
    stats_.inputs_late += inputs.late;
    stats_.inputs_repeated += inputs.repeated;
    stats_.malformed_messages += session.malformed_messages();
    stats_.world_events_dropped += session.world_events_dropped();
    if (observer_) observer_->disconnected(client->index, client->id, how);
}

namespace {

// Whether the client fell silent, or could not keep up, and may come back.
bool was_lost(const Departure& how) {
    if (!how.goodbye) return how.how == DisconnectReason::timed_out;
    return *how.goodbye == GoodbyeReason::unacknowledged || *how.goodbye == GoodbyeReason::too_slow;
}

LeaveReason leave_reason(const Departure& how) {
    if (was_lost(how)) return LeaveReason::lost;
    if (how.how == DisconnectReason::server_stopped || how.goodbye == GoodbyeReason::server_stopped)
        return LeaveReason::stopped;
    return how.goodbye || how.how == DisconnectReason::by_server ? LeaveReason::ended : LeaveReason::left;
}

}  // namespace

void Room::give_seat_up(Client& client, const Departure& how) {
    const std::uint16_t slot = client.session.slot();
    if (slot == kNoSlot || seats_[slot].client_id != client.id || seats_[slot].state != Seat::State::taken) return;
    // The connection that replaces this one comes next, and takes the seat.
    const bool replaced = how.how == DisconnectReason::replaced;
    const std::uint64_t hold = replaced ? std::max<std::uint64_t>(1, hold_seat_ticks_) : hold_seat_ticks_;
    if (!seats_[slot].in_world || !(replaced || (was_lost(how) && hold > 0))) return free_seat(slot, leave_reason(how));
    seats_.hold(slot, world_->tick() + hold);
    if (replaced) return;
    record_player(slot, replay::PlayerChange::lost);
    if (director_) director_->lost(slot, client.id);
}

void Room::free_seat(std::uint16_t slot, LeaveReason reason) {
    if (!seats_[slot].in_world) return seats_.free(slot);
    record_player(slot, replay::PlayerChange::left, reason);
    seats_.free(slot);
    if (director_) director_->left(slot, reason);
}

void Room::end_holds(std::uint64_t tick) {
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        if (seats_[slot].state == Seat::State::held && seats_[slot].held_until_tick < tick)
            free_seat(slot, LeaveReason::lost);
    }
}

std::vector<Room::Member> Room::members() const {
    std::vector<Member> members;
    for (const auto& client : clients_) {
        if (!client || client->ending()) continue;
        Member& member = members.emplace_back();
        member.client_id = client->id;
        member.role = client->role;
        if (client->session.slot() != kNoSlot) member.slot = client->session.slot();
    }
    return members;
}

bool Room::kick(std::uint64_t client_id, std::string_view reason) {
    netcode_->kick_id(client_id, unix_now_s_ + token_lifetime_s_);
    name_hashed_seat(client_id);
    bool found = false;
    for (auto& client : clients_) {
        if (!client || client->id != client_id) continue;
        flush(*client, now_);  // what the game said before
        client->session.close(GoodbyeReason::kicked, now_, reason);
        found = true;
    }
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        const Seat& seat = seats_[slot];
        if (seat.state == Seat::State::free || seat.client_id != client_id) continue;
        found = true;
        free_seat(slot, LeaveReason::kicked);
    }
    return found;
}

void Room::process(Client& client, ServerSession::Joins joins) {
    const std::uint64_t tick = world_->tick();
    client.session.process(tick, grid_.start_of(tick + 1), grid_.tick_duration(), joins, now_);
}

void Room::process_sessions() {
    const auto joins =
        overload_.sheds_joins(world_->tick()) ? ServerSession::Joins::shed : ServerSession::Joins::welcome;
    for (auto& client : clients_) {
        if (!client) continue;
        process(*client, joins);
        if (client->session.refusal().reason != RefusalReason::none && !client->refusal_counted) {
            client->refusal_counted = true;
            ++stats_.refused_clients;
            if (observer_) observer_->refused(client->index, client->session.refusal());
        }
        hand_on_messages(*client);
    }
}

ClientMessage Room::message_of(const Client& client, const ServerSession::Received& message) const {
    ClientMessage out;
    out.client_id = client.id;
    if (client.session.slot() != kNoSlot) out.slot = client.session.slot();
    out.type = message.type;
    out.reliable = message.reliable;
    out.bytes = message.bytes;
    return out;
}

void Room::hand_on_messages(Client& client) {
    ServerSession::Received message;
    if (client.session.slot() != kNoSlot && !client.announced) return;  // its messages wait until it has joined
    while (!client.ending() && client.session.next_message(message)) {
        if (observer_) observer_->message(client.index, client.id, message);
        if (director_) director_->on_message(message_of(client, message));
    }
}

SendStatus Room::send(const Recipient& to, std::uint16_t type, Bytes bytes, bool reliable) {
    SendStatus status = SendStatus::ok;
    bool sent = false;
    for (auto& client : clients_) {
        if (!client) continue;
        const std::uint16_t slot = client->session.slot();
        const bool meant = to.kind == Recipient::Kind::everyone ||
                           (to.kind == Recipient::Kind::client && client->id == to.client_id) ||
                           (to.kind == Recipient::Kind::slot && slot == to.slot && slot != kNoSlot) ||
                           (to.kind == Recipient::Kind::players && slot != kNoSlot) ||
                           (to.kind == Recipient::Kind::spectators && slot == kNoSlot);
        if (!meant) continue;
        const SendStatus one = client->session.send_message(type, bytes, reliable);
        if (one == SendStatus::failed) continue;  // not yet in session, or no longer
        sent = true;
        if (status == SendStatus::ok) status = one;
    }
    return sent || to.many() ? status : SendStatus::failed;
}

}  // namespace orrery::server
