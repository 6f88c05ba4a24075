// Prediction with rollback: one world that is ahead of the server's by the time that controls need to get there.
//
// Each predicted tick is stepped with this client's control for it and without any other command: others' controls are
// held, as the server holds them. The state after each is kept as a checkpoint. A confirmed tick whose commands are
// those that were predicted is already right: equal commands give equal states, and the hash confirms it. Otherwise
// the world goes back to the last confirmed tick, steps with the server's commands, and then ahead again. So it is
// others' changes of control that cause rollbacks, and not packets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client_sdk/src/mirror_seam.h"
#include "client_sdk/src/predicted_events.h"
#include "client_sdk/src/smoothing.h"
#include "client_sdk/src/step_clock.h"
#include "client_sdk/src/world_picture.h"
#include "orrery/sim.hpp"

namespace orrery::client {

inline constexpr std::uint32_t kMaxPredictedTicks = 60;  // ahead of the confirmed tick; a second at 60 Hz
// A mirror that is farther behind than this catches up before it predicts.
inline constexpr std::uint64_t kNoPredictionBehindTicks = 30;

// Kept for the next ticks; a deep prediction that is over gives back the rest.
inline constexpr std::size_t kMaxSpareCheckpoints = 4;

class Prediction {
  public:
    enum class Outcome : std::uint8_t { ok, diverged, failed };
    // False: the hashes differ.
    using Compare =
        std::function<bool(std::uint64_t tick, const protocol::MirrorReceiver::Tick& told, const sim::HashTree& hash)>;

    // `world` is at a confirmed tick; it, `events` and `clock` outlive this. `slot`: this client's, or kNoSlot.
    Prediction(sim::World& world, std::uint16_t slot, PredictedEvents& events, StepClock& clock);

    std::uint64_t confirmed() const { return confirmed_; }
    std::uint64_t predicted() const { return world_.tick(); }
    const std::string& error() const { return error_; }

    // Takes the server's ticks that have come. `steps`: how many more may be made now. `part`: of the tick that is
    // shown.
    Outcome confirm(protocol::ClientSession& session, const PredictionSettings& settings, protocol::TimeNs now,
                    double part, double& steps, WorldPicture& picture, Smoothing& smoothing, MirrorStats& stats,
                    const Compare& compare);
    // Steps to the tick of the newest control. False: the world has failed.
    bool go_ahead(protocol::ClientSession& session, const PredictionSettings& settings, WorldPicture& picture,
                  MirrorStats& stats);
    bool retreat();  // to the last confirmed tick. False: see error()
    void disturb(const sim::Command& command) { disturbance_ = command; }
    void keep_bodies(bool on) { keeps_bodies_ = on; }  // for confirmed_bodies(), of ticks from now on
    ConfirmedBodies confirmed_bodies() const;

  private:
    struct Entry {
        std::uint64_t tick = 0;
        std::unique_ptr<sim::Checkpoint> state;  // after it; null below the confirmed tick
        std::vector<std::uint8_t> coded;
        sim::HashTree hash;
        std::vector<sim::BodyMotion> bodies;  // after it, if they are kept
    };
    void checkpoint(Entry& made);
    void confirm_tick(std::uint64_t tick, MirrorStats& stats);
    Entry& entry(std::uint64_t tick) { return ring_[tick % ring_.size()]; }
    bool step(std::span<const sim::Command> commands, bool confirmed);
    bool predict_tick(const protocol::ClientSession& session);
    Outcome accept(protocol::MirrorReceiver& receiver, MirrorStats& stats, const Compare& compare);
    Outcome step_confirmed(protocol::MirrorReceiver& receiver, std::uint64_t predicted, double& steps,
                           WorldPicture& picture, MirrorStats& stats, const Compare& compare);
    void count_causes(protocol::Bytes predicted, protocol::Bytes confirmed, MirrorStats& stats);
    std::uint64_t most_ahead(const PredictionSettings& settings) const;

    sim::World& world_;
    std::uint16_t slot_;
    PredictedEvents& events_;
    StepClock& clock_;
    std::vector<Entry> ring_;
    std::vector<std::unique_ptr<sim::Checkpoint>> spare_;  // of ticks below the confirmed one, to be used again
    std::uint32_t checkpoints_ = 0;                        // in ring_ and spare_
    std::uint64_t confirmed_ = 0;
    std::vector<sim::Command> commands_, others_;
    std::vector<ShownBody> before_, after_;
    std::optional<sim::Command> disturbance_;
    bool keeps_bodies_ = false;
    std::vector<sim::BodyMotion> confirmed_bodies_, predicted_bodies_;  // both of the confirmed tick
    double ms_per_tick_ = 0.0;                                          // of rollbacks, smoothed; 0: not measured
    std::uint64_t decayed_at_ = 0;                                      // tick of the clock of controls
    std::string error_;
};

}  // namespace orrery::client
