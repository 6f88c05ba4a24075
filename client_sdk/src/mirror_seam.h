// What a connection needs of a mirror: a world that the client steps by itself, with the server's commands. A build
// without the simulation has none (no_mirror.cpp), and then make_mirror() returns null.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client_sdk/src/step_clock.h"
#include "protocol/session/client_session.h"
#include "protocol/session/world_events.h"

namespace orrery::client {

struct PredictionSettings {
    bool on = false;
    // The control that is set now acts so many ticks later. Less is then predicted, and less is corrected.
    std::uint32_t input_delay_ticks = 0;
    double max_rollback_ms = 8.0;  // as many ticks are predicted as can be stepped again in this time
    // A clock in nanoseconds that measures how long rollbacks take. Null: they are not measured, and max_rollback_ms
    // has no effect.
    std::uint64_t (*clock)(void* user) = nullptr;
    void* user = nullptr;
};
inline constexpr std::uint32_t kMaxInputDelayTicks = 6;

struct MirrorStats {
    std::uint64_t confirmed_tick = 0;  // the last one that was stepped with the server's commands
    std::uint64_t hashes_compared = 0, divergences = 0, states = 0;
    std::uint64_t waiting_ticks = 0;  // whose commands have come, and that are not stepped
    // Prediction.
    std::uint64_t predicted_tick = 0;  // the last one that was stepped
    std::uint64_t ticks_as_predicted = 0, rollbacks = 0, ticks_again = 0;
    std::uint32_t last_depth = 0, max_depth = 0;  // ticks
    std::uint32_t checkpoints = 0;                // that prediction holds
    // Confirmed ticks whose commands were not those that were predicted, by what was different.
    std::uint64_t others_controls = 0, own_controls = 0, other_commands = 0;
    double last_rollback_ms = 0.0, max_rollback_ms = 0.0, sum_rollback_ms = 0.0;
    double last_correction_mm = 0.0, max_correction_mm = 0.0, sum_correction_mm = 0.0;  // of the own bodies
    std::uint64_t cuts = 0;            // corrections too large to be smoothed
    std::uint64_t events_dropped = 0;  // events of the world that found no place among those that were not taken
};

struct MirrorEvent {
    std::uint64_t tick = 0;
    std::string subsystem;  // the first that differs; "unknown" if the server has forgotten the tick
};

struct ShownBody {
    sim::BodyId id;
    sim::Pose pose;
    sim::Vec3 linear_velocity, angular_velocity;
};

// The numbers of ORRERY_CERTAINTY_*.
enum class Certainty : std::uint8_t {
    certain,    // it has happened, and was not told before
    predicted,  // it is expected to happen
    confirmed,  // what was predicted has happened
    cancelled,  // what was predicted does not happen
};

// Bodies of the last tick that the server has confirmed, in order of index. 0: not known.
struct ConfirmedBodies {
    std::uint64_t tick = 0;
    std::span<const sim::BodyMotion> bodies;
    std::span<const sim::BodyMotion> predicted;  // the same tick as it was predicted before; empty: it was not
};

struct ToldEvent {
    std::uint64_t tick = 0;
    Certainty certainty = Certainty::certain;
    protocol::WorldEvent event;
};

// Is told each confirmed tick with its root hash; for tests. Every tick is then hashed.
class MirrorObserver {
  public:
    virtual void confirmed(std::uint64_t tick, std::uint64_t root) = 0;

  protected:
    ~MirrorObserver() = default;
};

class Mirror {
  public:
    virtual ~Mirror() = default;

    virtual void give_scene(protocol::Bytes bytes) = 0;  // JSON or binary; used where it is the server's scene
    virtual void start() = 0;                            // a new session begins
    // Takes what has come, and steps. `shown_tick`: the moment that the jitter buffer shows. False: it cannot go on,
    // and error() says why.
    virtual bool poll(protocol::ClientSession& session, protocol::TimeNs now, double shown_tick) = 0;
    virtual const std::string& error() const = 0;
    virtual bool running() const = 0;  // the world is there
    virtual bool next_event(MirrorEvent& out) = 0;
    // Which events of the world next_world_event() tells; the default: none.
    virtual void set_events(const protocol::EventRule& rule) = 0;
    virtual bool next_world_event(ToldEvent& out) = 0;
    // The bodies in order of index, and the moment that they are shown at, in ticks.
    virtual double picture(protocol::TimeNs now, double shown_tick, std::vector<ShownBody>& out) = 0;
    virtual void set_prediction(const PredictionSettings& settings) = 0;
    virtual const MirrorStats& stats() const = 0;
    virtual const StepClock& step_clock() const = 0;
    virtual void set_step_clock(StepClock::Clock clock, void* user) = 0;  // see StepClock::set()
    virtual void set_observer(MirrorObserver* observer) = 0;
    // Also applied in the next tick that is stepped, which makes the world another one; for tests.
    virtual void disturb(const sim::Command& command) = 0;
    virtual const sim::World* world() const = 0;  // null: not there
    // Whether prediction keeps the bodies of each tick for confirmed().
    virtual void set_confirmed(bool on) = 0;
    virtual ConfirmedBodies confirmed() const = 0;  // valid until the next poll()
};

std::unique_ptr<Mirror> make_mirror();

// Of a scene, JSON or binary. The value is null in a build without the simulation.
Result<std::shared_ptr<const protocol::SceneBaseline>> make_baseline(protocol::Bytes scene);

}  // namespace orrery::client
