#include "sim/collision/collision.h"

#include <cstdlib>

#include "sim/collision/broad/broad_phase.h"
#include "sim/collision/narrow_phase.h"

namespace orrery::sim {
namespace {

// A world is made for a target that is there: another one is a bug of the caller.
template <class Kernels>
const Kernels& checked(const Kernels* kernels) {
    if (kernels == nullptr) std::abort();
    return *kernels;
}

}  // namespace

struct Collision::Impl {
    BroadPhase broad;
    NarrowPhase narrow;
    float dt_s = 0.0f;
};

Collision::Collision() : impl_(std::make_unique<Impl>()) {}
Collision::~Collision() = default;

void Collision::forget_bodies() { impl_->broad.forget_bodies(); }

void Collision::update_bounds(const Bodies& bodies, std::span<const Shape> shapes, float dt_s,
                              float speculative_margin_m, Target target, Executor& executor, const Movers* movers) {
    impl_->dt_s = dt_s;
    impl_->broad.update(bodies, shapes, dt_s, speculative_margin_m, checked(broad_kernels_for(target)), executor,
                        movers);
}

bool Collision::find_pairs(const Bodies& bodies, PairFilter excluded, Target target, Executor& executor,
                           TickArena& arena, std::span<const Pair>& pairs) {
    return impl_->broad.find_pairs(bodies, excluded, checked(broad_kernels_for(target)), executor, arena, pairs);
}

bool Collision::collide(const Bodies& bodies, std::span<const Shape> shapes, std::span<const Pair> pairs,
                        float speculative_margin_m, Target target, Executor& executor, TickArena& arena,
                        ManifoldStore& manifolds, bool more, const Forecast& forecast) {
    return impl_->narrow.collide(bodies, shapes, impl_->broad, pairs, impl_->dt_s, speculative_margin_m,
                                 checked(narrow_kernels_for(target)), checked(broad_kernels_for(target)),
                                 checked(polytope_kernels_for(target)), executor, arena, more, forecast, manifolds);
}

}  // namespace orrery::sim
