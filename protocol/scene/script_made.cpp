#include "protocol/scene/script_made.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace orrery::protocol {

namespace {

// The last of `makers`, which ascend, that begins at or before the thing and has any.
const ScriptMade::Maker& maker_of(const std::vector<ScriptMade::Maker>& makers, std::uint32_t thing,
                                  std::uint32_t ScriptMade::Maker::*first) {
    const auto after =
        std::upper_bound(makers.begin(), makers.end(), thing,
                         [&](std::uint32_t t, const ScriptMade::Maker& maker) { return t < maker.*first; });
    return *std::prev(after);
}

bool earlier(const ScriptMade::Use& x, const ScriptMade::Use& y) { return x.thing < y.thing; }

std::span<const ScriptMade::Use> uses_of(const std::vector<ScriptMade::Use>& uses, std::uint32_t thing) {
    const auto [first, last] = std::equal_range(uses.begin(), uses.end(), ScriptMade::Use{.thing = thing}, earlier);
    return {first, last};
}

sim::BodyId& body_field(sim::Command& command, ScriptMade::Field field) {
    switch (field) {
        case ScriptMade::Field::a:
            return command.order.a;
        case ScriptMade::Field::b:
            return command.order.b;
        case ScriptMade::Field::c:
            return command.order.c;
        case ScriptMade::Field::d:
            return command.order.d;
        default:
            return command.body;
    }
}

}  // namespace

const ScriptMade::Maker& ScriptMade::add(Maker maker, std::vector<std::string> body_names) {
    maker.first_body = static_cast<std::uint32_t>(bodies_.size());
    maker.first_joint = static_cast<std::uint32_t>(joints_.size());
    for (std::string& name : body_names) bodies_.push_back({.name = std::move(name)});
    joints_.resize(joints_.size() + maker.joints);
    return makers_.emplace_back(maker);
}

const ScriptMade::Maker& ScriptMade::maker_of_body(std::uint32_t thing) const {
    return maker_of(makers_, thing, &Maker::first_body);
}
const ScriptMade::Maker& ScriptMade::maker_of_joint(std::uint32_t thing) const {
    return maker_of(makers_, thing, &Maker::first_joint);
}

void ScriptMade::add(const Use& use) { (use.field == Field::joint ? joint_uses_ : body_uses_).push_back(use); }

void ScriptMade::finish(std::span<const std::uint32_t> place) {
    for (std::vector<Use>* uses : {&body_uses_, &joint_uses_}) {
        for (Use& use : *uses) use.command = place[use.command];
        std::stable_sort(uses->begin(), uses->end(), earlier);
    }
    std::sort(makers_.begin(), makers_.end(), [](const Maker& x, const Maker& y) {
        return std::tie(x.tick, x.answer, x.tag) < std::tie(y.tick, y.answer, y.tag);
    });
}

void ScriptMade::note(const sim::World& world, std::span<sim::Command> commands) {
    const auto before = [](const Maker& maker, std::uint64_t tick) { return maker.tick < tick; };
    const auto first = std::lower_bound(makers_.begin(), makers_.end(), world.tick(), before),
               last = std::lower_bound(first, makers_.end(), world.tick() + 1, before);
    if (first == last) return;
    const std::span<const Maker> makers(first, last);
    std::vector<std::uint32_t> found(makers.size());  // bodies
    for (const sim::Event& event : world.events()) {
        if (event.kind != sim::EventKind::spawned && event.kind != sim::EventKind::joint_created) continue;
        const auto maker = std::partition_point(makers.begin(), makers.end(), [&](const Maker& m) {
            return std::tie(m.answer, m.tag) < std::tie(event.kind, event.tag);
        });
        if (maker == makers.end() || maker->answer != event.kind || maker->tag != event.tag) continue;
        if (event.kind == sim::EventKind::joint_created) {
            joints_[maker->first_joint] = event.joint;
            continue;
        }
        // Ids are given out ascending, so that the order of events is the template's.
        std::uint32_t& count = found[static_cast<std::size_t>(maker - makers.begin())];
        if (count < maker->bodies) bodies_[maker->first_body + count++].id = event.a;
    }
    note_template_joints(world, makers);
    for (const Maker& maker : makers) {
        for (std::uint32_t i = maker.first_body; i < maker.first_body + maker.bodies; ++i) {
            for (const Use& use : uses_of(body_uses_, i)) body_field(commands[use.command], use.field) = bodies_[i].id;
        }
        for (std::uint32_t i = maker.first_joint; i < maker.first_joint + maker.joints; ++i) {
            for (const Use& use : uses_of(joint_uses_, i)) commands[use.command].joint = joints_[i];
        }
    }
}

// No event tells their ids. At the end of the tick in which they were spawned, bodies have the joints of their template
// and no others, but for those that broke in it, which an event tells; indices ascend in the template's order.
void ScriptMade::note_template_joints(const sim::World& world, std::span<const Maker> makers) {
    std::vector<std::pair<sim::BodyId, std::uint32_t>> owners;  // a spawned body, and which of `makers` spawned it
    for (std::uint32_t i = 0; i < makers.size(); ++i) {
        const Maker& maker = makers[i];
        if (maker.answer != sim::EventKind::spawned || !used(maker.first_joint, maker.joints)) continue;
        for (std::uint32_t k = 0; k < maker.bodies; ++k) owners.emplace_back(bodies_[maker.first_body + k].id, i);
    }
    if (owners.empty()) return;
    std::sort(owners.begin(), owners.end());
    const auto owner = [&](sim::BodyId id) {
        const auto at = std::lower_bound(owners.begin(), owners.end(), std::pair(id, std::uint32_t{0}));
        return id.valid() && at != owners.end() && at->first == id ? at->second : sim::kNone;
    };
    std::vector<std::pair<sim::JointId, std::uint32_t>> joints;
    const auto note = [&](sim::JointId id, sim::BodyId a, sim::BodyId b) {
        const std::uint32_t by = owner(b) != sim::kNone ? owner(b) : owner(a);
        if (by != sim::kNone) joints.emplace_back(id, by);
    };
    std::vector<sim::JointState> living;
    world.read_joints(living);
    for (const sim::JointState& joint : living) note(joint.id, joint.a, joint.b);
    for (const sim::Event& event : world.events()) {
        if (event.kind == sim::EventKind::joint_broken) note(event.joint, event.a, event.b);
    }
    std::sort(joints.begin(), joints.end());
    std::vector<std::uint32_t> found(makers.size());
    for (const auto& [id, by] : joints) {
        if (found[by] < makers[by].joints) joints_[makers[by].first_joint + found[by]++] = id;
    }
}

bool ScriptMade::used(std::uint32_t first_joint, std::uint32_t joints) const {
    const auto use = std::lower_bound(joint_uses_.begin(), joint_uses_.end(), Use{.thing = first_joint}, earlier);
    return use != joint_uses_.end() && use->thing < first_joint + joints;
}

std::string_view ScriptMade::name_of(sim::BodyId id) const {
    for (const Body& body : bodies_) {
        if (id.valid() && body.id == id) return body.name;
    }
    return {};
}

std::optional<sim::BodyId> ScriptMade::body_named(std::string_view name) const {
    const auto named = body_names_.find(name);
    return named == body_names_.end() ? std::nullopt : std::optional(bodies_[named->second].id);
}

}  // namespace orrery::protocol
