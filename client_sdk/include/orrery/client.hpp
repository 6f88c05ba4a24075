// The C++ interface of the client SDK: orrery/client.h with ownership and arrays that grow. Header only. Units, frames,
// threads and errors are those of the functions of orrery/client.h with the same names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orrery/client.h"

namespace orrery::client {

// An orrery_event that owns its text. Fields that its kind does not name have their defaults.
struct Event {
    std::int32_t kind = 0;                      // ORRERY_EVENT_*
    std::uint64_t tick = 0;                     // of the server
    orrery_body_id body = ORRERY_NO_BODY;       // BODY_ADDED, BODY_REMOVED, WORLD
    std::uint64_t late_ns = 0;                  // SLIPPED
    std::string text;                           // DISCONNECTED, TOKEN_NEEDED: the reason; BOARD: the key
    std::int32_t end_reason = ORRERY_END_NONE;  // ORRERY_END_*
    std::span<const std::uint8_t> bytes{};      // valid until the next event
    std::uint16_t message_type = 0;             // MESSAGE
    bool reliable = false;                      // MESSAGE
    bool removed = false;                       // BOARD: the key is gone
    std::int32_t world_kind = 0;                // ORRERY_WORLD_*
    orrery_body_id other = ORRERY_NO_BODY;      // WORLD
    std::uint64_t joint = ORRERY_NO_JOINT;      // WORLD
    std::array<float, 3> point{}, normal{};     // WORLD: m, world; and the unit normal from body to other, world
    float impulse = 0.0f;                       // WORLD: N s; ORRERY_WORLD_JOINT_BROKEN: N
    std::int32_t certainty = 0;                 // WORLD: ORRERY_CERTAINTY_*
};

// All bodies at one time. Entry i of each array belongs to body ids[i].
struct Samples {
    double tick = 0.0;                                     // the time, in ticks of the server
    std::vector<orrery_body_id> ids;                       // in order of index
    std::vector<std::array<float, 3>> positions;           // m, world
    std::vector<std::array<float, 4>> orientations;        // x, y, z, w; body to world
    std::vector<std::array<float, 3>> linear_velocities;   // m/s, world
    std::vector<std::array<float, 3>> angular_velocities;  // rad/s, world
};

// Owns an orrery_client. A Client that was moved from may only be destroyed or assigned to.
class Client {
  public:
    // Empty if `config` is invalid or there is no memory.
    static std::optional<Client> create(const orrery_client_config* config = nullptr) {
        orrery_client* handle = nullptr;
        if (orrery_client_create(config, &handle) != ORRERY_OK) return std::nullopt;
        return Client(handle);
    }

    // A client over a WebSocket that the program opens; stream_wanted() and the others say how.
    static std::optional<Client> create_stream(const orrery_client_config* config = nullptr) {
        orrery_client* handle = nullptr;
        if (orrery_client_create_stream(config, &handle) != ORRERY_OK) return std::nullopt;
        return Client(handle);
    }

    // The functions of orrery/client.h with the same names.
    orrery_status connect(std::span<const std::uint8_t> token, std::uint64_t now_ns) {
        return orrery_client_connect(handle_.get(), token.data(), token.size(), now_ns);
    }
    orrery_status connect_insecure(const std::string& server, std::uint64_t now_ns) {
        return orrery_client_connect_insecure(handle_.get(), server.c_str(), now_ns);
    }
    orrery_status disconnect(std::uint64_t now_ns) { return orrery_client_disconnect(handle_.get(), now_ns); }
    orrery_status set_reconnect(std::uint32_t seconds) { return orrery_client_set_reconnect(handle_.get(), seconds); }
    orrery_status renew(std::span<const std::uint8_t> token, std::uint64_t now_ns) {
        return orrery_client_renew(handle_.get(), token.data(), token.size(), now_ns);
    }
    orrery_status poll(std::uint64_t now_ns) { return orrery_client_poll(handle_.get(), now_ns); }
    orrery_status set_control(std::span<const float> channels) {
        return orrery_client_set_control(handle_.get(), channels.data(), channels.size());
    }
    std::uint32_t stream_wanted() const { return orrery_client_stream_wanted(handle_.get()); }
    orrery_status stream_opened(std::uint64_t now_ns) { return orrery_client_stream_opened(handle_.get(), now_ns); }
    orrery_status stream_received(std::span<const std::uint8_t> message, std::uint64_t now_ns) {
        return orrery_client_stream_received(handle_.get(), message.data(), message.size(), now_ns);
    }
    orrery_status stream_closed(std::uint32_t code, const std::string& text, std::uint64_t now_ns) {
        return orrery_client_stream_closed(handle_.get(), code, text.c_str(), now_ns);
    }
    // The next message to send, valid until the next call. Nothing: there is none now.
    std::optional<std::span<const std::uint8_t>> stream_next() {
        const std::uint8_t* bytes = nullptr;
        std::size_t size = 0;
        if (orrery_client_stream_next(handle_.get(), &bytes, &size) != ORRERY_OK) return std::nullopt;
        return std::span(bytes, size);
    }

    // ORRERY_STATE_*.
    orrery_client_state state() const { return orrery_client_get_state(handle_.get()); }

    // False: no event is waiting.
    bool next_event(Event& out) {
        orrery_event event{};
        event.struct_size = sizeof event;
        if (orrery_client_next_event(handle_.get(), &event) != ORRERY_OK) return false;
        out = {event.kind,
               event.tick,
               event.body,
               event.late_ns,
               event.text ? event.text : "",
               event.end_reason,
               {event.bytes, event.size},
               static_cast<std::uint16_t>(event.message_type),
               event.reliable != 0,
               event.removed != 0,
               event.world_kind,
               event.other,
               event.joint,
               {event.point[0], event.point[1], event.point[2]},
               {event.normal[0], event.normal[1], event.normal[2]},
               event.impulse,
               event.certainty};
        return true;
    }

    // orrery_client_send().
    orrery_status send(std::uint16_t type, std::span<const std::uint8_t> bytes, bool reliable = true) {
        return orrery_client_send(handle_.get(), type, bytes.data(), bytes.size(), reliable ? 1 : 0);
    }
    // Views stay valid until the next poll. Nothing if the board has no such key.
    std::optional<std::span<const std::uint8_t>> board(const std::string& key) const {
        const std::uint8_t* bytes = nullptr;
        std::size_t size = 0;
        if (orrery_client_board_get(handle_.get(), key.c_str(), &bytes, &size) != ORRERY_OK) return std::nullopt;
        return std::span(bytes, size);
    }
    // The number of keys on the board.
    std::uint32_t board_count() const { return orrery_client_board_count(handle_.get()); }
    // The key of this index, in the order of the keys; empty: there is none.
    std::string board_key(std::uint32_t index) const {
        const char* key = nullptr;
        orrery_client_board_at(handle_.get(), index, &key, nullptr, nullptr);
        return key ? key : "";
    }
    // orrery_client_request_scene().
    orrery_status request_scene() { return orrery_client_request_scene(handle_.get()); }
    // Empty before the scene has come.
    std::span<const std::uint8_t> scene() const {
        const std::uint8_t* bytes = nullptr;
        std::size_t size = 0;
        orrery_client_scene(handle_.get(), &bytes, &size);
        return {bytes, size};
    }

    // Empty where the function of orrery/client.h returns another status than ORRERY_OK.
    std::optional<orrery_session> session() const { return get<orrery_session>(orrery_client_get_session); }
    // Zeros where nothing is known yet.
    orrery_client_stats stats() const {
        return get<orrery_client_stats>(orrery_client_get_stats).value_or(orrery_client_stats{});
    }
    // The functions of mirror mode; empty and ORRERY_WRONG_STATE in the other mode.
    orrery_status set_mode(std::int32_t mode) { return orrery_client_set_mode(handle_.get(), mode); }
    orrery_status give_scene(std::span<const std::uint8_t> bytes) {
        return orrery_client_give_scene(handle_.get(), bytes.data(), bytes.size());
    }
    orrery_status set_prediction(const orrery_prediction& prediction) {
        return orrery_client_set_prediction(handle_.get(), &prediction);
    }
    orrery_status set_mirror_events(std::uint32_t kinds, float least_hit_impulse) {
        return orrery_client_set_mirror_events(handle_.get(), kinds, least_hit_impulse);
    }
    std::optional<orrery_mirror_stats> mirror_stats() const {
        return get<orrery_mirror_stats>(orrery_client_get_mirror_stats);
    }
    orrery_status set_step_clock(std::uint64_t (*clock)(void* user), void* user = nullptr) {
        return orrery_client_set_step_clock(handle_.get(), clock, user);
    }
    std::optional<orrery_step_times> step_times() const { return get<orrery_step_times>(orrery_client_get_step_times); }
    // Empty: there is no such shape or body, or the server's answer has not arrived.
    std::optional<orrery_shape> shape(std::uint32_t index) const {
        orrery_shape out{};
        out.struct_size = sizeof out;
        if (orrery_client_get_shape(handle_.get(), index, &out) != ORRERY_OK) return std::nullopt;
        return out;
    }
    std::optional<orrery_body> body(orrery_body_id id) const {
        orrery_body out{};
        out.struct_size = sizeof out;
        if (orrery_client_get_body(handle_.get(), id, &out) != ORRERY_OK) return std::nullopt;
        return out;
    }
    // orrery_client_own_body().
    orrery_body_id own_body() const { return orrery_client_own_body(handle_.get()); }

    // False, and empty arrays, before the first states have arrived. The arrays keep their memory between calls.
    bool sample(std::uint64_t now_ns, Samples& out) {
        orrery_samples samples{};
        samples.struct_size = sizeof samples;
        std::uint32_t capacity = static_cast<std::uint32_t>(out.ids.capacity());
        orrery_status status = ORRERY_TOO_SMALL;
        while (status == ORRERY_TOO_SMALL) {
            resize(out, capacity);
            samples.capacity = capacity;
            samples.ids = out.ids.data();
            samples.positions = out.positions.empty() ? nullptr : out.positions[0].data();
            samples.orientations = out.orientations.empty() ? nullptr : out.orientations[0].data();
            samples.linear_velocities = out.linear_velocities.empty() ? nullptr : out.linear_velocities[0].data();
            samples.angular_velocities = out.angular_velocities.empty() ? nullptr : out.angular_velocities[0].data();
            status = orrery_client_sample(handle_.get(), now_ns, &samples);
            capacity = samples.available;
        }
        resize(out, samples.count);
        out.tick = samples.tick;
        return status == ORRERY_OK;
    }

    orrery_client* handle() const { return handle_.get(); }  // for orrery/client.h; stays owned

  private:
    struct Destroy {
        void operator()(orrery_client* client) const { orrery_client_destroy(client); }
    };
    explicit Client(orrery_client* handle) : handle_(handle) {}

    template <class Struct, class Function>
    std::optional<Struct> get(Function function) const {
        Struct out{};
        out.struct_size = sizeof out;
        if (function(handle_.get(), &out) != ORRERY_OK) return std::nullopt;
        return out;
    }

    static void resize(Samples& samples, std::size_t count) {
        samples.ids.resize(count);
        samples.positions.resize(count);
        samples.orientations.resize(count);
        samples.linear_velocities.resize(count);
        samples.angular_velocities.resize(count);
    }

    std::unique_ptr<orrery_client, Destroy> handle_;
};

}  // namespace orrery::client
