// The kinds of constraints that the solver knows, in the order in which they stand in a colour, and what the layout
// needs to know of their bundles: so that a change inside a bundle concerns nobody else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/constraints/bundle.h"
#include "sim/constraints/list.h"
#include "sim/solver/joint.h"

namespace orrery::sim {

// Joints as in the variant Constraint, then contacts: plain ones, whole bundles of one and of two points each, those
// with restitution, those with a ContactSurface, and nonconvex ones.
enum class Kind : std::uint8_t {
    contact = kConstraintTypes,
    contact_1,
    contact_2,
    bouncing_contact,
    surface_contact,
    nonconvex_contact
};
inline constexpr std::size_t kContactKinds = 6, kKindCount = kConstraintTypes + kContactKinds;
static_assert(kKindCount < 256);

constexpr bool is_plain(Kind kind) {
    return kind == Kind::contact || kind == Kind::contact_1 || kind == Kind::contact_2;
}
constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }
inline Kind kind_of(const Joint& joint) { return static_cast<Kind>(joint.constraint.index()); }

// Of a bundle of each kind: bundles.h.
extern const std::array<std::uint32_t, kKindCount> kBundleBytes;
extern const std::uint32_t kMostContactBytes;  // of those that are plain

// Bodies of a constraint of each kind, two at least: A of a one-body constraint is the world.
#define ORRERY_CONSTRAINT(T, name) body_count<T>() > 2 ? body_count<T>() : 2,
inline constexpr std::array<std::uint8_t, kKindCount> kBundleBodies{
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT) 2, 2, 2, 2, 2, 2};
#undef ORRERY_CONSTRAINT

// What the layout fills and nobody else clears.
#define ORRERY_CONSTRAINT(T, name) body_count<T>() > 2 ? sizeof(ManyHead) : sizeof(BundleHead),
inline constexpr std::array<std::size_t, kKindCount> kHeadBytes{
    ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT) sizeof(BundleHead),
    sizeof(BundleHead),
    sizeof(BundleHead),
    sizeof(BundleHead),
    sizeof(BundleHead),
    sizeof(BundleHead)};
#undef ORRERY_CONSTRAINT

}  // namespace orrery::sim
