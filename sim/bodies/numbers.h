// The float arithmetic of bodies and of the world's bookkeeping: checks of a definition, placing prefabs, mass,
// commands, actuators. Scalar, and the same on every SIMD target, since it is compiled once, in namespace ref.
#pragma once

#include <cstdint>
#include <string>

#include "orrery/definition.hpp"
#include "sim/bodies/bodies.h"
#include "sim/bodies/mass_properties.h"

namespace orrery::sim::ref {

// How far from 1 the length of a direction or quaternion may be; within it, it is normalised.
inline constexpr float kUnitTolerance = 1.0e-3f;
// The same for what a world holds: what a definition barely passes may round past it when it is normalised and turned.
inline constexpr float kLiveTolerance = 2.0e-3f;

// low <= x <= high; false for NaN.
bool within(float x, float low, float high);
bool positive(float x);             // above 0 and finite
bool within(Vec3 v, float limit);   // every component in [-limit, limit]
bool as_long(Vec3 v, float least);  // its length is at least that
// Normalises where the length is 1 within the tolerance, else returns false and leaves it alone.
bool make_unit(Vec3& v, float tolerance = kUnitTolerance);
bool make_unit(Quat& q, float tolerance = kUnitTolerance);
bool perpendicular(Vec3 a, Vec3 b, float tolerance);  // of unit vectors
std::string text_of(float x);                         // for messages

float tick_length_s(float tick_rate_hz);

Pose compose(const Pose& outer, const Pose& inner);  // inner's frame stands in outer's
Vec3 rotated(Quat q, Vec3 v);
Vec3 sum(Vec3 a, Vec3 b);
bool is_zero(Vec3 v);
Vec3 from_local(const Pose& pose, Vec3 local);  // a point
// Turns the frames of a joint's world side from a prefab's frame into the world's, the prefab standing at `pose`.
void place_world_side(Constraint& constraint, const Pose& pose, bool a_is_world, bool b_is_world);

// Sets what an actuator of this kind sets (has_target), cut to what its field may be; false where it stays bit for bit
// as it is.
bool set_target(Constraint& constraint, ActuatorKind kind, float value);
bool is_target(const Constraint& constraint, ActuatorKind kind, float value);  // bit for bit

// Mass of a body of this shape: mass_kg, or the material's density times the volume where it is 0.
float body_mass_kg(const MassProperties& unit, float mass_kg, float density_kgpm3);
// Inverse mass and body-frame inverse inertia for that mass.
void set_mass(MassRecord& record, const MassProperties& unit, float mass_kg);
// World-axes inverse inertia of a pose.
InertiaRecord world_inertia(const MassRecord& mass, const PoseRecord& pose);
// Whether it turns so much more easily about one axis than about others that contacts must know how it lay
// (sim/solver/thin-inl.h).
bool is_thin(const MassRecord& mass);
// An angular velocity no longer than kMaxAngularSpeed_radps.
void limit_turning(VelocityRecord& velocity);
// Adds an impulse (N s) at a lever arm from the centre and an angular impulse (N m s) to a velocity.
void add_impulse(VelocityRecord& velocity, const InertiaRecord& inertia, const MassRecord& mass, Vec3 lever,
                 Vec3 linear, Vec3 angular);
Vec3 difference(Vec3 a, Vec3 b);

// clamp(offset + sum weights[i] * u[i], min, max)
float actuator_value(const ActuatorDef& actuator, const std::array<float, kControlChannels>& u);
Vec3 scaled(Vec3 v, float s);
float upward(Vec3 v, Vec3 gravity);  // against gravity, or along y where there is none
// The position reached within dt on the straight way from `from` to `to` at max_speed at most, and the velocity for it.
Vec3 approach(Vec3 from, Vec3 to, float max_speed, float dt_s, Vec3& velocity);
float clamp_between(float x, float low, float high);
float clamp_control(float x);  // to [-1, 1]
float smaller(float a, float b);

bool any(const float* vector);  // of three: not zero
// Whether no point of a body within `radius_m` of its centre can be faster than about `part` of `speed_mps`.
bool is_slow(const VelocityRecord& velocity, float radius_m, float speed_mps, float part);
// The velocity that takes one pose to the other in a tick; the turn, of few degrees, by twice its sine's half.
VelocityRecord way_between(const PoseRecord& from, const PoseRecord& to, float dt_s);
// `mean` moved towards `now` by `part` of the way.
VelocityRecord moved_towards(const VelocityRecord& mean, const VelocityRecord& now, float part);
// The part by which a mean moves each tick whose time constant is `part` of `time_s`.
float part_of_mean(float dt_s, float time_s, float part);
float product(float a, float b);
// Where a body at `pose` comes to when a rigid motion takes `from` to `to`.
Pose carried(const Pose& from, const Pose& to, const Pose& pose);
// That motion as the pose of a frame that stood in the world's: for place_world_side.
Pose frame_between(const Pose& from, const Pose& to);
Vec3 velocity_at(Vec3 linear, Vec3 angular, Vec3 lever);  // of a rigid body
Vec3 torque_about(Vec3 lever, Vec3 force, Vec3 torque);   // of a force at a lever arm and a torque
// The velocities that take `from` to `to` in a tick. A turn of less than rounding is none: then `to` gets the
// orientation of `from`.
void velocities_between(const Pose& from, Pose& to, float dt_s, Vec3& linear, Vec3& angular);
// How many ticks last at least time_s.
std::uint32_t whole_ticks(float time_s, float tick_rate_hz);

}  // namespace orrery::sim::ref
