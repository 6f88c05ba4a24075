// A room with all that belongs to it: its scene, director, link, recording and host. The process gives it a place.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "orrery/server.hpp"
#include "server/control/rooms.h"
#include "server/net/room_host.h"
#include "server/room/resumption.h"
#include "server/room/rig_backend.h"

namespace orrery::server {

// What the rooms of a process share. All of it outlives them.
struct RoomPlace {
    NetworkThread* network = nullptr;  // null: the virtual clock
    protocol::Key key{};
    std::vector<protocol::Address> addresses;   // at which clients reach the process; tokens name them
    std::optional<std::uint64_t> protocol_id;   // of the room; empty: the one room of the process
    protocol::RequestLimits* limits = nullptr;  // null: limits of the room's own
    sim::Executor* executor = nullptr;          // inside a tick
    // When ticks begin, as a share of the time between two, 0 to below 1: of one room among many. Else: now.
    std::optional<double> phase;
    std::function<void()> wake;  // after a stop was asked for
    // False: nobody can have a token yet, and the room is not taken to be empty. Null: true.
    const std::atomic<bool>* joinable = nullptr;
};

class HostedRoom {
  public:
    // `config` has the settings of the room; `id` is empty for the one room of a process. `resumption`: from which the
    // room goes on; null: it begins. A start that fails leaves no recording without a tick behind.
    static Result<std::unique_ptr<HostedRoom>> create(const GameServerConfig& config,
                                                      const protocol::SharedScene& scene, RoomPlace place,
                                                      std::string id, double end_when_empty_s,
                                                      const DirectorFactory& make_director,
                                                      std::unique_ptr<Resumption> resumption = {});
    ~HostedRoom();
    HostedRoom(const HostedRoom&) = delete;
    HostedRoom& operator=(const HostedRoom&) = delete;

    RoomHost& host() { return *host_; }
    Room& room() { return *room_; }
    const std::string& id() const { return fixed_.id; }
    const std::string& replay() const { return replay_; }  // path of the recording, at first; empty: none
    std::optional<double> phase() const { return place_.phase; }
    const RigBackend& rigs() const { return rigs_; }
    const std::string& scene_path() const { return scene_path_; }  // at the web server

    // Any thread may call these.
    void request_stop(std::string reason);
    const StopRequest& stop() const { return stop_; }
    RoomView view() const;
    Result<MintedToken> mint(const TokenWish& wish);

  private:
    HostedRoom(const GameServerConfig& config, RoomPlace place);
    Result<Ok> start(const protocol::SharedScene& scene, std::string id, double end_when_empty_s,
                     const DirectorFactory& make_director, std::unique_ptr<Resumption> resumption);
    Result<PartsSettings> recording_settings(const protocol::SharedScene& scene) const;
    Result<std::unique_ptr<RoomRecorder>> open_recorder(const protocol::SharedScene& scene);
    Result<std::unique_ptr<RoomRecorder>> reopen_recorder(const protocol::SharedScene& scene, Resumption& from,
                                                          const sim::World& world);
    Result<Ok> resume(const protocol::SharedScene& scene, Resumption& from);
    RoomConfig room_config(const sim::WorldDef& def) const;

    // In the order in which they are made; destroyed in the opposite one.
    GameServerConfig config_;
    RoomPlace place_;
    StopRequest stop_;
    protocol::SystemRandom random_;
    std::mutex mint_mutex_;
    protocol::SystemRandom mint_random_;
    std::unique_ptr<RoomLink> link_;
    Outbox outbox_;
    RigBackend rigs_;
    std::shared_ptr<const sim::Definition> definition_;  // as long as the director
    std::unique_ptr<Director> director_;
    std::unique_ptr<Room> room_;
    std::unique_ptr<RoomHost> host_;
    std::string replay_, scene_path_;
    double end_when_empty_s_ = 0.0;
    RoomView fixed_;  // the fields that do not change
};

// The recorded scene, if this engine can go on with it.
Result<protocol::SharedScene> recorded_scene(const Resumption& from, std::uint64_t max_bodies);

// Makes a token for a room of this protocol id.
Result<MintedToken> mint_token(const TokenWish& wish, std::uint64_t protocol_id,
                               const std::vector<protocol::Address>& servers, const protocol::Key& key,
                               protocol::RandomSource& random);

}  // namespace orrery::server
