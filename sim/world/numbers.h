// The float arithmetic of the world's bookkeeping: checks of a definition, placing prefabs, mass, commands, actuators,
// contacts. Scalar, and the same on every SIMD target, since it is compiled once, in namespace ref.
#pragma once

#include <cstdint>
#include <string>

#include "sim/collision/manifold.h"
#include "sim/shapes/shape.h"
#include "sim/world/state.h"

namespace orrery::sim::ref {

// How far from 1 the length of a direction or quaternion may be; within it, it is normalised.
inline constexpr float kUnitTolerance = 1.0e-3f;
// The same for what a world holds: what a definition barely passes may round past it when it is normalised and turned.
inline constexpr float kLiveTolerance = 2.0e-3f;

// low <= x <= high; false for NaN.
bool within(float x, float low, float high);
bool positive(float x);           // above 0 and finite
bool within(Vec3 v, float limit);  // every component in [-limit, limit]
bool as_long(Vec3 v, float least);  // its length is at least that
// Normalises where the length is 1 within the tolerance, else returns false and leaves it alone.
bool make_unit(Vec3& v, float tolerance = kUnitTolerance);
bool make_unit(Quat& q, float tolerance = kUnitTolerance);
bool perpendicular(Vec3 a, Vec3 b, float tolerance);  // of unit vectors
std::string text_of(float x);        // for messages

float tick_length_s(float tick_rate_hz);

Pose compose(const Pose& outer, const Pose& inner);  // inner's frame stands in outer's
Vec3 rotated(Quat q, Vec3 v);
Vec3 sum(Vec3 a, Vec3 b);
bool is_zero(Vec3 v);
Vec3 from_local(const Pose& pose, Vec3 local);       // a point
// Turns the frames of a joint's world side from a prefab's frame into the world's, the prefab standing at `pose`.
void place_world_side(Constraint& constraint, const Pose& pose, bool a_is_world, bool b_is_world);

// Sets what an actuator of this kind sets (has_target), cut to what its field may be; false where it stays bit for bit as it is.
bool set_target(Constraint& constraint, ActuatorKind kind, float value);
bool is_target(const Constraint& constraint, ActuatorKind kind, float value);  // bit for bit

// Mass of a body of this shape: mass_kg, or the material's density times the volume where it is 0.
float body_mass_kg(const MassProperties& unit, float mass_kg, float density_kgpm3);
// Inverse mass and body-frame inverse inertia for that mass.
void set_mass(MassRecord& record, const MassProperties& unit, float mass_kg);
// World-axes inverse inertia of a pose.
InertiaRecord world_inertia(const MassRecord& mass, const PoseRecord& pose);
// Whether it turns so much more easily about one axis than about others that contacts must know how it lay (sim/solver/thin-inl.h).
bool is_thin(const MassRecord& mass);
// An angular velocity no longer than kMaxAngularSpeed_radps.
void limit_turning(VelocityRecord& velocity);
// Adds an impulse (N s) at a lever arm from the centre and an angular impulse (N m s) to a velocity.
void add_impulse(VelocityRecord& velocity, const InertiaRecord& inertia, const MassRecord& mass, Vec3 lever, Vec3 linear,
                 Vec3 angular);
Vec3 difference(Vec3 a, Vec3 b);

// clamp(offset + sum weights[i] * u[i], min, max)
float actuator_value(const ActuatorDef& actuator, const std::array<float, kControlChannels>& u);
Vec3 scaled(Vec3 v, float s);
float upward(Vec3 v, Vec3 gravity);  // against gravity, or along y where there is none
// The position reached within dt on the straight way from `from` to `to` at max_speed at most, and the velocity for it.
Vec3 approach(Vec3 from, Vec3 to, float max_speed, float dt_s, Vec3& velocity);
float clamp_between(float x, float low, float high);
float clamp_control(float x);        // to [-1, 1]
float smaller(float a, float b);

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
// Which body a contact bears, whose centre is above it: 1 B, on A; -1 A, on B; 0 neither, as where the normal is more than 60 degrees off gravity.
int bears(const Manifold& manifold, const PoseRecord& pose_a, const PoseRecord& pose_b, const GravityTerms& g);
// Whether three points, of three at least, are at most 2 mm apart, or 1/64 of what they span across: those of a face are. Of a hull that rolls on a
// plane from facet to facet two are, for what is kept of all that is near lies far from each other.
bool lies_flat(const Manifold& manifold);
bool any(const float* vector);  // of three: not zero
// Not faster than a tenth of sqrt(g / radius), the rate at which a thing of such size falls over: of 1 m 0.3 rad/s.
bool turns_slowly(const VelocityRecord& velocity, float radius_m, const GravityTerms& g);
// The arms of the contact that a manifold continues, turned as the body that bears turns about gravity in a tick; none, if it held none.
void carry_arms(Manifold& manifold, const KeptContact& contact, const VelocityRecord& bearing, const GravityTerms& g, float dt_s);
// Points take the impulse (N s) of the same feature of the tick before. Points that are new share evenly what features that are
// gone carried: where two faces are nearly parallel the reference changes sides, and with it every feature, while the push stays.
void carry_normal_impulses(Manifold& manifold, std::span<const std::uint32_t> features, const float* impulses);
// What to remember of a solved manifold, and what is new about it, as bits of ContactNews. Touching: the surfaces overlap or an impulse
// has acted. A hit: the impulse grew since the last tick by more than what changes the relative speed by `hit_speed_mps`. Of the contact
// that it continues, if any: whether that touched, and its total_normal_impulse. `holds`: its arms are held, and kept.
std::uint8_t keep_contact(const Manifold& manifold, bool touched, bool holds, float total_before, const InertiaRecord* inertia, float hit_speed_mps,
                          KeptContact& contact, ContactTotals& totals);
void add_totals(ContactTotals& sum, const ContactTotals& more);
// Whether no point of a body within `radius_m` of its centre can be faster than about `part` of `speed_mps`.
bool is_slow(const VelocityRecord& velocity, float radius_m, float speed_mps, float part);
// The velocity that takes one pose to the other in a tick; the turn, of few degrees, by twice its sine's half.
VelocityRecord way_between(const PoseRecord& from, const PoseRecord& to, float dt_s);
// How many ticks last at least time_s.
std::uint32_t whole_ticks(float time_s, float tick_rate_hz);
std::uint32_t deepest_point(const Manifold& manifold);

}  // namespace orrery::sim::ref
