#include "server/room/room.h"

#include <algorithm>
#include <cmath>

#include "protocol/session/handshake.h"
#include "server/room/rejections.h"

namespace orrery::server {

using namespace orrery::protocol;

struct Room::Client {
    ServerSession session;
    std::uint32_t index = 0;
    std::uint64_t id = 0;
    bool joined = false;  // its player is in the world, from the next tick on
    bool refusal_counted = false;
    WireControl held{};  // what the world holds for its slot
    std::uint64_t last_snapshot_tick = 0;

    Client(const RoomDescription& room, const SnapshotCodec& codec, std::uint16_t slot, const NetcodeServerEvent& event,
           TimeNs now)
        : session(room, codec, slot, now), index(event.client_index), id(event.client_id) {}
};

Room::Room(std::unique_ptr<sim::World> world, std::unique_ptr<Recorder> recorder, TimeNs now)
    : world_(std::move(world)),
      recorder_(std::move(recorder)),
      grid_(now, world_->definition().tick_rate_hz),
      overload_(world_->definition().tick_rate_hz) {}

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
    auto netcode = NetcodeServer::create(config.netcode, random, sink);
    if (!netcode) return netcode.error();
    room->netcode_ = std::move(netcode).value();
    room->executor_ = config.executor;
    room->clients_.resize(room->netcode_->max_clients());
    room->describe(scene);
    room->event_rule_ = config.events;
    if (config.serve_scene) room->description_.serve_scene(scene.binary);
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
    for (const sim::ShapeDef& shape : def.shapes)  // what clients are told of it
        description_.shapes.push_back({{}, shape.type, shape.radius, shape.half_height, shape.half_extents});
    for (const sim::PrefabDef& prefab : def.prefabs) {
        TemplateNames& names = description_.vocabulary.templates.emplace_back();
        names.name = prefab.name;
        for (const sim::BodyDef& body : prefab.bodies) names.members.push_back(body.name);
    }
    for (const sim::MaterialDef& material : def.materials) description_.vocabulary.materials.push_back(material.name);
    // A new world's bodies are those of the definition, in its order.
    std::vector<sim::BodyState> bodies;
    world_->read_bodies(bodies);
    for (std::size_t i = 0; i < def.bodies.size(); ++i) {
        if (!def.bodies[i].name.empty()) description_.names.emplace(bodies[i].id, def.bodies[i].name);
    }
}

void Room::receive(const Address& from, Bytes datagram, TimeNs arrival) { inbox_.push(from, datagram, arrival); }

std::uint32_t Room::advance(TimeNs now, std::uint64_t unix_now_s) {
    const TickGrid::Due due = grid_.due(world_->tick(), now);
    if (due.ticks == 0) return 0;
    drain_inbox(now, unix_now_s);
    process_sessions(now);
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
}

void Room::handle_events(TimeNs now) {
    NetcodeServerEvent event;
    while (netcode_->next_event(event)) {
        switch (event.kind) {
            case NetcodeServerEvent::Kind::connected:
                connect(event, now);
                break;
            case NetcodeServerEvent::Kind::disconnected:
                drop(event);
                break;
            case NetcodeServerEvent::Kind::payload:
                if (clients_[event.client_index])
                    clients_[event.client_index]->session.receive_packet(event.bytes, now);
                break;
        }
    }
}

void Room::connect(const NetcodeServerEvent& event, TimeNs now) {
    // A client's place is its seat; those beyond the scene's seats watch.
    const bool seated = event.client_index < world_->definition().slots.size();
    const std::uint16_t slot = seated ? static_cast<std::uint16_t>(event.client_index) : kNoSlot;
    clients_[event.client_index] = std::make_unique<Client>(description_, codec_, slot, event, now);
    if (observer_) observer_->connected(event.client_index, event.client_id, event.address);
}

void Room::drop(const NetcodeServerEvent& event) {
    const std::unique_ptr<Client> client = std::move(clients_[event.client_index]);
    if (!client) return;
    if (client->joined)
        leaving_.insert(std::upper_bound(leaving_.begin(), leaving_.end(), client->session.slot()),
                        client->session.slot());
    const InputCounters& inputs = client->session.inputs().counters();
    stats_.inputs_applied += inputs.applied;
    stats_.inputs_late += inputs.late;
    stats_.inputs_repeated += inputs.repeated;
    stats_.malformed_messages += client->session.malformed_messages();
    stats_.world_events_dropped += client->session.world_events_dropped();
    if (observer_) {
        const ServerSession& session = client->session;
        observer_->disconnected(client->index, client->id, {event.reason, session.goodbye(), session.refusal().reason});
    }
}

void Room::process_sessions(TimeNs now) {
    const std::uint64_t tick = world_->tick();
    const auto joins = overload_.sheds_joins(tick) ? ServerSession::Joins::shed : ServerSession::Joins::welcome;
    for (auto& client : clients_) {
        if (!client) continue;
        client->session.process(tick, grid_.start_of(tick + 1), grid_.tick_duration(), joins, now);
        if (client->session.refusal().reason != RefusalReason::none && !client->refusal_counted) {
            client->refusal_counted = true;
            ++stats_.refused_clients;
            if (observer_) observer_->refused(client->index, client->session.refusal());
        }
        hand_on_messages(*client);
    }
}

void Room::hand_on_messages(Client& client) {
    ServerSession::Received message;
    while (client.session.next_message(message)) {
        if (observer_) observer_->message(client.index, client.id, message);
    }
}

SendStatus Room::send_message(std::uint32_t client, std::uint16_t type, Bytes bytes, bool reliable) {
    if (client >= clients_.size() || !clients_[client]) return SendStatus::failed;
    return clients_[client]->session.send_message(type, bytes, reliable);
}

void Room::tell_events() {
    told_events_.clear();
    choose_world_events(world_->events(), event_rule_, told_events_);
    for (auto& client : clients_) {
        if (client) client->session.send_world_events(world_->tick(), told_events_);
    }
}

// In the canonical order: leaves, joins, the director's orders, one control a slot in slot order. Controls that do not
// differ from what the world holds already are left out.
void Room::gather_commands(std::uint64_t tick) {
    commands_.clear();
    for (const std::uint16_t slot : leaving_) {
        sim::Command leave;
        leave.kind = sim::CommandKind::leave;
        leave.slot = slot;
        commands_.push_back(leave);
    }
    leaving_.clear();
    for (auto& client : clients_) {
        if (!client || client->joined || !client->session.welcome() || client->session.slot() == kNoSlot) continue;
        sim::Command join;
        join.kind = sim::CommandKind::join;
        join.slot = client->session.slot();
        commands_.push_back(join);
        client->joined = true;
    }
    gather_orders();
    for (auto& client : clients_) {
        if (!client || !client->joined) continue;
        // Who is being sent away steers no longer.
        const bool plays = client->session.state() == ServerSession::State::playing;
        const WireControl wanted = plays ? client->session.inputs().take(tick) : WireControl{};
        if (wanted == client->held) continue;
        client->held = wanted;
        sim::Command control;
        control.kind = sim::CommandKind::control;
        control.slot = client->session.slot();
        control.channels = from_wire(wanted);
        commands_.push_back(control);
    }
}

void Room::gather_orders() {
    if (!director_) return;
    orders_.clear();
    director_->on_tick(*world_, orders_);
    std::uint32_t sequence = 0;
    DroppedOrders dropped;
    for (sim::Command& order : orders_) {
        if (!sim::is_director_order(order.kind)) {
            ++dropped.not_a_directors;
        } else if (sequence == kMaxOrdersPerTick) {
            ++dropped.too_many;
        } else {
            order.sequence = sequence++;
            commands_.push_back(order);
        }
    }
    if (dropped.not_a_directors + dropped.too_many == 0) return;
    stats_.orders_dropped += dropped.not_a_directors + dropped.too_many;
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
    if (watched()) quantise();
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
void Room::quantise() { quantised_.update(*world_); }

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
    std::optional<KeyFrame> key_frame;
    for (auto& client : clients_) {
        if (!client) continue;
        ServerSession& session = client->session;
        session.send_board(board_, tick);
        const bool watches = session.slot() == kNoSlot;
        if (session.needs_key_frame() && (client->joined || watches)) {
            if (!key_frame)
                key_frame.emplace(quantised_, description_.shapes, description_.names, codec_, description_.vocabulary);
            session.send_key_frame(*key_frame, quantised_, now);
        }
        const std::uint64_t every =
            watches ? overload_.ticks_per_spectator_snapshot(tick) : overload_.ticks_per_player_snapshot(tick);
        if (tick - client->last_snapshot_tick >= every) {
            session.send_snapshot(quantised_);
            client->last_snapshot_tick = tick;
        }
        flush(*client, now);
        if (session.state() == ServerSession::State::closed) netcode_->disconnect(client->index, now);
    }
    handle_events(now);
}

void Room::flush(Client& client, TimeNs now) {
    std::array<std::uint8_t, kMaxPayloadBytes> packet;
    for (std::uint32_t i = 0; i < kMaxPacketsPerClientTick; ++i) {
        const std::size_t size = client.session.write_packet(now, packet);
        if (size == 0) return;
        netcode_->send_payload(client.index, Bytes(packet).first(size), now);
    }
}

Result<Ok> Room::stop(TimeNs now) {
    for (auto& client : clients_) {
        if (!client) continue;
        client->session.close(GoodbyeReason::server_stopped, now);
        flush(*client, now);
    }
    netcode_->stop(now);
    handle_events(now);
    if (recording_error_) return *recording_error_;
    return recorder_ ? recorder_->close() : Result<Ok>(Ok{});
}

RoomStats Room::stats() const {
    RoomStats stats = stats_;
    stats.tick = world_->tick();
    stats.datagrams_dropped = inbox_.dropped();
    stats.netcode = netcode_->counters();
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
