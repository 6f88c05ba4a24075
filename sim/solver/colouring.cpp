#include "sim/solver/colouring.h"


#include <algorithm>
#include <bit>

namespace orrery::sim {
namespace {

// Contacts against fixed bodies get colours of their own only where so many are left: otherwise one crowded body would
// send all of them to overflow.
constexpr std::uint32_t kColoursForFixed = 8;

struct Greedy {
    const Bodies& bodies;
    std::vector<std::uint64_t>& used;
    std::uint32_t colours = 0;

    // The lowest colour from `lowest` on that none of the dynamic ones among the bodies has.
    template <class... Body>
    std::uint8_t take(std::uint32_t lowest, Body... body) {
        if (!(bodies.dynamic(body) || ...)) return kNoColour;
        const std::uint64_t taken = ((bodies.dynamic(body) ? used[body] : 0) | ...);
        const std::uint64_t free = ~taken & (~std::uint64_t{0} << lowest);
        if (free == 0) return kOverflowColour;
        const std::uint64_t bit = free & (~free + 1);
        ((bodies.dynamic(body) ? void(used[body] |= bit) : void()), ...);
        const auto colour = static_cast<std::uint32_t>(std::countr_zero(free));
        colours = std::max(colours, colour + 1);
        return static_cast<std::uint8_t>(colour);
    }
    std::uint8_t take(const Joint& joint) {
        if (joint.c == kWorldBody && joint.d == kWorldBody) return take(0, joint.a, joint.b);
        return take(0, joint.a, joint.b, joint.c, joint.d);
    }
};

}  // namespace

void colour_constraints(const Bodies& bodies, std::span<const Joint> joints, std::span<const std::uint32_t> taken,
                        std::span<const Manifold> manifolds, Colouring& colouring) {
    colouring.used.assign(bodies.size(), 0);
    colouring.joints.resize(taken.size());
    colouring.manifolds.resize(manifolds.size());
    Greedy greedy{bodies, colouring.used};

    const auto sleeps = [&](const Joint& joint) {
        const auto joined = joint.bodies();
        return std::any_of(joined.begin(), joined.end(), [&](std::uint32_t body) { return bodies.asleep(body); });
    };
    for (std::size_t k = 0; k < taken.size(); ++k) {
        const Joint& joint = joints[taken[k]];
        colouring.joints[k] = joint.alive && !sleeps(joint) ? greedy.take(joint) : kNoColour;
    }
    bool against_fixed = false;
    for (std::size_t i = 0; i < manifolds.size(); ++i) {
        const Manifold& m = manifolds[i];
        const bool both = bodies.dynamic(m.a) && bodies.dynamic(m.b);
        against_fixed |= !both;
        colouring.manifolds[i] = both ? greedy.take(0, m.a, m.b) : kNoColour;
    }
    if (against_fixed) {
        const std::uint32_t lowest = greedy.colours + kColoursForFixed <= kMaxColours ? greedy.colours : 0;
        for (std::size_t i = 0; i < manifolds.size(); ++i) {
            const Manifold& m = manifolds[i];
            if (!(bodies.dynamic(m.a) && bodies.dynamic(m.b))) colouring.manifolds[i] = greedy.take(lowest, m.a, m.b);
        }
    }
    colouring.colours = greedy.colours;
}

}  // namespace orrery::sim
