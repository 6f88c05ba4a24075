// The mirror: the server's world, stepped here.
//
// From the scene it makes the definition, from the server's state the world, and each tick it steps with the server's
// commands. Equal commands give equal states, on any machine; the root hash that comes with a tick shows it. Where it
// differs, the mirror stands still, asks for the hashes of the parts, and goes on from a new state.
//
// Without prediction it follows the jitter buffer: the world makes the step to a tick when the moment shown has passed
// the tick before. With prediction (prediction.h) it is ahead of the server.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client_sdk/src/mirror_seam.h"
#include "client_sdk/src/predicted_events.h"
#include "client_sdk/src/prediction.h"
#include "client_sdk/src/smoothing.h"
#include "client_sdk/src/world_picture.h"
#include "orrery/sim.hpp"

namespace orrery::client {

// A mirror that is behind steps so many times as fast as the server, and at most so many ticks in one poll.
inline constexpr double kCatchUpRate = 8.0;
inline constexpr double kMaxStepsPerPoll = 64.0;
inline constexpr std::size_t kMaxUnreadMirrorEvents = 64;

class WorldMirror final : public Mirror {
  public:
    void give_scene(protocol::Bytes bytes) override { given_scene_.assign(bytes.begin(), bytes.end()); }
    void start() override;
    bool poll(protocol::ClientSession& session, protocol::TimeNs now, double shown_tick) override;
    const std::string& error() const override { return error_; }
    bool running() const override { return world_ && joined_; }
    bool next_event(MirrorEvent& out) override;
    void set_events(const protocol::EventRule& rule) override { world_events_.set_rule(rule); }
    bool next_world_event(ToldEvent& out) override { return world_events_.next(out); }
    double picture(protocol::TimeNs now, double shown_tick, std::vector<ShownBody>& out) override;
    void set_prediction(const PredictionSettings& settings) override { settings_ = settings; }
    const MirrorStats& stats() const override { return stats_; }
    const StepClock& step_clock() const override { return step_clock_; }
    void set_step_clock(StepClock::Clock clock, void* user) override { step_clock_.set(clock, user); }
    void set_observer(MirrorObserver* observer) override { observer_ = observer; }
    void disturb(const sim::Command& command) override { disturbance_ = command; }
    const sim::World* world() const override { return world_.get(); }
    void set_confirmed(bool on) override { keeps_confirmed_ = on; }
    ConfirmedBodies confirmed() const override;

  private:
    bool find_scene(protocol::ClientSession& session);
    bool load(protocol::Bytes bytes, std::uint64_t scene_hash, const std::string& name);
    bool take_state(protocol::ClientSession& session);
    void answer(protocol::ClientSession& session);
    bool follow(protocol::ClientSession& session, double shown_tick);
    bool step(protocol::ClientSession& session, const protocol::MirrorReceiver::Tick& tick);
    bool compare(protocol::ClientSession& session, std::uint64_t tick, const protocol::MirrorReceiver::Tick& told,
                 const sim::HashTree& hash);
    bool predict(protocol::ClientSession& session, protocol::TimeNs now);
    void tell_bodies(protocol::ClientSession& session);
    double part_at(double shown) const;
    bool fail(std::string text);

    std::vector<std::uint8_t> given_scene_;
    std::shared_ptr<const sim::Definition> definition_;
    std::uint64_t scene_hash_ = 0;  // of definition_
    bool scene_asked_ = false;
    std::unique_ptr<sim::World> world_;
    std::map<sim::BodyId, std::string> names_;  // of the scene's bodies, whether they live or not
    bool joined_ = false;
    bool diverged_ = false;                                            // until the next state
    std::optional<std::pair<std::uint64_t, sim::HashTree>> own_hash_;  // of the tick that diverged
    std::optional<std::uint64_t> state_tick_;                          // of state_, which waits for the scene
    std::vector<std::uint8_t> state_;
    double steps_ = 0.0;  // that may be made now
    protocol::TimeNs polled_at_ = 0;
    WorldPicture picture_;
    std::vector<sim::BodyMotion> told_;  // the bodies that the session knows of
    std::vector<sim::Command> commands_;
    std::optional<sim::Command> disturbance_;
    PredictionSettings settings_;
    std::unique_ptr<Prediction> prediction_;
    bool keeps_confirmed_ = false;
    Smoothing smoothing_;
    PredictedEvents world_events_;
    std::vector<sim::BodyState> states_;
    double shown_ = 0.0;  // the moment that prediction shows, in ticks, at polled_at_
    double tick_rate_hz_ = 60.0;
    std::deque<MirrorEvent> events_;
    MirrorStats stats_;
    StepClock step_clock_;
    MirrorObserver* observer_ = nullptr;
    std::string error_;
};

}  // namespace orrery::client
