// Which constraints may be solved side by side: a colour holds constraints that share no dynamic body.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/collision/manifold.h"
#include "sim/solver/joint.h"
#include "sim/world/bodies.h"

namespace orrery::sim {

inline constexpr std::uint32_t kMaxColours = 64;      // a bit each in a body's mask
inline constexpr std::uint8_t kOverflowColour = 64;   // more constraints on a body than colours: solved serially
inline constexpr std::uint8_t kNoColour = 0xff;       // no dynamic body, or not alive: not solved

struct Colouring {
    std::vector<std::uint8_t> joints, manifolds;  // by place in `taken`, by index
    std::uint32_t colours = 0;                    // in use, overflow left out
    std::vector<std::uint64_t> used;              // by body: scratch
};

// Greedy, the lowest free colour, in canonical order: joints by index, then manifolds between two dynamic bodies in order,
// then those against a fixed or kinematic body, whose colours come after all others: the ground has the last word in a
// pass, and a push from it is not undone by what is solved later. Colours are a function of the arguments alone.
// `taken` are the joints to colour, ascending.
void colour_constraints(const Bodies& bodies, std::span<const Joint> joints, std::span<const std::uint32_t> taken,
                        std::span<const Manifold> manifolds, Colouring& colouring);

}  // namespace orrery::sim
