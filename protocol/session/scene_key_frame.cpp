#include "protocol/session/scene_key_frame.h"

#include <algorithm>

namespace orrery::protocol {
namespace {

// As much as a body takes against any baseline; the coder never runs out of room in a part.
constexpr std::size_t kCodedBodyBytes = 64;

struct BodiesOfScene final : BaselineSource {
    explicit BodiesOfScene(std::span<const QuantisedWorld::Body> from) : bodies(from) {}
    const QuantisedBody* find(std::uint32_t index, BaselineReference reference) const override {
        if (reference.kind != BaselineReference::Kind::standing || index >= bodies.size() || !bodies[index].alive)
            return nullptr;
        return &bodies[index].state;
    }
    std::span<const QuantisedWorld::Body> bodies;
};

bool same_id(const QuantisedBody& a, const QuantisedBody& b) {
    return a.index == b.index && a.generation == b.generation;
}

void set_description(QuantisedWorld::Body& body, const BodyDescription& description) {
    body.shape = description.shape;
    body.material = description.material;
    body.prefab = description.prefab;
    body.member = description.member;
    body.slot = description.slot;
    body.type = description.type;
    body.user_data = description.user_data;
}

}  // namespace

std::vector<KeyFrameBodies> make_scene_key_frame_parts(const QuantisedWorld& scene, const QuantisedWorld& world,
                                                       const SnapshotCodec& codec) {
    const std::span<const QuantisedWorld::Body> before = scene.bodies(), now = world.bodies();
    std::vector<KeyFrameBodies> parts;
    std::vector<EncodeItem> items;
    std::vector<std::uint32_t> chosen;
    const auto finish_part = [&] {
        codec.encode(items, items.size() * kCodedBodyBytes + kCodedBodyBytes, parts.back().coded, chosen);
        items.clear();
    };
    for (std::size_t i = 0; i < before.size(); ++i) {
        const bool stays = i < now.size() && now[i].alive && same_id(before[i].state, now[i].state);
        if (!before[i].alive || stays) continue;
        if (!parts.empty() && parts.back().gone.size() == kMaxGonePerKeyFramePart) finish_part();
        if (parts.empty() || parts.back().gone.size() == kMaxGonePerKeyFramePart) parts.emplace_back();
        parts.back().gone.push_back(static_cast<std::uint32_t>(i));
    }
    if (!parts.empty()) finish_part();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (!now[i].alive) continue;
        const QuantisedWorld::Body* known = i < before.size() && before[i].alive ? &before[i] : nullptr;
        if (known && !same_id(known->state, now[i].state)) known = nullptr;
        const bool described = !known || describe(*known) != describe(now[i]);
        if (!described && known->state == now[i].state) continue;
        if (items.size() == kMaxBodiesPerKeyFramePart) finish_part();
        if (items.empty()) parts.emplace_back();
        if (described) parts.back().descriptions.push_back(describe(now[i]));
        using Kind = BaselineReference::Kind;
        items.push_back({&now[i].state, known ? &known->state : nullptr, {known ? Kind::standing : Kind::absolute}});
    }
    if (!items.empty()) finish_part();
    return parts;
}

KeyFrame make_scene_key_frame(const QuantisedWorld& scene, const QuantisedWorld& world, const SnapshotCodec& codec) {
    const std::vector<KeyFrameBodies> parts = make_scene_key_frame_parts(scene, world, codec);
    KeyFrameBegin begin;
    begin.tick = world.tick();
    begin.body_count = world.living();
    begin.part_count = static_cast<std::uint32_t>(parts.size());
    return KeyFrame(begin, parts);
}

SceneKeyFrameReader::SceneKeyFrameReader(const QuantisedWorld& scene)
    : bodies_(scene.bodies().begin(), scene.bodies().end()) {}

bool SceneKeyFrameReader::apply(const KeyFrameBodies& part, const SnapshotCodec& codec, std::uint32_t body_capacity) {
    if (!apply_gone(part.gone)) return false;
    if (codec.decode(part.coded, BodiesOfScene(bodies_), decoded_) != DecodeStatus::ok) return false;
    ++parts_;
    return apply_states(part, body_capacity);
}

bool SceneKeyFrameReader::apply_gone(std::span<const std::uint32_t> gone) {
    for (const std::uint32_t index : gone) {
        if (index >= bodies_.size() || !bodies_[index].alive) return false;
        bodies_[index].alive = false;
    }
    return true;
}

// `decoded_` ascends, and so do the descriptions of some of it.
bool SceneKeyFrameReader::apply_states(const KeyFrameBodies& part, std::uint32_t body_capacity) {
    auto description = part.descriptions.begin();
    for (const QuantisedBody& state : decoded_) {
        if (state.index < next_index_ || state.index >= body_capacity) return false;
        next_index_ = std::uint64_t{state.index} + 1;
        if (state.index >= bodies_.size()) bodies_.resize(state.index + 1u);
        QuantisedWorld::Body& body = bodies_[state.index];
        const bool known = body.alive && same_id(body.state, state);
        const bool described =
            description != part.descriptions.end() && description->id == sim::BodyId{state.index, state.generation};
        if (!known && (body.alive || !described)) return false;
        if (described) set_description(body, *description++);
        body.state = state;
        body.alive = true;
    }
    return description == part.descriptions.end();
}

}  // namespace orrery::protocol
