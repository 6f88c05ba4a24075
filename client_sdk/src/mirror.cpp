#include "client_sdk/src/mirror.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "protocol/scene/scene.h"

namespace orrery::client {

using namespace orrery::protocol;

namespace {

std::vector<sim::ShapeDef> shapes_of(const sim::WorldDef& def) {
    std::vector<sim::ShapeDef> shapes;
    for (const sim::ShapeDef& shape : def.shapes)
        shapes.push_back({{}, shape.type, shape.radius, shape.half_height, shape.half_extents});
    return shapes;
}

Vocabulary vocabulary_of(const sim::WorldDef& def) {
    Vocabulary words;
    for (const sim::PrefabDef& prefab : def.prefabs) {
        TemplateNames& names = words.templates.emplace_back();
        names.name = prefab.name;
        for (const sim::BodyDef& body : prefab.bodies) names.members.push_back(body.name);
    }
    for (const sim::MaterialDef& material : def.materials) words.materials.push_back(material.name);
    return words;
}

// Of the bodies of the scene.
std::map<sim::BodyId, std::string> names_of(const sim::World& world) {
    std::map<sim::BodyId, std::string> names;
    std::uint32_t index = 0;  // each body is one behind its place in the definition
    for (const sim::BodyDef& body : world.definition().bodies) {
        if (++index; !body.name.empty()) names.emplace(sim::BodyId{index, 0}, body.name.substr(0, kMaxWireNameBytes));
    }
    return names;
}

BodyDescription describe(const sim::BodyState& body) {
    return {body.id, body.shape, body.slot, body.type, body.material, body.prefab, body.member, body.user_data};
}

std::string first_difference(const sim::HashTree& own, const MirrorLeaves& servers) {
    if (!servers.leaves) return "unknown";
    for (std::size_t i = 0; i < sim::kSubsystemCount; ++i) {
        if (own.leaves[i] != (*servers.leaves)[i])
            return std::string(sim::subsystem_name(static_cast<sim::Subsystem>(i)));
    }
    return "root";
}

}  // namespace

std::unique_ptr<Mirror> make_mirror() { return std::make_unique<WorldMirror>(); }

void WorldMirror::start() {
    scene_asked_ = joined_ = diverged_ = false;
    world_.reset();
    prediction_.reset();
    own_hash_.reset();
    state_tick_.reset();
    state_.clear();
    steps_ = 0.0;
    picture_.clear();
    smoothing_.clear();
    world_events_.cancel();
    told_.clear();
    error_.clear();
    stats_ = {};
}

bool WorldMirror::fail(std::string text) {
    error_ = std::move(text);
    return false;
}

bool WorldMirror::poll(ClientSession& session, TimeNs now, double shown_tick) {
    MirrorReceiver* receiver = session.mirror();
    if (!receiver || session.state() == ClientSession::State::awaiting_hello) return true;
    tick_rate_hz_ = session.hello().tick_rate_hz;
    const double elapsed = static_cast<double>(now - std::min(now, polled_at_)) * 1e-9 * tick_rate_hz_;
    polled_at_ = now;
    const auto delay = std::min(settings_.input_delay_ticks, kMaxInputDelayTicks);
    shown_ = static_cast<double>(session.control_tick()) - delay - 1.0 + session.control_phase();
    steps_ = std::min(steps_ + elapsed * kCatchUpRate, kMaxStepsPerPoll);
    answer(session);  // it comes before the new state
    if (!find_scene(session) || !take_state(session)) return false;
    if (world_ && !diverged_) {
        if (!(settings_.on ? predict(session, now) : follow(session, shown_tick))) return false;
        tell_bodies(session);
    }
    stats_.events_dropped += world_events_.take_dropped();
    const std::uint64_t complete = receiver->complete_up_to();
    stats_.waiting_ticks = complete >= receiver->next_tick() ? complete - receiver->next_tick() + 1 : 0;
    return true;
}

// Makes the definition once its scene is there.
bool WorldMirror::find_scene(ClientSession& session) {
    const ServerHello& hello = session.hello();
    if (definition_ && scene_hash_ == hello.scene_hash) return true;
    if (!given_scene_.empty()) {
        const std::vector<std::uint8_t> given = std::exchange(given_scene_, {});
        if (load(given, hello.scene_hash, hello.scene_name)) return true;
        error_.clear();  // it is another scene: the server's own will do
    }
    if (!session.scene().empty()) return load(session.scene(), hello.scene_hash, hello.scene_name);
    if (scene_asked_) return true;
    scene_asked_ = true;
    if (hello.scene_bytes == 0) return fail("the server does not give its scene away, and this client has another one");
    session.request_scene();
    return true;
}

bool WorldMirror::load(Bytes bytes, std::uint64_t scene_hash, const std::string& name) {
    Result<LoadedScene> scene = load_scene(bytes, name);
    if (!scene) return fail(scene.error().to_string());
    if (scene->scene_hash != scene_hash) return fail("this client's scene is not the server's");
    Result<SharedScene> shared = share_scene(std::move(scene).value());
    if (!shared) return fail(shared.error().to_string());
    definition_ = shared->definition;
    scene_hash_ = scene_hash;
    return true;
}

bool WorldMirror::take_state(ClientSession& session) {
    std::uint64_t tick = 0;
    if (session.mirror()->take_state(tick, state_)) state_tick_ = tick;
    if (!state_tick_ || !definition_ || scene_hash_ != session.hello().scene_hash) return true;
    if (!world_) {
        auto world = sim::World::create(definition_, {});
        if (!world) return fail(world.error().to_string());
        world_ = std::move(world).value();
        names_ = names_of(*world_);
    }
    const Result<Ok> restored = world_->restore(state_);
    state_ = {};
    if (!restored) return fail("the server's state cannot be used: " + restored.error().to_string());
    if (world_->tick() != *state_tick_) return fail("the server's state is of another tick than it says");
    state_tick_.reset();
    diverged_ = false;
    own_hash_.reset();
    prediction_.reset();
    smoothing_.clear();
    world_events_.cancel();  // what was predicted on the wrong world is not known to happen
    ++stats_.states;
    stats_.confirmed_tick = world_->tick();
    picture_.take(*world_, true);
    if (!joined_) session.begin_mirror_world(shapes_of(world_->definition()), vocabulary_of(world_->definition()));
    tell_bodies(session);
    if (!std::exchange(joined_, true)) session.mirror_joined(world_->tick());
    return true;
}

// Steps with the server's commands up to the tick that is to be shown.
bool WorldMirror::follow(ClientSession& session, double shown_tick) {
    MirrorReceiver& receiver = *session.mirror();
    if (prediction_) {  // it was turned off
        if (!prediction_->retreat()) return fail(prediction_->error());
        world_events_.went_back(prediction_->confirmed());
        world_events_.stepped_again();
        prediction_.reset();
        smoothing_.drop_offsets();
        picture_.take(*world_, true);
        stats_.predicted_tick = 0;
    }
    if (receiver.next_tick() != world_->tick() + 1) return fail("a tick is missing");
    const double wanted = std::ceil(shown_tick) - static_cast<double>(world_->tick());
    const auto waiting = static_cast<double>(receiver.complete_up_to() - world_->tick());
    double left = std::floor(std::min({steps_, wanted, waiting}));
    for (; left >= 1.0; left -= 1.0) {
        const MirrorReceiver::Tick* next = receiver.next();
        if (!next) break;
        const bool same = step(session, *next);
        if (!error_.empty()) return false;
        receiver.pop();
        steps_ -= 1.0;
        if (left < 3.0 || !same) picture_.take(*world_, false);  // the last two are shown
        if (!same) break;
    }
    return true;
}

// False: the world is not the server's any more, or has failed (error_).
bool WorldMirror::step(ClientSession& session, const MirrorReceiver::Tick& tick) {
    decode_commands(tick.coded, commands_);
    if (disturbance_) commands_.push_back(*std::exchange(disturbance_, std::nullopt));
    const StepTurn turn(step_clock_);
    const sim::StepStatus status = step_clock_.step(*world_, commands_);
    if (status != sim::StepStatus::ok) return fail(sim::step_error(status, world_->tick() + 1).to_string());
    stats_.confirmed_tick = world_->tick();
    world_events_.happened(world_->tick(), world_->events(), true);
    if (!tick.root && !observer_) return true;
    return compare(session, world_->tick(), tick, world_->hash());
}

bool WorldMirror::compare(ClientSession& session, std::uint64_t tick, const MirrorReceiver::Tick& told,
                          const sim::HashTree& hash) {
    if (observer_) observer_->confirmed(tick, hash.root);
    if (!told.root) return true;
    ++stats_.hashes_compared;
    if (*told.root == hash.root) return true;
    ++stats_.divergences;
    diverged_ = true;
    own_hash_ = {tick, hash};
    session.report_divergence(tick);
    return false;
}

// Goes ahead of the server.
bool WorldMirror::predict(ClientSession& session, TimeNs now) {
    if (!prediction_) {
        prediction_ = std::make_unique<Prediction>(*world_, session.hello().slot, world_events_, step_clock_);
        picture_.take(*world_, true);
    }
    MirrorReceiver& receiver = *session.mirror();
    prediction_->keep_bodies(keeps_confirmed_);
    if (receiver.next_tick() != prediction_->confirmed() + 1) return fail("a tick is missing");
    const auto compare_told = [&](std::uint64_t tick, const MirrorReceiver::Tick& told, const sim::HashTree& hash) {
        return compare(session, tick, told, hash);
    };
    if (disturbance_) prediction_->disturb(*std::exchange(disturbance_, std::nullopt));
    const Prediction::Outcome outcome = prediction_->confirm(session, settings_, now, part_at(shown_), steps_, picture_,
                                                             smoothing_, stats_, compare_told);
    if (outcome == Prediction::Outcome::ok && !prediction_->go_ahead(session, settings_, picture_, stats_))
        return fail(prediction_->error());
    if (outcome == Prediction::Outcome::failed) return fail(prediction_->error());
    return true;
}

// Of the last two ticks of the picture. It stands still where the world is not at the tick that is to be shown.
double WorldMirror::part_at(double shown) const {
    return std::clamp(shown - (static_cast<double>(picture_.tick()) - 1.0), 0.0, 1.0);
}

double WorldMirror::picture(TimeNs now, double shown_tick, std::vector<ShownBody>& out) {
    if (!prediction_) {
        const double behind = static_cast<double>(picture_.tick()) - shown_tick;
        picture_.at(1.0 - behind, out);
        return static_cast<double>(picture_.tick()) - std::clamp(behind, 0.0, 1.0);
    }
    const double since = static_cast<double>(now - std::min(now, polled_at_)) * 1e-9 * tick_rate_hz_;
    const double part = part_at(shown_ + since);
    picture_.at(part, out);
    smoothing_.apply(out, now);
    return static_cast<double>(picture_.tick()) - 1.0 + part;
}

ConfirmedBodies WorldMirror::confirmed() const {
    if (prediction_) return prediction_->confirmed_bodies();
    return {picture_.tick(), picture_.bodies(), picture_.bodies()};
}

// The server's answer to a report.
void WorldMirror::answer(ClientSession& session) {
    const std::optional<MirrorLeaves> leaves = session.mirror()->take_leaves();
    if (!leaves || !own_hash_ || own_hash_->first != leaves->tick) return;
    if (events_.size() >= kMaxUnreadMirrorEvents) events_.pop_front();
    events_.push_back({leaves->tick, first_difference(own_hash_->second, *leaves)});
    own_hash_.reset();
}

bool WorldMirror::next_event(MirrorEvent& out) {
    if (events_.empty()) return false;
    out = std::move(events_.front());
    events_.pop_front();
    return true;
}

// What is shown and what the session knows of are the same bodies.
void WorldMirror::tell_bodies(ClientSession& session) {
    const std::vector<sim::BodyMotion>& bodies = picture_.bodies();
    const auto same = [](const sim::BodyMotion& a, const sim::BodyMotion& b) {
        return a.id == b.id && a.type == b.type;
    };
    if (std::equal(bodies.begin(), bodies.end(), told_.begin(), told_.end(), same)) return;
    std::size_t old = 0;
    std::vector<sim::BodyId> came;
    for (const sim::BodyMotion& body : bodies) {
        for (; old < told_.size() && told_[old].id.index < body.id.index; ++old)
            session.remove_mirror_body(told_[old].id, picture_.tick());
        if (old < told_.size() && told_[old].id.index == body.id.index) {
            const bool stays = told_[old].id == body.id;
            if (!stays) session.remove_mirror_body(told_[old].id, picture_.tick());
            if (!same(told_[old], body)) came.push_back(body.id);
            ++old;
        } else {
            came.push_back(body.id);
        }
    }
    for (; old < told_.size(); ++old) session.remove_mirror_body(told_[old].id, picture_.tick());
    for (const sim::BodyId& id : came) {
        const auto name = names_.find(id);
        session.add_mirror_body(describe(world_->body(id)),
                                name == names_.end() ? std::string_view() : std::string_view(name->second),
                                picture_.tick());
    }
    told_ = bodies;
    world_->read_bodies(states_);
    smoothing_.set_groups(states_);
}

Result<std::shared_ptr<const protocol::SceneBaseline>> make_baseline(protocol::Bytes scene) {
    Result<protocol::SceneBaseline> made = protocol::make_scene_baseline(scene);
    if (!made) return made.error();
    return std::make_shared<const protocol::SceneBaseline>(std::move(made).value());
}

}  // namespace orrery::client
