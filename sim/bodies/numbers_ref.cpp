#include "sim/lanes/ref_pass.h"

#include "sim/bodies/numbers.h"

#include <bit>
#include <cstdio>

#include "sim/bodies/locks-inl.h"
#include "sim/constraints/fields.h"
#include "sim/lanes/matrix-inl.h"

namespace orrery::sim::ref {

namespace {

Vec3T<float> wide(Vec3 v) { return {v.x, v.y, v.z}; }
QuatT<float> wide(Quat q) { return {q.x, q.y, q.z, q.w}; }
Vec3 plain(Vec3T<float> v) { return {v.x, v.y, v.z}; }
Quat plain(QuatT<float> q) { return {q.x, q.y, q.z, q.w}; }

}  // namespace

bool within(float x, float low, float high) { return low <= x && x <= high; }
bool positive(float x) { return 0.0f < x && x <= kNoLimit; }
bool within(Vec3 v, float limit) {
    return within(v.x, -limit, limit) && within(v.y, -limit, limit) && within(v.z, -limit, limit);
}

bool as_long(Vec3 v, float least) { return length_squared(wide(v)) >= least * least; }

bool make_unit(Vec3& v, float tolerance) {
    const float n = length(wide(v));
    if (!within(n, 1.0f - tolerance, 1.0f + tolerance)) return false;
    if (n != 1.0f) v = plain(wide(v) * (1.0f / n));
    return true;
}
bool make_unit(Quat& q, float tolerance) {
    const float square = ((q.x * q.x + q.y * q.y) + q.z * q.z) + q.w * q.w;
    if (!within(sqrt(square), 1.0f - tolerance, 1.0f + tolerance)) return false;
    if (square != 1.0f) q = plain(normalize(wide(q)));
    return true;
}
bool perpendicular(Vec3 a, Vec3 b, float tolerance) { return within(dot(wide(a), wide(b)), -tolerance, tolerance); }

std::string text_of(float x) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g", static_cast<double>(x));
    return buffer;
}

float tick_length_s(float tick_rate_hz) { return 1.0f / tick_rate_hz; }

Pose compose(const Pose& outer, const Pose& inner) {
    return {from_local(outer, inner.position), plain(normalize(wide(outer.orientation) * wide(inner.orientation)))};
}
Vec3 rotated(Quat q, Vec3 v) { return plain(rotate(wide(q), wide(v))); }
Vec3 sum(Vec3 a, Vec3 b) { return plain(wide(a) + wide(b)); }
bool is_zero(Vec3 v) { return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f; }
Vec3 difference(Vec3 a, Vec3 b) { return plain(wide(a) - wide(b)); }
Vec3 scaled(Vec3 v, float s) { return plain(wide(v) * s); }
float upward(Vec3 v, Vec3 gravity) {
    const float g = length(wide(gravity));
    return g > 0.0f ? -dot(wide(v), wide(gravity)) / g : v.y;
}
Vec3 from_local(const Pose& pose, Vec3 local) { return sum(pose.position, rotated(pose.orientation, local)); }

namespace {

class WorldSide : public FieldVisitor<WorldSide> {
  public:
    WorldSide(const Pose& pose, bool a, bool b) : pose_(pose), a_(a), b_(b) {}
    void point(Side side, const char*, Vec3& v) const {
        if (concerns(side)) v = from_local(pose_, v);
    }
    void direction(Side side, const char*, Vec3& v) const {
        if (concerns(side)) v = rotated(pose_.orientation, v);
    }
    void world_point(const char*, Vec3& v) const { v = from_local(pose_, v); }
    void velocity(Side side, const char* name, Vec3& v, float) const { direction(side, name, v); }
    void turn(const char*, Quat& q) const {
        const QuatT<float> turn = wide(pose_.orientation), relative = wide(q);
        if (a_) q = plain(normalize(turn * relative));
        if (b_) q = plain(normalize(relative * conjugate(turn)));
    }

  private:
    bool concerns(Side side) const { return side == Side::a ? a_ : b_; }
    const Pose& pose_;
    bool a_, b_;
};

}  // namespace

void place_world_side(Constraint& constraint, const Pose& pose, bool a_is_world, bool b_is_world) {
    WorldSide side(pose, a_is_world, b_is_world);
    std::visit([&]<class T>(T& c) { T::fields(c, side); }, constraint);
}

namespace {

template <class T>
float* target_of(T& c, ActuatorKind kind) {
    if constexpr (requires { T::kTarget; }) {
        if (kind == ActuatorKind::motor) return &(c.*T::kTarget);
    }
    if constexpr (requires { T::kSteer; }) {
        if (kind == ActuatorKind::steer) return &(c.*T::kSteer);
    }
    if constexpr (requires { T::kBrake; }) {
        if (kind == ActuatorKind::brake) return &(c.*T::kBrake);
    }
    return nullptr;
}

// Finds the limits of one field of a constraint.
class LimitsOf : public FieldVisitor<LimitsOf> {
  public:
    explicit LimitsOf(const float* field) : field_(field) {}
    float low = 0.0f, high = 0.0f;
    void number(const char*, float& x, float least, float most) {
        if (&x == field_) low = least, high = most;
    }
    void amount(const char*, float& x) {
        if (&x == field_) low = 0.0f, high = kNoLimit;
    }

  private:
    const float* field_;
};

}  // namespace

bool set_target(Constraint& constraint, ActuatorKind kind, float value) {
    return std::visit(
        [&]<class T>(T& c) {
            float* const target = target_of(c, kind);
            LimitsOf limits(target);
            T::fields(c, limits);
            const float wanted = clamp(value, limits.low, limits.high);
            if (std::bit_cast<std::uint32_t>(*target) == std::bit_cast<std::uint32_t>(wanted)) return false;
            *target = wanted;
            return true;
        },
        constraint);
}

bool is_target(const Constraint& constraint, ActuatorKind kind, float value) {
    Constraint copy = constraint;
    return std::visit(
        [&](auto& c) {
            return std::bit_cast<std::uint32_t>(*target_of(c, kind)) == std::bit_cast<std::uint32_t>(value);
        },
        copy);
}

float body_mass_kg(const MassProperties& unit, float mass_kg, float density_kgpm3) {
    return mass_kg > 0.0f ? mass_kg : unit.mass * density_kgpm3;
}

void set_mass(MassRecord& record, const MassProperties& unit, float mass_kg) {
    record.inverse_mass = 1.0f / mass_kg;
    const float scale = mass_kg / unit.mass;
    const float* i = unit.inertia;
    const Sym3T<float> inertia{i[0] * scale, i[1] * scale, i[2] * scale, i[3] * scale, i[4] * scale, i[5] * scale};
    const bool diagonal = i[1] == 0.0f && i[2] == 0.0f && i[4] == 0.0f;
    const Sym3T<float> m = diagonal
                               ? Sym3T<float>{1.0f / inertia.xx, 0.0f, 0.0f, 1.0f / inertia.yy, 0.0f, 1.0f / inertia.zz}
                               : inverse(inertia);
    const float values[6] = {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz};
    for (int k = 0; k < 6; ++k) record.inverse_inertia[k] = values[k];
}

// Of principal inverse inertias x, y, z: (x + y + z) (1/x + 1/y + 1/z), which is 9 where they are equal, and of a rod
// twice its greatest by its least.
bool is_thin(const MassRecord& mass) {
    constexpr float kThin = 30.0f;  // a stick of 5 by 1 by 1 has 31
    const float* i = mass.inverse_inertia;
    const float* lock = mass.angular_lock;
    if (lock[0] * lock[1] * lock[2] == 0.0f) return false;
    const float minors = ((i[0] * i[3] - i[1] * i[1]) + (i[0] * i[5] - i[2] * i[2])) + (i[3] * i[5] - i[4] * i[4]);
    const float determinant =
        (i[0] * (i[3] * i[5] - i[4] * i[4]) - i[1] * (i[1] * i[5] - i[4] * i[2])) + i[2] * (i[1] * i[4] - i[3] * i[2]);
    return ((i[0] + i[3]) + i[5]) * minors > kThin * determinant;
}

void limit_turning(VelocityRecord& velocity) {
    float* const w = velocity.angular;
    const float size = length(Vec3T<float>{w[0], w[1], w[2]});
    if (!(size > kMaxAngularSpeed_radps)) return;
    for (int k = 0; k < 3; ++k) w[k] = w[k] * (kMaxAngularSpeed_radps / size);
}

InertiaRecord world_inertia(const MassRecord& mass, const PoseRecord& pose) {
    InertiaRecord record;
    if (mass.inverse_mass == 0.0f) return record;
    const float* i = mass.inverse_inertia;
    const float* q = pose.orientation;
    const float* free = mass.angular_lock;
    const Sym3T<float> m = locked_inverse_inertia(to_matrix(QuatT<float>{q[0], q[1], q[2], q[3]}),
                                                  Sym3T<float>{i[0], i[1], i[2], i[3], i[4], i[5]},
                                                  Vec3T<float>{free[0], free[1], free[2]});
    const float values[6] = {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz};
    for (int k = 0; k < 6; ++k) record.inverse_inertia[k] = values[k];
    record.inverse_mass = mass.inverse_mass;
    return record;
}

void add_impulse(VelocityRecord& velocity, const InertiaRecord& inertia, const MassRecord& mass, Vec3 lever,
                 Vec3 linear, Vec3 angular) {
    const Vec3T<float> j = wide(linear);
    const float* i = inertia.inverse_inertia;
    const Vec3T<float> spin =
        Sym3T<float>{i[0], i[1], i[2], i[3], i[4], i[5]} * (wide(angular) + cross(wide(lever), j));
    const Vec3T<float> push = j * inertia.inverse_mass;
    const float dv[3] = {push.x, push.y, push.z}, dw[3] = {spin.x, spin.y, spin.z};
    for (int k = 0; k < 3; ++k) {
        velocity.linear[k] += dv[k] * mass.linear_lock[k];
        velocity.angular[k] += dw[k] * mass.angular_lock[k];
    }
}

float actuator_value(const ActuatorDef& actuator, const std::array<float, kControlChannels>& u) {
    float value = actuator.offset;
    for (std::uint32_t i = 0; i < kControlChannels; ++i) value += actuator.weights[i] * u[i];
    return clamp(value, actuator.min, actuator.max);
}

Vec3 approach(Vec3 from, Vec3 to, float max_speed, float dt_s, Vec3& velocity) {
    const Vec3T<float> way = wide(to) - wide(from);
    const float distance = length(way);
    const float reach = max_speed * dt_s;
    if (distance <= reach) {
        velocity = plain(way * (1.0f / dt_s));
        return to;
    }
    const Vec3T<float> step = way * (reach / distance);
    velocity = plain(step * (1.0f / dt_s));
    return plain(wide(from) + step);
}

float clamp_between(float x, float low, float high) { return clamp(x, low, high); }
float clamp_control(float x) { return clamp(x, -1.0f, 1.0f); }
float smaller(float a, float b) { return min(a, b); }

bool any(const float* vector) { return vector[0] != 0.0f || vector[1] != 0.0f || vector[2] != 0.0f; }

bool is_slow(const VelocityRecord& velocity, float radius_m, float speed_mps, float part) {
    const float *v = velocity.linear, *w = velocity.angular;
    const float linear = length(Vec3T<float>{v[0], v[1], v[2]}), angular = length(Vec3T<float>{w[0], w[1], w[2]});
    return linear + angular * radius_m <= speed_mps * part;
}

VelocityRecord way_between(const PoseRecord& from, const PoseRecord& to, float dt_s) {
    const float *p = from.orientation, *q = to.orientation;
    const QuatT<float> turn = QuatT<float>{q[0], q[1], q[2], q[3]} * conjugate(QuatT<float>{p[0], p[1], p[2], p[3]});
    const float rate = 1.0f / dt_s, twice = rate + rate;
    VelocityRecord way;
    for (int k = 0; k < 3; ++k) way.linear[k] = (to.position[k] - from.position[k]) * rate;
    way.angular[0] = turn.x * twice, way.angular[1] = turn.y * twice, way.angular[2] = turn.z * twice;
    return way;
}

VelocityRecord moved_towards(const VelocityRecord& mean, const VelocityRecord& now, float part) {
    VelocityRecord moved;
    for (int k = 0; k < 3; ++k) {
        moved.linear[k] = mean.linear[k] + (now.linear[k] - mean.linear[k]) * part;
        moved.angular[k] = mean.angular[k] + (now.angular[k] - mean.angular[k]) * part;
    }
    return moved;
}

float part_of_mean(float dt_s, float time_s, float part) { return dt_s / (dt_s + time_s * part); }
float product(float a, float b) { return a * b; }

std::uint32_t whole_ticks(float time_s, float tick_rate_hz) {
    const float ticks = time_s * tick_rate_hz;
    const auto whole = static_cast<std::uint32_t>(ticks);
    return static_cast<float>(whole) < ticks ? whole + 1 : whole;
}

}  // namespace orrery::sim::ref
