// What the narrow phase gives, the solver uses, and the world keeps from tick to tick.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orrery/types.hpp"

namespace orrery::sim {

inline constexpr int kMaxManifoldPoints = 4;
inline constexpr float kNoArm = 1e9f;  // m, beyond any arm; its square is finite

// Two bodies whose bounds overlap and whose filters agree; a < b, sorted by (a, b).
struct Pair {
    std::uint32_t a = 0, b = 0;
    friend auto operator<=>(const Pair&, const Pair&) = default;
};

struct ManifoldPoint {
    Vec3 offset_a;  // m, world axes, from A's centre to the contact, midway between the surfaces; see Manifold::moved
    float depth = 0.0f;           // m, positive where the surfaces overlap, negative within the speculative margin
    std::uint32_t feature = 0;    // stable under small motion; unique inside its manifold
    float normal_impulse = 0.0f;  // N s of one substep, accumulated: carried from tick to tick by feature
};

// One convex contact: at most four points that share a normal, friction at the depth-weighted centre. Of several of one
// point between the same bodies the solver makes nonconvex contacts (sim/constraints/nonconvex_contact-inl.h).
struct Manifold {
    std::uint32_t a = 0, b = 0;  // body indices, a < b
    std::uint32_t child_a = 0, child_b = 0;
    Vec3 normal;  // unit, world, from A to B
    // m, world axes: how far B's centre moves from A's until the two touch, where the contact is of a moment within the
    // tick (fast_pairs.h); else zero. Then `offset_a` leads to the contact from where A's centre is at that moment,
    // while `depth` stays that of the tick's start.
    Vec3 moved;
    std::uint32_t count = 0;                    // 1 to kMaxManifoldPoints
    Vec3 friction_impulse;                      // N s, world, on B; carried by projection on the new tangent plane
    float twist_impulse = 0.0f;                 // N m s about the normal, on B
    float friction = 0.0f, restitution = 0.0f;  // of the pair of materials
    float total_normal_impulse = 0.0f;          // N s, over all points and substeps of the last tick, for events
    ManifoldPoint points[kMaxManifoldPoints];  // nothing of those beyond `count` is to be read or written: there may be
                                               // no room for them (there is where Seams may turn the contact,
                                               // may_be_turned, and of compounds, whose contacts are joined: patches.h)
    // m, world axes, from each centre to the points' middle, of three and four points, of others there may be no room
    // for it, either: where the tick before held it, or kNoArm, until the solver has run; then where it is held
    // (constraints/contact-inl.h).
    Vec3 held_a{kNoArm, kNoArm, kNoArm}, held_b = held_a;
};
constexpr bool may_hold(const Manifold& m) { return m.count > 2; }
constexpr bool has_moved(const Manifold& m) { return m.moved.x != 0.0f || m.moved.y != 0.0f || m.moved.z != 0.0f; }

// What the narrow phase promises of each of them.
inline bool is_well_formed(const Manifold& m, std::uint32_t bodies) {
    const float length2 = m.normal.x * m.normal.x + m.normal.y * m.normal.y + m.normal.z * m.normal.z;
    return m.a < m.b && m.b < bodies && m.count >= 1 && m.count <= kMaxManifoldPoints && length2 > 0.999f &&
           length2 < 1.001f;
}

// Manifolds in their order, wherever each lies.
class Manifolds {
  public:
    class Iterator {
      public:
        explicit Iterator(Manifold* const* at) : at_(at) {}
        Manifold& operator*() const { return **at_; }
        Iterator& operator++() { return ++at_, *this; }
        bool operator==(const Iterator&) const = default;

      private:
        Manifold* const* at_;
    };
    Manifolds() = default;
    Manifolds(std::span<Manifold* const> list) : list_(list) {}
    Manifolds(const std::vector<Manifold*>& list) : list_(list) {}
    std::size_t size() const { return list_.size(); }
    bool empty() const { return list_.empty(); }
    Manifold& operator[](std::size_t i) const { return *list_[i]; }
    Manifolds subspan(std::size_t first, std::size_t count) const { return {list_.subspan(first, count)}; }
    Iterator begin() const { return Iterator(list_.data()); }
    Iterator end() const { return Iterator(list_.data() + list_.size()); }

  private:
    std::span<Manifold* const> list_;
};

// What the materials of a contact ask for beside friction and restitution. Few contacts have any of it.
struct ContactSurface {
    Vec3 velocity;           // m/s, world, in the tangent plane: by which B's surface runs over B less A's over A
    float rolling_m = 0.0f;  // N m of resistance to relative rotation for each N that presses
    Vec3 rolling_impulse;    // N m s of one substep, on B, world: carried from tick to tick
    float frequency_hz = 0.0f, damping_ratio = 1.0f;  // of the contact's own spring; frequency 0: the solver's
    float max_recovery_speed_mps = 0.0f;              // 0: the solver's
    bool plain() const {
        return rolling_m == 0.0f && velocity == Vec3{} && frequency_hz == 0.0f && max_recovery_speed_mps == 0.0f;
    }
};

}  // namespace orrery::sim
