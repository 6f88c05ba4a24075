// Which constraints may be solved side by side: a colour holds constraints that share no dynamic body.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/bodies/bodies.h"
#include "sim/solver/joint.h"

namespace orrery::sim {

inline constexpr std::uint32_t kMaxColours = 64;     // a bit each in a body's mask
inline constexpr std::uint8_t kOverflowColour = 64;  // more constraints on a body than colours: solved serially
inline constexpr std::uint8_t kNoColour = 0xff;      // no dynamic body, or not alive: not solved

// What colouring and layout read of a manifold, side by side: a manifold is too long to be walked over again and again.
struct Contact {
    std::uint32_t a = 0, b = 0;
    std::uint8_t points = 0;     // of the contact; 0: it is part of the nonconvex one that begins before it
    std::uint8_t manifolds = 1;  // that it is made of; more than one: nonconvex
    bool dynamic_a : 1 = false, dynamic_b : 1 = false;
    bool surface : 1 = false, bounces : 1 = false;  // has a ContactSurface that is not plain; restitution
    bool near : 1 = false;                          // to what is solved after all colours: StepInput::near
    bool thin : 1 = false;                          // one of them is: Bodies::thin
};

struct Colouring {
    std::vector<std::uint8_t> joints, contacts;  // by place in `taken`, by index
    std::uint32_t colours = 0;                   // in use, overflow left out
    std::uint32_t joint_colours = 0;             // of these by joints
    std::uint32_t bodies = 0;                    // as colour_joints saw them
    std::vector<std::uint64_t> used_by_joints;   // by body, a bit a colour; empty: none
    std::vector<std::uint64_t> used;             // by body: by joints and contacts
    std::vector<std::uint32_t> against_fixed;    // scratch: such contacts
    std::vector<std::uint8_t> touched;           // by body: in some contact, whatever its colour
    std::vector<std::uint32_t> met;              // bodies of the contacts, each once
    bool joints_anew = true;                     // used_by_joints is another one since contacts were coloured
    bool any_thin = false;                       // of the contacts
};

// Greedy, the lowest free colour, in canonical order: joints by index, then contacts between two dynamic bodies in
// order, then those against a fixed or kinematic body, whose colours come after all others: the ground has the last
// word in a pass, and a push from it is not undone by what is solved later. Colours are a function of the arguments
// alone. `taken` are the joints to colour, ascending. Contacts find what the joints left.
void colour_joints(const Bodies& bodies, std::span<const Joint> joints, std::span<const std::uint32_t> taken,
                   Colouring& colouring);
void colour_contacts(std::span<const Contact> contacts, Colouring& colouring);

}  // namespace orrery::sim
