// The rooms of a process, as operators see them: those that run, and the sums of those that have ended.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/control/rooms.h"
#include "server/net/hosted_room.h"

namespace orrery::server {

struct RoomListSettings {
    std::string recordings;  // folder; empty: nothing is recorded
    std::uint32_t max_rooms = 1;
    std::uint32_t max_clients = 0;           // of one room
    const NetworkThread* network = nullptr;  // null: the virtual clock
    // Makes a room and sees to its ticks. Null: a server of one room.
    std::function<Result<std::shared_ptr<HostedRoom>>(const RoomWish&)> make;
    std::function<std::vector<std::string>()> scenes;  // null: none
    std::function<void()> on_drain;                    // of the process; by the thread that asked for it. Null: nothing
};

// Paths of the recordings of a folder that have no end, and that no other one goes on from; in order of their start.
std::vector<std::string> unfinished_recordings(const std::string& folder);

class RoomList final : public Rooms {
  public:
    explicit RoomList(RoomListSettings settings);

    void add(std::shared_ptr<HostedRoom> room);
    void remove(const HostedRoom& room);  // has ended
    std::vector<std::shared_ptr<HostedRoom>> rooms() const;
    bool empty() const;  // and none is being made
    bool draining() const;
    std::uint64_t drain_ends_unix_ms() const;  // draining: at the latest

    // As create(), of a room that is made by `make`.
    Result<RoomView> create_by(const std::function<Result<std::shared_ptr<HostedRoom>>()>& make);

    Result<RoomView> create(const RoomWish& wish) override;
    std::vector<RoomView> list() const override;
    std::optional<RoomView> find(const std::string& id) const override;
    Result<Ok> drain(const std::string& id, double within_s, const std::string& reason) override;
    Result<Ok> stop(const std::string& id, const std::string& reason) override;
    Result<MintedToken> mint(const std::string& id, const TokenWish& wish) override;
    Result<Ok> kick(const std::string& id, std::uint64_t client_id, const std::string& reason) override;
    std::vector<RecordingView> recordings() const override;
    std::optional<std::string> recording_path(const std::string& run_id) const override;
    std::vector<std::string> scenes() const override;
    HostView host() const override;
    void drain_all(double within_s, const std::string& reason) override;

  private:
    std::shared_ptr<HostedRoom> room(const std::string& id) const;  // null: there is none

    const RoomListSettings settings_;
    const std::uint64_t started_unix_ms_;
    mutable std::mutex mutex_;  // guards all below
    std::vector<std::shared_ptr<HostedRoom>> rooms_;
    std::uint32_t being_made_ = 0;
    HostTotals ended_;  // of the rooms that have ended
    std::optional<std::uint64_t> drain_ends_unix_ms_;
    std::string drain_reason_;
};

}  // namespace orrery::server
