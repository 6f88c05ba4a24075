#include "client_sdk/src/prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery::client {

using namespace orrery::protocol;

namespace {

constexpr double kCostSmoothing = 0.1;
constexpr double kMaxCostRise = 4.0;  // of one sample: another program's turn on the processor is not the world's cost
constexpr double kCostDecay = 0.998;  // a tick while the cost limits the prediction: without rollbacks nothing else
                                      // would show that it has become less

const sim::Command* control_of(std::span<const sim::Command> commands, std::uint16_t slot) {
    for (const sim::Command& command : commands) {
        if (command.kind == sim::CommandKind::control && command.slot == slot) return &command;
    }
    return nullptr;
}

bool same_control(const sim::Command* a, const sim::Command* b) {
    if (!a || !b) return a == b;
    return a->channels == b->channels;
}

double distance_m(std::span<const ShownBody> before, std::span<const ShownBody> after, sim::BodyId id) {
    const auto of = [&](std::span<const ShownBody> bodies) {
        return std::find_if(bodies.begin(), bodies.end(), [&](const ShownBody& body) { return body.id == id; });
    };
    const auto a = of(before), b = of(after);
    if (a == before.end() || b == after.end()) return 0.0;
    const sim::Vec3 &p = a->pose.position, &q = b->pose.position;
    return std::hypot(static_cast<double>(p.x) - static_cast<double>(q.x),
                      static_cast<double>(p.y) - static_cast<double>(q.y),
                      static_cast<double>(p.z) - static_cast<double>(q.z));
}

sim::BodyId own_body(const ClientSession& session) {
    for (const MirrorBody& body : session.bodies()) {
        if (body.alive && body.description.slot == session.hello().slot) return body.description.id;
    }
    return {};
}

}  // namespace

Prediction::Prediction(sim::World& world, std::uint16_t slot, PredictedEvents& events, StepClock& clock)
    : world_(world),
      slot_(slot),
      events_(events),
      clock_(clock),
      ring_(kMaxPredictedTicks + 2),
      confirmed_(world.tick()) {
    entry(confirmed_).tick = confirmed_;
    checkpoint(entry(confirmed_));
}

// A checkpoint is as large as the world: only those from the confirmed tick on are kept.
void Prediction::checkpoint(Entry& made) {
    if (!made.state && !spare_.empty()) {
        made.state = std::move(spare_.back());
        spare_.pop_back();
    } else if (!made.state) {
        made.state = std::make_unique<sim::Checkpoint>();
        ++checkpoints_;
    }
    world_.checkpoint(*made.state);
}

void Prediction::confirm_tick(std::uint64_t tick, MirrorStats& stats) {
    std::unique_ptr<sim::Checkpoint>& old = entry(confirmed_).state;
    if (spare_.size() < kMaxSpareCheckpoints)
        spare_.push_back(std::move(old));
    else
        --checkpoints_;
    old.reset();
    confirmed_ = tick;
    std::swap(confirmed_bodies_, entry(tick).bodies);
    stats.confirmed_tick = tick;
    stats.checkpoints = checkpoints_;
}

ConfirmedBodies Prediction::confirmed_bodies() const {
    if (confirmed_bodies_.empty()) return {};
    return {confirmed_, confirmed_bodies_, predicted_bodies_};
}

bool Prediction::retreat() {
    const StepTurn turn(clock_);
    clock_.turn(StepPart::state);
    const Result<Ok> back = world_.roll_back(*entry(confirmed_).state);
    if (!back) error_ = back.error().to_string();
    return static_cast<bool>(back);
}

bool Prediction::step(std::span<const sim::Command> commands, bool confirmed) {
    const StepTurn turn(clock_);
    const sim::StepStatus status = clock_.step(world_, commands);
    if (status != sim::StepStatus::ok) {
        error_ = sim::step_error(status, world_.tick() + 1).to_string();
        return false;
    }
    Entry& made = entry(world_.tick());
    made.tick = world_.tick();
    made.coded.clear();
    encode_commands(commands, made.coded);
    made.hash = world_.hash();
    checkpoint(made);
    made.bodies.clear();
    if (keeps_bodies_) WorldPicture::read(world_, made.bodies);
    events_.happened(world_.tick(), world_.events(), confirmed);
    return true;
}

// With this client's control, if it is another than the one that the world holds.
bool Prediction::predict_tick(const ClientSession& session) {
    commands_.clear();
    const WireControl* control = slot_ == kNoSlot ? nullptr : session.own_control(world_.tick() + 1);
    if (control && world_.slot_taken(slot_)) {
        const std::array<float, sim::kControlChannels> channels = from_wire(*control);
        if (channels != world_.controls(slot_)) commands_.push_back(sim::Command::control(slot_, channels));
    }
    return step(commands_, false);
}

// Ticks that were predicted right.
Prediction::Outcome Prediction::accept(MirrorReceiver& receiver, MirrorStats& stats, const Compare& compare) {
    while (const MirrorReceiver::Tick* next = receiver.next()) {
        const std::uint64_t tick = confirmed_ + 1;
        if (tick > world_.tick() || entry(tick).coded != next->coded || disturbance_) break;
        confirm_tick(tick, stats);
        predicted_bodies_ = confirmed_bodies_;
        ++stats.ticks_as_predicted;
        events_.confirm(tick);
        const bool same = compare(tick, *next, entry(tick).hash);
        receiver.pop();
        if (!same) return Outcome::diverged;
    }
    return Outcome::ok;
}

Prediction::Outcome Prediction::step_confirmed(MirrorReceiver& receiver, std::uint64_t predicted, double& steps,
                                               WorldPicture& picture, MirrorStats& stats, const Compare& compare) {
    while (const MirrorReceiver::Tick* next = receiver.next()) {
        const std::uint64_t tick = confirmed_ + 1;
        if (tick > predicted && steps < 1.0) break;
        if (tick <= predicted && entry(tick).coded != next->coded) count_causes(entry(tick).coded, next->coded, stats);
        decode_commands(next->coded, others_);
        if (disturbance_) others_.push_back(*std::exchange(disturbance_, std::nullopt));
        predicted_bodies_.clear();
        if (tick <= predicted) std::swap(predicted_bodies_, entry(tick).bodies);
        if (!step(others_, true)) return Outcome::failed;
        if (tick > predicted) steps -= 1.0;
        if (tick + 1 >= predicted) picture.take(world_, false);
        confirm_tick(tick, stats);
        const bool same = compare(tick, *next, entry(tick).hash);
        receiver.pop();
        if (!same) return Outcome::diverged;
    }
    return Outcome::ok;
}

Prediction::Outcome Prediction::confirm(ClientSession& session, const PredictionSettings& settings, TimeNs now,
                                        double part, double& steps, WorldPicture& picture, Smoothing& smoothing,
                                        MirrorStats& stats, const Compare& compare) {
    MirrorReceiver& receiver = *session.mirror();
    const Outcome accepted = accept(receiver, stats, compare);
    if (accepted != Outcome::ok || !receiver.next()) return accepted;
    const std::uint64_t predicted = world_.tick(), from = confirmed_, depth = predicted - from;
    if (depth == 0) return step_confirmed(receiver, predicted, steps, picture, stats, compare);

    picture.at(part, before_);
    const std::uint64_t started = settings.clock ? settings.clock(settings.user) : 0;
    if (!retreat()) return Outcome::failed;
    events_.went_back(confirmed_);
    if (depth == 1) picture.take(world_, true);
    const Outcome outcome = step_confirmed(receiver, predicted, steps, picture, stats, compare);
    if (outcome != Outcome::ok) return outcome;
    while (world_.tick() < predicted) {
        if (!predict_tick(session)) return Outcome::failed;
        if (world_.tick() + 1 >= predicted) picture.take(world_, false);
    }
    events_.stepped_again();
    ++stats.rollbacks;
    stats.ticks_again += depth;
    stats.last_depth = static_cast<std::uint32_t>(depth);
    stats.max_depth = std::max(stats.max_depth, stats.last_depth);
    if (settings.clock) {
        const double ms = static_cast<double>(settings.clock(settings.user) - started) * 1e-6;
        stats.last_rollback_ms = ms;
        stats.max_rollback_ms = std::max(stats.max_rollback_ms, ms);
        stats.sum_rollback_ms += ms;
        const double each = ms / static_cast<double>(world_.tick() - from);
        const double sample = ms_per_tick_ == 0.0 ? each : std::min(each, kMaxCostRise * ms_per_tick_);
        ms_per_tick_ = ms_per_tick_ == 0.0 ? each : ms_per_tick_ + (sample - ms_per_tick_) * kCostSmoothing;
    }
    // After a pause the server's ticks lead past what was predicted: the way between is motion, not a correction.
    if (world_.tick() != predicted) return Outcome::ok;
    picture.at(part, after_);
    stats.last_correction_mm = distance_m(before_, after_, own_body(session)) * 1e3;
    stats.max_correction_mm = std::max(stats.max_correction_mm, stats.last_correction_mm);
    stats.sum_correction_mm += stats.last_correction_mm;
    stats.cuts += smoothing.correct(before_, after_, now);
    return Outcome::ok;
}

void Prediction::count_causes(Bytes predicted, Bytes confirmed, MirrorStats& stats) {
    decode_commands(predicted, commands_);
    decode_commands(confirmed, others_);
    const bool own = !same_control(control_of(commands_, slot_), control_of(others_, slot_));
    bool controls = false, other = false;
    for (const sim::Command& command : others_) {
        const bool control = command.kind == sim::CommandKind::control;
        controls = controls || (control && command.slot != slot_);
        other = other || !control;
    }
    stats.own_controls += own ? 1 : 0;
    stats.others_controls += controls ? 1 : 0;
    stats.other_commands += other ? 1 : 0;
}

std::uint64_t Prediction::most_ahead(const PredictionSettings& settings) const {
    if (!settings.clock || ms_per_tick_ <= 0.0 || settings.max_rollback_ms <= 0.0) return kMaxPredictedTicks;
    const double ticks = std::floor(settings.max_rollback_ms / ms_per_tick_);
    return static_cast<std::uint64_t>(std::clamp(ticks, 1.0, static_cast<double>(kMaxPredictedTicks)));
}

bool Prediction::go_ahead(ClientSession& session, const PredictionSettings& settings, WorldPicture& picture,
                          MirrorStats& stats) {
    const MirrorReceiver& receiver = *session.mirror();
    const std::uint64_t delay = std::min(settings.input_delay_ticks, kMaxInputDelayTicks);
    const std::uint64_t behind = receiver.newest_tick() - std::min(receiver.newest_tick(), confirmed_);
    std::uint64_t target = session.control_tick() - std::min(session.control_tick(), delay);
    const std::uint64_t most = confirmed_ + most_ahead(settings), clock = session.control_tick();
    if (target > most && clock > decayed_at_) ms_per_tick_ *= kCostDecay;
    decayed_at_ = clock;
    target = std::min(target, most);
    while (behind <= kNoPredictionBehindTicks && world_.tick() < target) {
        if (!predict_tick(session)) return false;
        picture.take(world_, false);
    }
    stats.predicted_tick = world_.tick();
    return true;
}

}  // namespace orrery::client
