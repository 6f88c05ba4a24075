// The float arithmetic of the world's contacts: what is carried from tick to tick, and what is told of it. As
// sim/bodies/numbers.h.
#pragma once

#include <cstdint>
#include <span>

#include "sim/bodies/numbers.h"
#include "sim/collision/manifold.h"
#include "sim/world/state.h"

namespace orrery::sim::ref {

float mixed_friction(float a, float b);     // geometric mean
float mixed_restitution(float a, float b);  // the larger
// Rolling resistance by the larger radius (0 of what does not roll); what the surfaces run in the manifold's plane.
ContactSurface mixed_surface(const Manifold& manifold, const MaterialDef& a, const MaterialDef& b, const Pose& pose_a,
                             const Pose& pose_b, float radius_a_m, float radius_b_m);
// Whether a running surface pulled in the tick.
bool drags(const Manifold& manifold, const ContactSurface& surface);
// What contacts ask of a tick's gravity g, m/s^2.
struct GravityTerms {
    Vec3 gravity;
    float length, squared;
};
GravityTerms gravity_terms(Vec3 gravity);
// Which body a contact bears, whose centre is above it: 1 B, on A; -1 A, on B; 0 neither, as where the normal is more
// than 60 degrees off gravity.
int bears(const Manifold& manifold, const PoseRecord& pose_a, const PoseRecord& pose_b, const GravityTerms& g);
// Whether three points, of three at least, are at most 2 mm apart, or 1/64 of what they span across: those of a face
// are. Of a hull that rolls on a plane from facet to facet two are, for what is kept of all that is near lies far from
// each other.
bool lies_flat(const Manifold& manifold);
// Not faster than a tenth of sqrt(g / radius), the rate at which a thing of such size falls over: of 1 m 0.3 rad/s.
bool turns_slowly(const VelocityRecord& velocity, float radius_m, const GravityTerms& g);
// The arms of the contact that a manifold continues, turned as the body that bears turns about gravity in a tick; none,
// if it held none.
void carry_arms(Manifold& manifold, const KeptContact& contact, const VelocityRecord& bearing, const GravityTerms& g,
                float dt_s);
// Points take the impulse (N s) of the same feature of the tick before. Points that are new share evenly what features
// that are gone carried: where two faces are nearly parallel the reference changes sides, and with it every feature,
// while the push stays.
void carry_normal_impulses(Manifold& manifold, std::span<const std::uint32_t> features, const float* impulses);
// What to remember of a solved manifold, and what is new about it, as bits of ContactNews. Touching: the surfaces
// overlap or an impulse has acted. A hit: the impulse grew since the last tick by more than what changes the relative
// speed by `hit_speed_mps`. Of the contact that it continues, if any: whether that touched, and its
// total_normal_impulse. `holds`: its arms are held, and kept.
std::uint8_t keep_contact(const Manifold& manifold, bool touched, bool holds, float total_before,
                          const InertiaRecord* inertia, float hit_speed_mps, KeptContact& contact,
                          ContactTotals& totals);
void add_totals(ContactTotals& sum, const ContactTotals& more);
std::uint32_t deepest_point(const Manifold& manifold);

}  // namespace orrery::sim::ref
