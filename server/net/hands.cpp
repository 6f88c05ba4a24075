#include "server/net/hands.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "orrery/math.hpp"
#include "protocol/replay/byte_io.h"

namespace orrery::server {
namespace {

constexpr float kFurthest_m = 4000.0f;      // of points and targets; the world ends a little later
constexpr std::size_t kMostJoints = 8'192;  // of a scene whose joints are looked at for a grab

float mass_of(const sim::BodyState& body) { return body.inverse_mass > 0.0f ? 1.0f / body.inverse_mass : 0.0f; }

bool near(const sim::Vec3& v) { return sim::length(v) <= kFurthest_m; }

sim::Vec3 at_most(const sim::Vec3& v, float longest) {
    const float length = sim::length(v);
    return length > longest ? v * (longest / length) : v;
}

// Sets of bodies by index.
class Sets {
  public:
    std::uint32_t of(std::uint32_t index) {
        const auto known = static_cast<std::uint32_t>(parents_.size());
        if (index >= known) parents_.resize(index + 1), std::iota(parents_.begin() + known, parents_.end(), known);
        while (parents_[index] != index) index = parents_[index] = parents_[parents_[index]];
        return index;
    }
    void join(std::uint32_t a, std::uint32_t b) {
        const std::uint32_t set = of(a);
        parents_[of(b)] = set;
    }

  private:
    std::vector<std::uint32_t> parents_;
};

}  // namespace

float jointed_mass(const sim::World& world, sim::BodyId body) {
    float mass = mass_of(world.body(body));
    if (world.definition().joints.size() > kMostJoints) return mass;
    std::vector<sim::JointState> joints;
    world.read_joints(joints);
    Sets sets;
    std::vector<sim::BodyId> bodies;  // dynamic ones that have joints
    for (const sim::JointState& joint : joints) {
        std::optional<sim::BodyId> first;
        for (const sim::BodyId id : {joint.a, joint.b, joint.c, joint.d}) {
            if (!world.alive(id) || world.body(id).type != sim::BodyType::dynamic) continue;
            if (first) sets.join(first->index, id.index);
            first = id;
            bodies.push_back(id);
        }
    }
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    const std::uint32_t own = sets.of(body.index);
    for (const sim::BodyId id : bodies) {
        if (id != body && sets.of(id.index) == own) mass += mass_of(world.body(id));
    }
    return mass;
}

void Hands::on_start(Room& room) {
    room_ = &room;
    const std::array<std::uint8_t, 2> value = {kHandVersion, static_cast<std::uint8_t>(gives_tokens_)};
    (void)room.board().set(kHandsKey, value);
}

void Hands::on_message(const ClientMessage& message) {
    if (message.type != kHandMessageType) return;
    const std::optional<HandOrder> order = read_hand_order(message.bytes);
    const std::uint8_t number = order ? order->hand : kNoHand;
    if (!is_director(message.client_id)) return answer(message.client_id, number, HandReason::not_a_director);
    if (!order) return answer(message.client_id, number, HandReason::malformed);
    if (order->kind == HandKind::grab) return take(message.client_id, *order);
    // What is late for a hand that has ended needs no answer: that is on its way.
    Hand* const hand = find(message.client_id, number);
    if (!hand) return;
    hand->heard_at = room_->world().tick();
    if (order->kind == HandKind::release) return let_go(*hand);
    if (near(order->target)) hand->target = order->target;
}

// The joint of each hand: index u32, generation u32; little endian.
bool Hands::save(std::vector<std::uint8_t>& state) const {
    protocol::replay::ByteWriter writer(state);
    writer.u64(last_tag_);
    for (const Hand& hand : hands_) writer.u32(hand.joint.index), writer.u32(hand.joint.generation);
    return true;
}

bool Hands::restore(protocol::Bytes state, const sim::World&) {
    protocol::replay::ByteReader reader(state);
    last_tag_ = reader.u64();
    hands_.clear();
    left_over_.clear();
    while (reader.remaining() > 0) {
        const std::uint32_t index = reader.u32();
        left_over_.push_back({index, reader.u32()});
    }
    return reader.ok();
}

void Hands::on_replayed_tick(const sim::World& world, std::span<const sim::Command>) {
    for (const sim::Event& event : world.events()) {
        if (event.kind == sim::EventKind::joint_created && event.tag != 0) left_over_.push_back(event.joint);
    }
}

void Hands::on_tick(const sim::World& world, std::vector<sim::Command>& orders) {
    may_grab_ = true;
    for (const sim::JointId joint : left_over_) {
        if (world.alive(joint)) orders.push_back(sim::Command::remove_joint(joint));
    }
    left_over_.clear();
    if (hands_.empty()) return;
    for (const sim::Event& event : world.events()) {
        if (event.kind != sim::EventKind::joint_created || event.tag == 0) continue;
        const auto hand = std::find_if(hands_.begin(), hands_.end(), [&](const Hand& h) { return h.tag == event.tag; });
        if (hand == hands_.end()) continue;
        hand->joint = event.joint;
        if (!hand->letting_go) answer(hand->client_id, hand->number, HandReason::none);
    }
    const std::vector<Room::Member> members = room_->members();
    for (Hand& hand : hands_) {
        const auto mine = [&](const Room::Member& member) { return member.client_id == hand.client_id; };
        if (std::none_of(members.begin(), members.end(), mine)) hand.letting_go = true;
    }
    std::erase_if(hands_, [&](Hand& hand) { return !work(hand, world, orders); });
}

bool Hands::is_director(std::uint64_t client_id) const {
    const std::vector<Room::Member> members = room_->members();
    return std::any_of(members.begin(), members.end(), [&](const Room::Member& member) {
        return member.client_id == client_id && member.role == protocol::TokenRole::director;
    });
}

Hands::Hand* Hands::find(std::uint64_t client_id, std::uint8_t number) {
    const auto hand = std::find_if(hands_.begin(), hands_.end(), [&](const Hand& h) {
        return h.client_id == client_id && h.number == number && !h.letting_go;
    });
    return hand == hands_.end() ? nullptr : &*hand;
}

HandReason Hands::why_not(const HandOrder& order) const {
    const sim::World& world = room_->world();
    if (!near(order.point) || !near(order.target)) return HandReason::out_of_range;
    if (!world.alive(order.body)) return HandReason::no_such_body;
    if (world.body(order.body).type != sim::BodyType::dynamic) return HandReason::not_dynamic;
    if (hands_.size() >= kMaxHands) return HandReason::too_many;
    const auto holds = [&](const Hand& hand) { return hand.body == order.body && !hand.letting_go; };
    return std::any_of(hands_.begin(), hands_.end(), holds) ? HandReason::body_held : HandReason::none;
}

void Hands::take(std::uint64_t client_id, const HandOrder& order) {
    if (Hand* const before = find(client_id, order.hand)) let_go(*before);
    const HandReason reason = why_not(order);
    if (reason != HandReason::none) return answer(client_id, order.hand, reason);
    Hand hand;
    hand.client_id = client_id, hand.number = order.hand, hand.body = order.body;
    hand.point = order.point, hand.target = order.target;
    hand.heard_at = room_->world().tick();
    hands_.push_back(hand);
}

// The next tick removes it. One that the world does not know yet is gone at once, so that many messages in a tick make
// no crowd of them.
void Hands::let_go(Hand& hand) {
    hand.letting_go = true;
    if (hand.tag == 0) hands_.erase(hands_.begin() + (&hand - hands_.data()));
}

// False: it is done.
bool Hands::work(Hand& hand, const sim::World& world, std::vector<sim::Command>& orders) {
    const auto rate = static_cast<std::uint64_t>(world.definition().tick_rate_hz);
    const bool silent = world.tick() > hand.heard_at + kHandSilence_s * rate;
    if (hand.tag == 0) {
        if (hand.letting_go) return false;
        if (!may_grab_) return true;
        may_grab_ = false;
        hand.tag = ++last_tag_;
        hand.given = sim::to_world(world.body(hand.body).pose, hand.point);
        const float own = mass_of(world.body(hand.body));
        const float mass = std::min(jointed_mass(world, hand.body), kHandCarries * own);
        orders.push_back(sim::Command::grab(hand.body, hand.point, hand.given, kHandPull_mps2 * mass, hand.tag));
        return true;
    }
    if (!world.alive(hand.joint)) {
        if (!hand.letting_go) answer(hand.client_id, hand.number, HandReason::gone);
        return false;
    }
    if (hand.letting_go || silent) {
        orders.push_back(sim::Command::remove_joint(hand.joint));
        if (!hand.letting_go) answer(hand.client_id, hand.number, HandReason::silent);
        return false;
    }
    pull(hand, world, orders);
    return true;
}

// The target goes to where the client wants it, not faster than a body can follow and brake.
void Hands::pull(Hand& hand, const sim::World& world, std::vector<sim::Command>& orders) const {
    const sim::Vec3 point = sim::to_world(world.body(hand.body).pose, hand.point);
    sim::Vec3 next = hand.given + at_most(hand.target - hand.given, kHandSpeed_mps * world.dt_s());
    next = point + at_most(next - point, kHandLead_m);
    if (sim::distance(next, hand.given) < 1e-4f) return;
    hand.given = next;
    orders.push_back(sim::Command::move_grab(hand.joint, next));
}

void Hands::answer(std::uint64_t client_id, std::uint8_t number, HandReason reason) {
    // A client that takes no more messages, or is gone, needs none.
    (void)room_->send(Recipient::client(client_id), kHandMessageType, write_hand_answer(number, reason));
}

}  // namespace orrery::server
