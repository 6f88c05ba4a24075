// Rooms without worlds: what an operator sees is what a test has set.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/control/rooms.h"

namespace orrery::test {

class StillRooms : public server::Rooms {
  public:
    using Drain = std::pair<double, std::string>;  // within_s, reason

    explicit StillRooms(bool may_create = true) {
        host_.may_create = may_create;
        host_.max_rooms = may_create ? 4 : 1;
        host_.max_clients = may_create ? 8 : 64;
        if (!may_create) host_.rooms = host_.open_rooms = 1;
    }

    void set(const std::function<void(server::HostView&)>& change) {
        const std::lock_guard lock(mutex_);
        change(host_);
    }
    void set_rooms(std::uint32_t rooms) {
        set([&](server::HostView& host) { host.rooms = host.open_rooms = rooms; });
    }
    void set_clients(const std::vector<std::uint64_t>& ids) {
        const std::lock_guard lock(mutex_);
        server::RoomView room;
        for (const std::uint64_t id : ids) room.members.push_back({id, protocol::TokenRole::player, std::nullopt});
        views_ = {room};
        host_.clients = static_cast<std::uint32_t>(ids.size());
    }
    std::vector<Drain> drains() const {
        const std::lock_guard lock(mutex_);
        return drains_;
    }

    std::vector<server::RoomView> list() const override {
        const std::lock_guard lock(mutex_);
        return views_;
    }
    server::HostView host() const override {
        const std::lock_guard lock(mutex_);
        return host_;
    }
    void drain_all(double within_s, const std::string& reason) override {
        const std::lock_guard lock(mutex_);
        drains_.emplace_back(within_s, reason);
        host_.draining = true;
    }

    Result<server::RoomView> create(const server::RoomWish&) override { return none(); }
    std::optional<server::RoomView> find(const std::string&) const override { return std::nullopt; }
    Result<Ok> drain(const std::string&, double, const std::string&) override { return none(); }
    Result<Ok> stop(const std::string&, const std::string&) override { return none(); }
    Result<server::MintedToken> mint(const std::string&, const server::TokenWish&) override { return none(); }
    Result<Ok> kick(const std::string&, std::uint64_t, const std::string&) override { return none(); }
    std::vector<server::RecordingView> recordings() const override { return {}; }
    std::optional<std::string> recording_path(const std::string&) const override { return std::nullopt; }
    std::vector<std::string> scenes() const override { return {}; }

  private:
    static Error none() { return {ErrorCode::not_found, "", "there are no rooms here"}; }

    mutable std::mutex mutex_;
    server::HostView host_;
    std::vector<server::RoomView> views_;
    std::vector<Drain> drains_;
};

}  // namespace orrery::test
