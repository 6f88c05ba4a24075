// Rooms without worlds, for tests of the control API: they hold what they were asked for. A test says which fault they
// have, and may hold their answers back.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/control/rooms.h"

namespace orrery::testing {

class FakeRooms final : public server::Rooms {
  public:
    static constexpr std::uint32_t kMostRooms = 3;
    enum class Fault : std::uint8_t { none, io, throws };

    struct Kick {
        std::string room, reason;
        std::uint64_t client_id = 0;
    };

    void set_fault(Fault fault) {
        const std::lock_guard lock(mutex_);
        fault_ = fault;
    }
    // Calls of host() wait while they are held.
    void hold(bool on) {
        const std::lock_guard lock(mutex_);
        held_ = on;
        released_.notify_all();
    }
    std::size_t waiting_calls() const {
        const std::lock_guard lock(mutex_);
        return waiting_;
    }
    // Nothing drains, and there is no room.
    void reset() {
        const std::lock_guard lock(mutex_);
        rooms_.clear();
        draining_ = false;
    }
    void add_recording(const std::string& run_id, const std::string& path, std::uint64_t bytes) {
        const std::lock_guard lock(mutex_);
        paths_[run_id] = path;
        server::RecordingView& view = recordings_.emplace_back();
        view.run_id = run_id;
        view.name = path.substr(path.rfind('/') + 1);
        view.scene = "yard";
        view.room = "r1";
        view.engine_version = sim::kEngineVersion;
        view.bytes = bytes;
        view.modified_unix_ms = 1'700'000'000'000;
    }
    std::vector<Kick> kicks() const {
        const std::lock_guard lock(mutex_);
        return kicks_;
    }
    std::optional<server::TokenWish> last_token() const {
        const std::lock_guard lock(mutex_);
        return token_;
    }
    std::optional<server::RoomWish> last_wish() const {
        const std::lock_guard lock(mutex_);
        return wish_;
    }

    Result<server::RoomView> create(const server::RoomWish& wish) override {
        const std::lock_guard lock(mutex_);
        fail_if_asked();
        wish_ = wish;
        if (fault_ == Fault::io) return io_error();
        if (draining_) return Error{ErrorCode::unsupported_target, "", "the server drains: no new rooms"};
        if (wish.scene == "faulty") return Error{ErrorCode::parse, "faulty.json:3", "a string does not end"};
        if (wish.scene != "yard" && wish.scene != "rain")
            return Error{ErrorCode::not_found, wish.scene, "no such scene; see GET /v1/version"};
        if (wish.tick_rate_hz && *wish.tick_rate_hz > 1000.0f)
            return Error{ErrorCode::invalid_argument, "tick_rate_hz", "is above 1000 Hz"};
        if (rooms_.size() >= kMostRooms)
            return Error{ErrorCode::limit_reached, "rooms", "there are 3 rooms (max_rooms)"};
        server::RoomView& room = rooms_.emplace_back();
        room.id = "r" + std::to_string(++last_id_);
        room.name = wish.name.empty() ? room.id : wish.name;
        room.scene = wish.scene;
        room.scene_hash = 0x0123456789abcdef;
        room.tick_rate_hz = wish.tick_rate_hz.value_or(60.0f);
        room.max_clients = wish.max_clients.value_or(64);
        room.allow_mirror = wish.allow_mirror.value_or(false);
        room.created_unix_ms = 1'700'000'000'000;
        room.tick = 4711;
        room.clients = 3;
        room.players = 2;
        room.bodies = 321;
        room.members = {{0xfedcba9876543210, protocol::TokenRole::player, std::uint16_t{0}},
                        {0x0000000000000001, protocol::TokenRole::player, std::uint16_t{1}},
                        {0x00000000000000aa, protocol::TokenRole::spectator, std::nullopt}};
        room.times = {0.41, 1.27, 0.05, 0.31, 16.667};
        room.late_ticks = 2;
        room.sent_bytes = 123'456'789;
        room.received_bytes = 2'345'678;
        if (wish.record.value_or(true)) {
            room.run_id = std::string(31, 'a') + std::to_string(last_id_ % 10);
            room.replay = wish.scene + "-20260101T000000Z-" + room.name + ".orr";
            room.recording = {4711, 4700, 4650, 0, false, false};
        }
        return room;
    }
    std::vector<server::RoomView> list() const override {
        const std::lock_guard lock(mutex_);
        fail_if_asked();
        return rooms_;
    }
    std::optional<server::RoomView> find(const std::string& id) const override {
        const std::lock_guard lock(mutex_);
        fail_if_asked();
        for (const server::RoomView& room : rooms_)
            if (room.id == id) return room;
        return std::nullopt;
    }
    Result<Ok> drain(const std::string& id, double within_s, const std::string&) override {
        const std::lock_guard lock(mutex_);
        server::RoomView* const room = find_for_change(id);
        if (!room) return no_room();
        if (fault_ == Fault::io) return io_error();
        room->phase = server::RoomPhase::draining;
        room->ends_unix_ms = 1'700'000'000'000 + static_cast<std::uint64_t>(within_s * 1000.0);
        return Ok{};
    }
    Result<Ok> stop(const std::string& id, const std::string&) override {
        const std::lock_guard lock(mutex_);
        if (!find_for_change(id)) return no_room();
        if (fault_ == Fault::io) return io_error();
        std::erase_if(rooms_, [&](const server::RoomView& room) { return room.id == id; });
        return Ok{};
    }
    Result<server::MintedToken> mint(const std::string& id, const server::TokenWish& wish) override {
        const std::lock_guard lock(mutex_);
        const server::RoomView* const room = find_for_change(id);
        if (!room) return no_room();
        if (fault_ == Fault::io) return io_error();
        token_ = wish;
        if (room->phase != server::RoomPhase::open)
            return Error{ErrorCode::unsupported_target, "", "the room drains: nobody may join"};
        server::MintedToken token;
        for (std::size_t i = 0; i < token.bytes.size(); ++i) token.bytes[i] = static_cast<std::uint8_t>(i * 7);
        token.client_id = wish.client_id.value_or(0x1122334455667788);
        token.expires_unix_s = 1'700'000'000 + wish.expires_s;
        return token;
    }
    Result<Ok> kick(const std::string& id, std::uint64_t client_id, const std::string& reason) override {
        const std::lock_guard lock(mutex_);
        if (!find_for_change(id)) return no_room();
        if (fault_ == Fault::io) return io_error();
        kicks_.push_back({id, reason, client_id});
        return Ok{};
    }
    std::vector<server::RecordingView> recordings() const override {
        const std::lock_guard lock(mutex_);
        fail_if_asked();
        return recordings_;
    }
    std::optional<std::string> recording_path(const std::string& run_id) const override {
        const std::lock_guard lock(mutex_);
        fail_if_asked();
        const auto found = paths_.find(run_id);
        return found == paths_.end() ? std::nullopt : std::optional(found->second);
    }
    std::vector<std::string> scenes() const override { return {"rain", "yard"}; }
    server::HostView host() const override {
        std::unique_lock lock(mutex_);
        fail_if_asked();
        ++waiting_;
        released_.wait(lock, [&] { return !held_; });
        --waiting_;
        server::HostView host;
        host.started_unix_ms = 1'700'000'000'000;
        host.rooms = static_cast<std::uint32_t>(rooms_.size());
        host.open_rooms = host.rooms;
        host.max_rooms = kMostRooms;
        host.clients = 3 * host.rooms;
        host.players = 2 * host.rooms;
        host.max_clients = 64;
        host.may_create = true;
        host.draining = draining_;
        if (draining_) host.ends_unix_ms = 1'700'000'060'000;
        host.totals.rooms_created = last_id_;
        host.totals.ticks = 4711;
        for (const double seconds : {0.0004, 0.0012, 2.0}) host.totals.tick_s.note(seconds);
        return host;
    }
    void drain_all(double, const std::string&) override {
        const std::lock_guard lock(mutex_);
        fail_if_asked();
        draining_ = true;
        for (server::RoomView& room : rooms_) room.phase = server::RoomPhase::draining;
    }

  private:
    static Error io_error() { return {ErrorCode::io, "", "No space left on device"}; }
    static Error no_room() { return {ErrorCode::not_found, "", "There is no such room."}; }
    void fail_if_asked() const {
        if (fault_ == Fault::throws) throw std::runtime_error("a text that is for nobody");
    }
    server::RoomView* find_for_change(const std::string& id) {
        fail_if_asked();
        const auto found = std::ranges::find(rooms_, id, &server::RoomView::id);
        return found == rooms_.end() ? nullptr : &*found;
    }

    mutable std::mutex mutex_;
    mutable std::condition_variable released_;
    mutable std::size_t waiting_ = 0;
    bool held_ = false, draining_ = false;
    Fault fault_ = Fault::none;
    std::uint64_t last_id_ = 0;
    std::vector<server::RoomView> rooms_;
    std::vector<server::RecordingView> recordings_;
    std::map<std::string, std::string> paths_;
    std::vector<Kick> kicks_;
    std::optional<server::TokenWish> token_;
    std::optional<server::RoomWish> wish_;
};

}  // namespace orrery::testing
