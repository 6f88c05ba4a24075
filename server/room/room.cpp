#include "server/room/room.h"

#include <algorithm>
#include <cmath>

#include "protocol/session/handshake.h"
#include "protocol/session/scene_key_frame.h"
#include "protocol/session/token_role.h"
#include "server/room/rejections.h"

namespace orrery::server {

using namespace orrery::protocol;

struct Room::Client {
    ServerSession session;
    std::uint32_t index = 0;
    Transport transport = Transport::datagrams;
    std::uint32_t link = 0;  // the index in the transport
    std::uint64_t id = 0;
    TokenRole role = TokenRole::player;
    bool returned = false;   // to a seat that was held
    bool announced = false;  // to the director, as joined
    bool refusal_counted = false;
    std::uint64_t last_snapshot_tick = 0;

    Client(const RoomDescription& room, const SnapshotCodec& codec, std::uint16_t slot, Transport by, TimeNs now)
        : session(room, codec, slot, now, server_channel_config(by == Transport::streams)), transport(by) {}

    bool ending() const {
        return session.state() == ServerSession::State::closing || session.state() == ServerSession::State::closed;
    }
};

namespace {

constexpr std::uint32_t kNoClient = ~std::uint32_t{0};

// A token whose role this server does not know is denied, whatever the host says.
NetcodeServerConfig with_role_check(NetcodeServerConfig config) {
    config.admit = [of_the_host = std::move(config.admit)](std::uint64_t client_id, const UserData& user_data) {
        if (!read_token_identity(user_data)) return std::optional(DenyReason::bad_token_role);
        return of_the_host ? of_the_host(client_id, user_data) : std::nullopt;
    };
    return config;
}

}  // namespace

Room::Room(std::unique_ptr<sim::World> world, std::unique_ptr<Recorder> recorder, TimeNs now)
    : world_(std::move(world)),
      recorder_(std::move(recorder)),
      grid_(now, world_->definition().tick_rate_hz),
      overload_(world_->definition().tick_rate_hz),
      now_(now),
      seats_(world_->definition().slots.size()) {}

Room::~Room() = default;

Result<std::unique_ptr<Room>> Room::create(const RoomConfig& config, const LoadedScene& scene,
                                           std::unique_ptr<Recorder> recorder, RandomSource& random, DatagramSink& sink,
                                           TimeNs now) {
    const Result<SharedScene> shared = share_scene(scene);
    if (!shared) return Error{shared.error().code, scene.name + ": " + shared.error().place, shared.error().message};
    return create(config, *shared, std::move(recorder), random, sink, now);
}

Result<std::unique_ptr<Room>> Room::create(const RoomConfig& config, const SharedScene& scene,
                                           std::unique_ptr<Recorder> recorder, RandomSource& random, DatagramSink& sink,
                                           TimeNs now) {
    if (config.allow_mirror && !config.serve_scene)
        return Error{ErrorCode::invalid_argument, "allow_mirror",
                     "a mirror needs the scene and shows all of the room: set serve_scene, or leave allow_mirror off"};
    auto world = sim::World::create(
        scene.definition,
        {.target = config.target, .history_ticks = config.history_ticks, .rig_device = config.rig_device});
    if (!world) return Error{world.error().code, scene.name + ": " + world.error().place, world.error().message};
    if ((*world)->definition().shapes.size() > kMaxShapes) {
        return Error{ErrorCode::limit_reached, scene.name + ": shapes",
                     "clients accept at most " + std::to_string(kMaxShapes) +
                         " shapes (kMaxShapes): use a shape for several bodies"};
    }
    std::unique_ptr<Room> room(new Room(std::move(world).value(), std::move(recorder), now));
    auto netcode = NetcodeServer::create(with_role_check(config.netcode), random, sink);
    if (!netcode) return netcode.error();
    room->netcode_ = std::move(netcode).value();
    room->executor_ = config.executor;
    room->hold_seat_ticks_ = config.hold_seat_ticks;
    room->token_lifetime_s_ = config.token_lifetime_s;
    room->clients_.resize(room->netcode_->max_clients());
    room->stream_sink_ = config.streams;
    if (config.streams)
        room->streams_ =
            std::make_unique<StreamServer>(config.netcode.protocol_id, room->netcode_->gate(), *config.streams);
    for (auto& links : room->client_of_link_) links.assign(room->clients_.size(), kNoClient);
    room->describe(scene);
    room->event_rule_ = config.events;
    if (config.serve_scene) room->description_.serve_scene(scene.binary);
    room->description_.hello.allow_mirror = config.allow_mirror;
    if (!fits(room->description_.vocabulary)) {
        return Error{ErrorCode::limit_reached, scene.name + ": templates",
                     "the names of the scene's templates, their bodies and its materials are more than clients accept "
                     "(kMaxVocabularyBytes): use fewer or shorter names"};
    }
    room->quantised_.update(*room->world_);
    const KeyFrame first(room->quantised_, room->description_.shapes, room->description_.names, room->codec_,
                         room->description_.vocabulary);
    if (first.size_bytes() > kMaxKeyFrameBytes) {
        return Error{ErrorCode::limit_reached, scene.name + ": bodies",
                     "the key frame of the " + std::to_string(room->quantised_.living()) + " bodies takes " +
                         std::to_string(first.size_bytes()) + " bytes, more than " + std::to_string(kMaxKeyFrameBytes) +
                         " (kMaxKeyFrameBytes): serve a scene of fewer bodies, or of fewer and shorter names"};
    }
    return room;
}

void Room::describe(const SharedScene& scene) {
    const sim::WorldDef& def = world_->definition();
    description_.hello.protocol_version = kProtocolVersion;
    description_.hello.schema_hash = message_schema_hash();
    description_.hello.engine_version = sim::kEngineVersion;
    description_.hello.scene_hash = scene.scene_hash;
    description_.hello.tick_rate_hz = def.tick_rate_hz;
    description_.hello.snapshot_codec = codec_.id();
    description_.hello.body_capacity =
        static_cast<std::uint32_t>(std::min<std::size_t>(def.bodies.size() + kSpawnHeadroom, kMaxSnapshotBodyIndex));
    description_.hello.scene_name = scene.name.substr(0, kMaxWireNameBytes);
    description_.begin_with(describe_scene(*world_, scene.binary));
}

void Room::set_director(Director* director) {
    director_ = director;
    if (director_) director_->on_start(*this);
}

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

std::uint32_t Room::advance(TimeNs now, std::uint64_t unix_now_s) {
    const TickGrid::Due due = grid_.due(world_->tick(), now);
    if (due.ticks == 0) return 0;
    now_ = now;
    unix_now_s_ = unix_now_s;
    drain_inbox(now, unix_now_s);
    process_sessions();
    if (due.slipped_ns > 0) {
        ++stats_.slips;
        stats_.slipped_ns += due.slipped_ns;
        overload_.slipped(world_->tick());
        const Slip slip{world_->tick() + 1, due.slipped_ns};
        for (auto& client : clients_) {
            if (client) client->session.send_slip(slip);
        }
        if (observer_) observer_->slipped(slip.tick, slip.late_ns);
    }
    for (std::uint32_t i = 0; i < due.ticks; ++i) {
        step(i == 0 ? due.slipped_ns : 0);
        if (halted_) return i;
    }
    update_clients(now);
    return due.ticks;
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

bool Room::link_ready(const Client& client) const {
    return client.transport == Transport::datagrams || streams_->ready(client.link);
}

bool Room::ready_for_snapshot(const Client& client) const {
    return client.transport == Transport::datagrams || streams_->ready_for_snapshot(client.link);
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
    if (director_ && !replaced) director_->lost(slot, client.id);
}

void Room::free_seat(std::uint16_t slot, LeaveReason reason) {
    const bool played = seats_[slot].in_world;
    seats_.free(slot);
    if (director_ && played) director_->left(slot, reason);
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

void Room::tell_events() {
    told_events_.clear();
    choose_world_events(world_->events(), event_rule_, told_events_);
    for (auto& client : clients_) {
        if (client) client->session.send_world_events(world_->tick(), told_events_);
    }
}

// In the canonical order: leaves, joins, the director's orders, one control a slot in slot order.
void Room::gather_commands(std::uint64_t tick) {
    commands_.clear();
    end_holds(tick);
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        if (!seats_[slot].leaving) continue;
        seats_[slot].leaving = false;
        seats_[slot].control = {};
        commands_.push_back(sim::Command::leave(slot));
    }
    gather_joins();
    gather_orders();
    gather_controls(tick);
}

void Room::gather_joins() {
    for (auto& client : clients_) {
        if (!client || client->announced || !client->session.welcome() || client->session.slot() == kNoSlot) continue;
        const std::uint16_t slot = client->session.slot();
        if (!seats_[slot].in_world) {
            if (world_->slot_driven(slot)) {  // it is the client's in the next tick
                vacates_.push_back(slot);
                continue;
            }
            commands_.push_back(sim::Command::join(slot));
            seats_[slot].in_world = true;
        }
        client->announced = true;
        if (director_) director_->joined(slot, client->id, client->returned);
    }
}

// Controls that do not differ from what the world holds already are left out.
void Room::gather_controls(std::uint64_t tick) {
    std::vector<WireControl> wanted(seats_.size());
    for (auto& client : clients_) {
        // Who is being sent away steers no longer.
        if (client && client->announced && client->session.state() == ServerSession::State::playing)
            wanted[client->session.slot()] = client->session.inputs().take(tick);
    }
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        if (!seats_[slot].in_world || wanted[slot] == seats_[slot].control) continue;
        seats_[slot].control = wanted[slot];
        commands_.push_back(sim::Command::control(slot, from_wire(wanted[slot])));
    }
}

void Room::gather_orders() {
    std::uint32_t sequence = 0;
    for (const std::uint16_t slot : vacates_) {
        commands_.push_back(sim::Command::vacate(slot));
        commands_.back().sequence = sequence++;
    }
    vacates_.clear();
    if (!director_) return;
    orders_.clear();
    director_->on_tick(*world_, orders_);
    const std::uint32_t most = sequence + static_cast<std::uint32_t>(kMaxOrdersPerTick);
    DroppedOrders dropped;
    for (sim::Command& order : orders_) {
        if (!sim::is_director_order(order.kind)) {
            ++dropped.not_a_directors;
        } else if (order.kind == sim::CommandKind::occupy && order.slot < seats_.size() &&
                   seats_[order.slot].state != Seat::State::free) {
            ++dropped.of_taken_seats;
        } else if (sequence == most) {
            ++dropped.too_many;
        } else {
            order.sequence = sequence++;
            commands_.push_back(order);
        }
    }
    const std::uint32_t all = dropped.not_a_directors + dropped.too_many + dropped.of_taken_seats;
    if (all == 0) return;
    stats_.orders_dropped += all;
    if (observer_) observer_->orders_dropped(world_->tick() + 1, dropped);
}

void Room::step(std::uint64_t slipped_ns) {
    gather_commands(world_->tick() + 1);
    const sim::StepStatus status = world_->step(commands_, executor_, stage_observer_);
    if (status != sim::StepStatus::ok) {
        halted_ = sim::step_error(status, world_->tick() + 1);
        return;
    }
    if (!commands_.empty()) stats_.rejected_commands += count_rejected(world_->events());
    const sim::HashTree hash = world_->hash();
    record(slipped_ns, hash);
    if (description_.hello.allow_mirror) mirror_log_.add(world_->tick(), commands_, hash);
    if (watched()) {
        quantise();
    } else {
        key_frame_.reset();
        scene_key_frame_.reset();
    }
    for (auto& client : clients_) {
        if (client) client->session.send_changes(quantised_);
    }
    if (watched()) tell_events();
    if (observer_) observer_->stepped(*world_, hash.root);
}

bool Room::watched() const {
    return std::any_of(clients_.begin(), clients_.end(), [](const auto& client) { return client != nullptr; });
}

// A quarter of a large scene's tick, and of no use while nobody looks. What changes meanwhile is found to have changed
// later than it did, before anyone was told of it.
void Room::quantise() {
    quantised_.update(*world_);
    for (std::optional<KeyFrame>* kept : {&key_frame_, &scene_key_frame_}) {
        if (!*kept) continue;
        (*kept)->follow(quantised_);
        if (!(*kept)->serves(quantised_.tick(), description_.hello.tick_rate_hz)) kept->reset();
    }
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

void Room::record(std::uint64_t slipped_ns, const sim::HashTree& hash) {
    if (!recorder_) return;
    Result<Ok> written = recorder_->append_tick(world_->tick(), commands_, hash, slipped_ns);
    if (written && recorder_->keyframe_due()) {
        saved_.clear();
        world_->save(saved_);
        written = recorder_->append_keyframe(saved_);
        // A state too large for a keyframe leaves the recording sound.
        if (!written && written.error().code == ErrorCode::limit_reached) written = Ok{};
    }
    if (written) {
        stats_.last_recorded_tick = recorder_->last_tick_written();
        return;
    }
    if (observer_) observer_->recording_failed(written.error());
    recorder_.reset();
    recording_error_ = written.error();
    stats_.recording_failed = true;
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
    if (may_join && session.needs_mirror_state(now) &&
        mirror_log_.may_have_state(tick, !session.had_mirror_state(), now)) {
        const auto save = [&](std::vector<std::uint8_t>& out) {
            world_->save(out);
            ++stats_.mirror_saves;
        };
        session.send_mirror_state(mirror_log_.state(tick, world_->stats().bodies, now, save), tick, now);
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

RoomStats Room::stats() const {
    RoomStats stats = stats_;
    stats.tick = world_->tick();
    stats.datagrams_dropped = inbox_.dropped();
    stats.netcode = netcode_->counters();
    if (streams_) stats.streams = streams_->counters();
    for (const auto& client : clients_) {
        if (!client) continue;
        ++stats.clients;
        if (client->session.state() == ServerSession::State::playing) ++stats.playing;
        const InputCounters& inputs = client->session.inputs().counters();
        stats.inputs_applied += inputs.applied;
        stats.inputs_late += inputs.late;
        stats.inputs_repeated += inputs.repeated;
        stats.malformed_messages += client->session.malformed_messages();
        stats.world_events_dropped += client->session.world_events_dropped();
    }
    return stats;
}

}  // namespace orrery::server
