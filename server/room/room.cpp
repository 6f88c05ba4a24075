#include "server/room/room.h"

#include <algorithm>

#include "protocol/session/handshake.h"
#include "protocol/session/token_role.h"
#include "server/room/rejections.h"
#include "server/room/room_client.h"

namespace orrery::server {

using namespace orrery::protocol;

namespace {

// A token whose role this server does not know is denied, whatever the host says.
NetcodeServerConfig with_role_check(NetcodeServerConfig config) {
    config.admit = [of_the_host = std::move(config.admit)](std::uint64_t client_id, const UserData& user_data) {
        if (!read_token_identity(user_data)) return std::optional(DenyReason::bad_token_role);
        return of_the_host ? of_the_host(client_id, user_data) : std::nullopt;
    };
    return config;
}

}  // namespace

Room::Room(std::unique_ptr<sim::World> world, std::unique_ptr<RoomRecorder> recorder, TimeNs now)
    : world_(std::move(world)),
      recorder_(std::move(recorder)),
      grid_(now, world_->definition().tick_rate_hz),
      overload_(world_->definition().tick_rate_hz),
      now_(now),
      seats_(world_->definition().slots.size()) {}

Room::~Room() = default;

Result<std::unique_ptr<Room>> Room::create(const RoomConfig& config, const LoadedScene& scene,
                                           std::unique_ptr<RoomRecorder> recorder, RandomSource& random,
                                           DatagramSink& sink, TimeNs now) {
    const Result<SharedScene> shared = share_scene(scene);
    if (!shared) return Error{shared.error().code, scene.name + ": " + shared.error().place, shared.error().message};
    return create(config, *shared, std::move(recorder), random, sink, now);
}

Result<std::unique_ptr<Room>> Room::create(const RoomConfig& config, const SharedScene& scene,
                                           std::unique_ptr<RoomRecorder> recorder, RandomSource& random,
                                           DatagramSink& sink, TimeNs now) {
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
    room->clock_ = config.clock;
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
    room->replay_ids_ = config.replay_ids;
    room->replay_id_secret_ = config.replay_id_secret;
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

std::uint32_t Room::advance(TimeNs now, std::uint64_t unix_now_s, std::uint32_t most) {
    const TickGrid::Due due = grid_.due(world_->tick(), now, most);
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
        record_player(slot, client->returned ? replay::PlayerChange::returned : replay::PlayerChange::came);
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

RoomStats Room::stats() const {
    RoomStats stats = stats_;
    stats.tick = world_->tick();
    if (recorder_) stats.recording = recorder_->counters();
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
