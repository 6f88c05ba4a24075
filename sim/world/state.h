// What a world is at a tick: everything that influences its future, and the last tick's events. Hash and save walk this
// and nothing else; what is not here is either derived from it and the definition, or a cache that changes no bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/base/growth.h"
#include "sim/bodies/bodies.h"
#include "sim/collision/manifold.h"
#include "sim/rigs/rigs.h"
#include "sim/solver/joint.h"

namespace orrery::sim {

inline constexpr std::uint16_t kNoSlot = 0xffff;

// Which definition a body was made from: WorldDef::bodies (prefab = kNone) or a prefab's.
struct BodyOrigin {
    std::uint32_t prefab = kNone, index = kNone;
    friend bool operator==(const BodyOrigin&, const BodyOrigin&) = default;
};
static_assert(sizeof(BodyOrigin) == 8);

// What commands may change of what a body's definition says. Only 4-byte members, without padding: an array of it is
// hashed and saved as it lies in memory.
struct BodySettings {
    std::uint32_t body = kNone;
    std::uint32_t type = 0;  // BodyType
    std::uint32_t category = 1, mask = 0xffff'ffffu, material = 0;
    float gravity_scale = 1.0f, linear_damping = 0.0f, angular_damping = 0.0f;
};
static_assert(sizeof(BodySettings) == 32 && alignof(BodySettings) == 4);
static_assert(sizeof(BodyId) == 8);

// A manifold as it is remembered: the impulses that warm start the next one of the same pair. Sorted by (a, b, child_a,
// child_b). Only 4-byte members, without padding: an array of it is hashed and saved as it lies in memory.
struct KeptContact {
    std::uint32_t a = 0, b = 0, child_a = 0, child_b = 0;
    std::uint32_t count = 0;
    std::uint32_t touching = 0;  // 1 after contact_begin, until contact_end
    std::uint32_t feature[kMaxManifoldPoints] = {};
    float normal_impulse[kMaxManifoldPoints] = {};
    float friction_impulse[3] = {};
    float twist_impulse = 0.0f;
    float total_normal_impulse = 0.0f;     // of the last tick: a hit is a jump of it
    float held_a[3] = {}, held_b[3] = {};  // Manifold's; zero where nothing is held
};
static_assert(sizeof(KeptContact) == 100 && alignof(KeptContact) == 4);

// The order of contacts and manifolds: a list of each is sorted by it, so that they meet in one walk.
template <class A, class B>
bool comes_before(const A& x, const B& y) {
    if (x.a != y.a) return x.a < y.a;
    if (x.b != y.b) return x.b < y.b;
    if (x.child_a != y.child_a) return x.child_a < y.child_a;
    return x.child_b < y.child_b;
}

// What rolling resistance carries to the next tick, of contacts that have any, awake or asleep. Sorted like contacts;
// hashed and saved as it lies in memory, in worlds with such a material alone.
struct RollingImpulse {
    std::uint32_t a = 0, b = 0, child_a = 0, child_b = 0;
    float impulse[3] = {};
};
static_assert(sizeof(RollingImpulse) == 28 && alignof(RollingImpulse) == 4);

// A body stands in a sensor. Sorted; by body index, for a body that is gone takes its overlaps along.
struct SensorOverlap {
    std::uint32_t sensor = 0, visitor = 0;
    friend auto operator<=>(const SensorOverlap&, const SensorOverlap&) = default;
};
static_assert(sizeof(SensorOverlap) == 8);

// What is new about a contact in a tick.
enum ContactNews : std::uint8_t { kContactBegins = 1, kContactEnds = 2, kContactHits = 4 };

struct ContactTotals {  // of some of a tick's manifolds
    std::uint32_t touching = 0, points = 0;
    float largest_depth_m = 0.0f;
};

// An actuator at work: whose definition, on which body or joint.
// What a walk or jump actuator remembers of its body; 0 or 1.
struct WalkerState {
    float stood = 0.0f;    // walk: in the tick before
    float jumping = 0.0f;  // jump: it jumped and has not landed
};

struct ActuatorState {
    std::uint32_t prefab = kNone, index = kNone;  // WorldDef::actuators or a prefab's
    std::uint32_t body = kNone, joint = kNone;    // indices in the world
    std::uint16_t slot = kNoSlot;
    Pose base;           // kinematic: the body's pose when it was made
    WalkerState walker;  // walk, jump
};

enum class SlotHolder : std::uint8_t { nobody, player, director };
struct SlotState {
    SlotHolder holder = SlotHolder::nobody;
    bool taken() const { return holder != SlotHolder::nobody; }
    std::array<float, kControlChannels> controls{};  // held until the next command, zero while nobody has the slot
};

// Contacts of the last tick, in their order. They lie in the tick's arena or, in a state that was copied or read, in
// memory of their own.
class ContactList {
  public:
    ContactList() = default;
    ContactList(const ContactList& other) { *this = other; }
    ContactList& operator=(const ContactList& other) {
        if (this != &other) own_.assign(other.begin(), other.end()), list_ = own_;
        return *this;
    }
    ContactList(ContactList&& other) noexcept : own_(std::move(other.own_)), list_(std::exchange(other.list_, {})) {}
    ContactList& operator=(ContactList&& other) noexcept {
        own_ = std::move(other.own_);
        list_ = std::exchange(other.list_, {});
        return *this;
    }

    KeptContact* begin() { return list_.data(); }
    KeptContact* end() { return list_.data() + list_.size(); }
    KeptContact& operator[](std::size_t i) { return list_[i]; }
    const KeptContact* data() const { return list_.data(); }
    const KeptContact* begin() const { return list_.data(); }
    const KeptContact* end() const { return list_.data() + list_.size(); }
    const KeptContact& operator[](std::size_t i) const { return list_[i]; }
    std::size_t size() const { return list_.size(); }
    void shrink(std::size_t size) { list_ = list_.first(size); }
    // These from now on, which lie elsewhere.
    void view(std::span<KeptContact> list) {
        give_back(own_);
        list_ = list;
    }
    // Those of `list`, with its memory; it gets what was there, if that was its own.
    void adopt(std::vector<KeptContact>& list) {
        own_.swap(list);
        list_ = own_;
    }

  private:
    std::vector<KeptContact> own_;
    std::span<KeptContact> list_;
};
template <class Which>
std::size_t erase_if(ContactList& list, Which which) {
    const auto kept = static_cast<std::size_t>(std::remove_if(list.begin(), list.end(), which) - list.begin()),
               erased = list.size() - kept;
    list.shrink(kept);
    return erased;
}

struct State {
    std::uint64_t tick = 0;
    Bodies bodies;
    std::vector<BodyOrigin> origin;  // by body index
    // By body index: the first body that was spawned together with it. Invalid: of the scene. Hashed and saved in
    // worlds that have prefabs.
    std::vector<BodyId> group;
    std::vector<BodySettings> changed;  // of the bodies for which a command has changed some, ascending
    std::vector<Joint> joints;
    std::vector<JointImpulse> joint_impulse;  // by joint index
    std::vector<std::uint64_t> joint_digest;  // by joint index: XXH3-64 of all but its impulses
    std::vector<RigForce> rig_force;          // in worlds that may have rigs: by force_row of the joint
    ContactList contacts;
    std::vector<KeptContact> sleeping_contacts;  // of sleeping bodies, as they were when these fell asleep
    std::vector<RollingImpulse> rolling;         // empty without Core::any_surfaces
    std::vector<SensorOverlap> sensor_overlaps;
    std::vector<SlotState> slots;
    std::vector<ActuatorState> actuators;  // in the order in which they act
    std::vector<Event> events;
};

}  // namespace orrery::sim
