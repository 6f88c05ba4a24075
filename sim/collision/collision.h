// From poses and velocities to manifolds: bounds, broad phase, narrow phase. Holds caches that change no bit; what it
// returns is a function of bodies and shapes alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/base/tick_arena.h"
#include "sim/bodies/bodies.h"
#include "sim/bodies/movers.h"
#include "sim/collision/general_phase.h"
#include "sim/collision/manifold_store.h"
#include "sim/shapes/shape.h"

namespace orrery::sim {

// Pairs of bodies that must not collide (joined ones), each with a < b, sorted, unique.
using PairFilter = std::span<const Pair>;

class Collision {
  public:
    Collision();
    ~Collision();

    // To be told when bodies were replaced other than one by one, each by one of another generation.
    void forget_bodies();

    // Tight bounds of every body with a shape, 16 at a time: swept by its whole linear motion of the tick, grown by the
    // angular arc, of discrete ones up to the speculative margin, at least by half of it (bounds-inl.h says why this is
    // enough). Fixed bodies do not move, whatever their velocity record says. To be called first in a tick: the other
    // two work on the bodies, shapes and dt_s of the last update. `movers`: up to date, with all that was placed since
    // the last update; null: every body is looked at.
    void update_bounds(const Bodies& bodies, std::span<const Shape> shapes, float dt_s, float speculative_margin_m,
                       Target target, Executor& executor, const Movers* movers = nullptr);

    // Exactly the pairs whose bounds overlap, of which at least one is dynamic, whose category and mask agree and which
    // `excluded` does not hold; in (a, b) order, in the arena. False, and `pairs` means nothing, if there are more than
    // kMaxPairs of them before `excluded` is taken out; memory is bounded all the same.
    bool find_pairs(const Bodies& bodies, PairFilter excluded, Target target, Executor& executor, TickArena& arena,
                    std::span<const Pair>& pairs);

    // One manifold a touching pair, of meshes and compounds one for each two parts that touch, or planes of parts
    // (patches.h), sorted by (a, b, child_a, child_b), impulses zero, material fields zero. A point touches if its
    // depth is above -(speculative_margin_m + how far the two bodies' centres close along the normal within the tick).
    // Where the bounds of one of them are grown by more than the margin (it is passive and turns), that counts in the
    // margin's place. Bodies that move against each other by the margin or more, and do not touch yet, have the contact
    // of the moment at which they meet within the tick, or none (fast_pairs.h). False, and `manifolds` means nothing,
    // if there are more than kMaxPairs manifolds. They stay where they are until the next call with the same store.
    // `arena`: for its work alone. `more`: pairs that the tick's first call did not have. `forecast`: for fast pairs.
    bool collide(const Bodies& bodies, std::span<const Shape> shapes, std::span<const Pair> pairs,
                 float speculative_margin_m, Target target, Executor& executor, TickArena& arena,
                 ManifoldStore& manifolds, bool more = false, const Forecast& forecast = {});

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::sim
