#include "server/net/hosted_room.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "protocol/replay/recorded.h"
#include "protocol/session/handshake.h"
#include "server/base/build_info.h"
#include "server/base/left_out.h"
#include "server/base/signing_key.h"
#include "server/net/about_recording.h"
#include "server/net/game_config.h"
#include "server/net/hands.h"
#include "server/net/web_setup.h"
#include "sim/rigs/rigs.h"

namespace orrery::server {

using protocol::Address;

namespace {

// Of the room's grid of ticks: less than a tick away.
protocol::TimeNs start_time(float tick_rate_hz, const RoomPlace& place) {
    if (!place.network) return 0;
    const protocol::TimeNs now = NetworkThread::now();
    if (!place.phase) return now;
    const auto tick = static_cast<protocol::TimeNs>(1e9 / double{tick_rate_hz});
    const auto wanted = static_cast<protocol::TimeNs>(*place.phase * static_cast<double>(tick));
    return now + (wanted + tick - now % tick) % tick;
}

}  // namespace

HostedRoom::HostedRoom(const GameServerConfig& config, RoomPlace place)
    : config_(config), place_(std::move(place)), outbox_(queue_bytes(config.max_clients)) {
    config_.shared_scene.reset();  // the world has what it needs of it
}

HostedRoom::~HostedRoom() { protocol::wipe(place_.key); }

Result<std::unique_ptr<HostedRoom>> HostedRoom::create(const GameServerConfig& config,
                                                       const protocol::SharedScene& scene, RoomPlace place,
                                                       std::string id, double end_when_empty_s,
                                                       const DirectorFactory& make_director,
                                                       std::unique_ptr<Resumption> resumption) {
    std::unique_ptr<HostedRoom> hosted(new HostedRoom(config, std::move(place)));
    const bool resumes = resumption != nullptr;
    Result<Ok> started = Ok{};
    try {
        started = hosted->start(scene, std::move(id), end_when_empty_s, make_director, std::move(resumption));
    } catch (const std::exception& error) {  // of the game
        started = config_error("director", std::string("it threw when its room began: ") + error.what());
    }
    if (started) return hosted;
    std::error_code ignored;
    if (!hosted->replay_.empty() && !resumes) std::filesystem::remove(hosted->replay_, ignored);
    return started.error();
}

RoomConfig HostedRoom::room_config(const sim::WorldDef& def) const {
    RoomConfig config;
    protocol::NetcodeServerConfig& netcode = config.netcode;
    netcode.protocol_id = place_.protocol_id.value_or(protocol::kNetcodeProtocolId);
    netcode.private_key = place_.key;
    netcode.max_clients = config_.max_clients;
    netcode.public_addresses = place_.addresses;
    netcode.insecure = place_.network && config_.insecure;
    netcode.insecure_public = place_.network && config_.insecure_public;
    netcode.shared_limits = place_.limits;
    netcode.max_event_bytes = static_cast<std::uint32_t>(queue_bytes(config_.max_clients));
    config.target = config_.target;
    config.executor = place_.executor;
    if (place_.network) config.clock = &NetworkThread::now;
    config.rig_device = rigs_.device.get();
    config.history_ticks = config_.history_ticks;
    config.hold_seat_ticks = static_cast<std::uint64_t>(std::ceil(config_.hold_seat_s * double{def.tick_rate_hz}));
    config.token_lifetime_s = config_.token_lifetime_s;
    config.events = config_.events;
    config.serve_scene = config_.serve_scene;
    config.allow_mirror = config_.allow_mirror;
    config.replay_ids = config_.replay_ids;
    config.replay_id_secret = place_.key;
    if (link_ && config_.http) config.streams = &link_->streams();
    return config;
}

Result<Ok> HostedRoom::start(const protocol::SharedScene& scene, std::string id, double end_when_empty_s,
                             const DirectorFactory& make_director, std::unique_ptr<Resumption> resumption) {
    end_when_empty_s_ = end_when_empty_s;
    definition_ = scene.definition;
    const sim::WorldDef& def = definition_->def();
    HostSettings settings;
    if (!id.empty()) settings.where = "room " + config_.room + ": ";
    for (const std::string& text : left_out_texts(*scene.definition)) spdlog::warn("{}{}", settings.where, text);
    Result<RigBackend> rigs = pick_rig_backend(
        config_.jacobi, def, [&](const std::string& text) { spdlog::warn("{}{}", settings.where, text); });
    if (!rigs) return rigs.error();
    rigs_ = std::move(rigs).value();

    if (make_director)
        director_ = make_director({config_.room, scene.name, scene.scene_hash, def,
                                   [this](std::string reason) { request_stop(std::move(reason)); }});
    if (config_.hands) {
        if (make_director) return config_error("hands (--hands)", "is for a server without a director of its own");
        const bool for_pages = place_.network && config_.http && gives_tokens(config_, *bind_address(config_));
        director_ = std::make_unique<Hands>(for_pages);
    }
    if (!place_.network && !director_ && config_.stop_at_tick == 0)
        return config_error("stop_at_tick", "a room on the virtual clock without a director never ends: set this tick");

    std::unique_ptr<RoomRecorder> recorder;
    if (!resumption) {
        Result<std::unique_ptr<RoomRecorder>> opened = open_recorder(scene);
        if (!opened) return opened.error();
        recorder = std::move(opened).value();
    }
    settings.records = recorder || resumption;
    if (place_.network) link_ = place_.network->add_room(place_.protocol_id, queue_bytes(config_.max_clients));
    Result<std::unique_ptr<Room>> room = Room::create(room_config(def), scene, std::move(recorder), random_, outbox_,
                                                      start_time(def.tick_rate_hz, place_));
    if (!room) return room.error();
    room_ = std::move(room).value();
    room_->set_director(director_.get());
    if (resumption) {
        const Result<Ok> resumed = resume(scene, *resumption);
        if (!resumed) return resumed.error();
    }
    settings.json = config_.json;
    settings.status_every_s = config_.status_every_s;
    settings.print = config_.print && id.empty();
    settings.stop_at_tick = config_.stop_at_tick;
    settings.stops_with_recording = config_.stop_on_record_failure;
    settings.end_when_empty_s = end_when_empty_s;
    settings.joinable = place_.joinable;
    scene_path_ = server::scene_path(scene.binary);
    fixed_.id = id.empty() ? "0" : std::move(id);
    fixed_.name = config_.room;
    fixed_.scene = scene.name;
    fixed_.scene_hash = scene.scene_hash;
    fixed_.tick_rate_hz = def.tick_rate_hz;
    fixed_.max_clients = config_.max_clients;
    fixed_.allow_mirror = config_.allow_mirror;
    fixed_.created_unix_ms = NetworkThread::unix_ms();
    host_ = std::make_unique<RoomHost>(*room_, link_.get(), outbox_, stop_, settings);
    return Ok{};
}

// ---------------------------------------------------------------- the recording

Result<PartsSettings> HostedRoom::recording_settings(const protocol::SharedScene& scene) const {
    PartsSettings parts;
    parts.tick_rate_hz = scene.definition->def().tick_rate_hz;
    parts.recorder.directory = config_.record;
    parts.recorder.room = config_.room;
    parts.recorder.about = about_recording(config_, parts.tick_rate_hz);
    if (end_when_empty_s_ > 0.0)
        parts.recorder.about.push_back({"room.end_when_empty_s", std::to_string(end_when_empty_s_)});
    parts.recorder.ticks_per_chunk = ticks_per_chunk(config_.fsync, double{parts.tick_rate_hz});
    if (!config_.sign_key.empty()) {
        const Result<protocol::replay::SigningKey> key = read_signing_key(config_.sign_key);
        if (!key) return key.error();
        parts.recorder.sign_key = *key;
    }
    parts.scene_name = scene.name;
    parts.scene.assign(scene.binary.begin(), scene.binary.end());
    parts.scene_hash = scene.scene_hash;
    parts.fsync = config_.fsync;
    parts.goes_on = !config_.stop_on_record_failure;
    if (place_.protocol_id) parts.keyframe_phase = static_cast<double>(*place_.protocol_id % 1024) / 1024.0;  // drawn
    return parts;
}

Result<std::unique_ptr<RoomRecorder>> HostedRoom::open_recorder(const protocol::SharedScene& scene) {
    if (config_.record.empty()) return std::unique_ptr<RoomRecorder>();
    Result<PartsSettings> parts = recording_settings(scene);
    if (!parts) return input_error(parts.error());
    Result<std::unique_ptr<Recorder>> file =
        Recorder::open(parts->recorder, {parts->scene_name, parts->scene, parts->scene_hash, parts->tick_rate_hz});
    if (!file) return coded(ErrorCode::io, file.error());
    replay_ = (*file)->path();
    return std::make_unique<RoomRecorder>(std::move(file).value(), std::move(parts).value(), &NetworkThread::now,
                                          config_.clock == GameClock::wall);
}

// Goes on with the file; behind an END, in a new part.
Result<std::unique_ptr<RoomRecorder>> HostedRoom::reopen_recorder(const protocol::SharedScene& scene, Resumption& from,
                                                                  const sim::World& world) {
    Result<PartsSettings> parts = recording_settings(scene);
    if (!parts) return parts.error();
    parts->recorder.directory = std::filesystem::path(from.path()).parent_path().string();
    if (parts->recorder.directory.empty()) parts->recorder.directory = ".";
    Result<std::unique_ptr<Recorder>> file =
        from.ended()
            ? Recorder::open(parts->recorder, {parts->scene_name, parts->scene, parts->scene_hash, parts->tick_rate_hz},
                             {.tick = world.tick(), .parent = {from.seen().header.run, from.seen().head}})
            : Recorder::go_on(parts->recorder, from.path(), from.take_file(), from.seen());
    if (!file) return coded(ErrorCode::io, file.error());
    replay_ = (*file)->path();
    if (from.ended() && world.tick() > 0) {
        std::vector<std::uint8_t> state;
        world.save(state);
        if (const Result<Ok> kept = (*file)->append_keyframe(state); !kept) return coded(ErrorCode::io, kept.error());
    }
    return std::make_unique<RoomRecorder>(std::move(file).value(), std::move(parts).value(), &NetworkThread::now,
                                          config_.clock == GameClock::wall);
}

Result<Ok> HostedRoom::resume(const protocol::SharedScene& scene, Resumption& resumption) {
    ResumeOptions options;
    options.open_recorder = [&](Resumption& from, const sim::World& world) {
        return reopen_recorder(scene, from, world);
    };
    options.unix_ms = NetworkThread::unix_ms();
    // Those of a room among many are for its protocol id, which was another one.
    options.refuse_older_tokens = !config_.key_file.empty() && !place_.protocol_id;
    for (const protocol::replay::KeyValue& pair : about_build(config_.target)) {
        if (pair.key == "build" || pair.key == "commit")
            options.build += (options.build.empty() ? "" : " ") + pair.value;
    }
    const Result<Ok> resumed = room_->resume(resumption, options);
    if (!resumed) return resumed;
    if (resumption.ended())
        spdlog::info("{} was closed: it goes on at tick {} in {}", resumption.path(), room_->world().tick(), replay_);
    else
        spdlog::info("{} goes on at tick {}: {} bytes behind its last whole record were cut off", resumption.path(),
                     room_->world().tick(), resumption.cut_bytes());
    return Ok{};
}

Result<protocol::SharedScene> recorded_scene(const Resumption& from, std::uint64_t max_bodies) {
    const protocol::replay::FileHeader& header = from.seen().header;
    const auto recorded = protocol::replay::recorded_definition(
        header, [&](const auto& h) { return protocol::replay::load_recorded_scene(h, max_bodies); });
    if (!recorded)
        return Error{recorded.error().code, from.path() + ": " + recorded.error().place, recorded.error().message};
    return protocol::SharedScene{header.scene_name, header.scene, header.scene_hash, *recorded, {}};
}

// ---------------------------------------------------------------- for any thread

void HostedRoom::request_stop(std::string reason) {
    stop_.set(std::move(reason));
    if (place_.wake) place_.wake();
}

RoomView HostedRoom::view() const {
    RoomView view = fixed_;
    host_->publish_to(view);
    return view;
}

Result<MintedToken> HostedRoom::mint(const TokenWish& wish) {
    const std::lock_guard lock(mint_mutex_);
    return mint_token(wish, place_.protocol_id.value_or(protocol::kNetcodeProtocolId), place_.addresses, place_.key,
                      mint_random_);
}

Result<MintedToken> mint_token(const TokenWish& wish, std::uint64_t protocol_id, const std::vector<Address>& servers,
                               const protocol::Key& key, protocol::RandomSource& random) {
    if (const Result<Ok> good = check(wish); !good) return good.error();
    protocol::TokenRequest request;
    request.protocol_id = protocol_id;
    request.client_id = wish.client_id ? *wish.client_id : random.next_u64();
    for (const Address& address : servers) request.servers.add(address);
    request.create_timestamp = static_cast<std::uint64_t>(std::time(nullptr));
    request.expires_in_seconds = wish.expires_s;
    request.timeout_seconds = wish.timeout_s;
    request.user_data = *protocol::write_token_identity(wish.role, wish.user_data);
    const Result<protocol::PublicTokenBytes> bytes = protocol::mint_connect_token(request, key, random);
    if (!bytes) return bytes.error();
    return MintedToken{*bytes, request.client_id, request.create_timestamp + wish.expires_s};
}

}  // namespace orrery::server
