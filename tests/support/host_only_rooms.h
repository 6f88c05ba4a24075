// Rooms of which a test says what host() shows. They take no other call.
#pragma once

#include <mutex>

#include "server/control/rooms.h"

namespace orrery::test {

class HostOnlyRooms final : public server::Rooms {
  public:
    HostOnlyRooms() {  // as a server of one room is
        view_.rooms = view_.open_rooms = view_.max_rooms = 1;
        view_.max_clients = 64;
    }
    template <class Change>
    void change(const Change& change) {
        const std::lock_guard lock(mutex_);
        change(view_);
    }
    server::HostView host() const override {
        const std::lock_guard lock(mutex_);
        return view_;
    }

    Result<server::RoomView> create(const server::RoomWish&) override { return no(); }
    std::vector<server::RoomView> list() const override { return {}; }
    std::optional<server::RoomView> find(const std::string&) const override { return {}; }
    Result<Ok> drain(const std::string&, double, const std::string&) override { return no(); }
    Result<Ok> stop(const std::string&, const std::string&) override { return no(); }
    Result<server::MintedToken> mint(const std::string&, const server::TokenWish&) override { return no(); }
    Result<Ok> kick(const std::string&, std::uint64_t, const std::string&) override { return no(); }
    std::vector<server::RecordingView> recordings() const override { return {}; }
    std::optional<std::string> recording_path(const std::string&) const override { return {}; }
    std::vector<std::string> scenes() const override { return {}; }
    void drain_all(double, const std::string&) override {}

  private:
    static Error no() { return {ErrorCode::unsupported_target, "", "these rooms only show their host"}; }

    mutable std::mutex mutex_;
    server::HostView view_;
};

}  // namespace orrery::test
