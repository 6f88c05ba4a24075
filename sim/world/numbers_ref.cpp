#include "sim/lanes/ref_pass.h"

#include "sim/world/numbers.h"

#include <bit>
#include <cstdio>

#include "sim/constraints/fields.h"
#include "sim/lanes/matrix-inl.h"
#include "sim/solver/locks-inl.h"

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
        [&](auto& c) { return std::bit_cast<std::uint32_t>(*target_of(c, kind)) == std::bit_cast<std::uint32_t>(value); }, copy);
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
    const Sym3T<float> m = diagonal ? Sym3T<float>{1.0f / inertia.xx, 0.0f, 0.0f, 1.0f / inertia.yy, 0.0f, 1.0f / inertia.zz}
                                    : inverse(inertia);
    const float values[6] = {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz};
    for (int k = 0; k < 6; ++k) record.inverse_inertia[k] = values[k];
}

// Of principal inverse inertias x, y, z: (x + y + z) (1/x + 1/y + 1/z), which is 9 where they are equal, and of a rod twice its greatest by
// its least.
bool is_thin(const MassRecord& mass) {
    constexpr float kThin = 30.0f;  // a stick of 5 by 1 by 1 has 31
    const float* i = mass.inverse_inertia;
    const float* lock = mass.angular_lock;
    if (lock[0] * lock[1] * lock[2] == 0.0f) return false;
    const float minors = ((i[0] * i[3] - i[1] * i[1]) + (i[0] * i[5] - i[2] * i[2])) + (i[3] * i[5] - i[4] * i[4]);
    const float determinant = (i[0] * (i[3] * i[5] - i[4] * i[4]) - i[1] * (i[1] * i[5] - i[4] * i[2])) + i[2] * (i[1] * i[4] - i[3] * i[2]);
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
                                                  Sym3T<float>{i[0], i[1], i[2], i[3], i[4], i[5]}, Vec3T<float>{free[0], free[1], free[2]});
    const float values[6] = {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz};
    for (int k = 0; k < 6; ++k) record.inverse_inertia[k] = values[k];
    record.inverse_mass = mass.inverse_mass;
    return record;
}

void add_impulse(VelocityRecord& velocity, const InertiaRecord& inertia, const MassRecord& mass, Vec3 lever, Vec3 linear,
                 Vec3 angular) {
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

float mixed_friction(float a, float b) { return a == b ? a : sqrt(a * b); }
float mixed_restitution(float a, float b) { return max(a, b); }

namespace {
// Of the squared speeds: below it two surfaces run alike, or along the normal, but for rounding.
constexpr float kLeastRun = 1.0e-6f;
}

ContactSurface mixed_surface(const Manifold& manifold, const MaterialDef& a, const MaterialDef& b, const Pose& pose_a,
                             const Pose& pose_b, float radius_a_m, float radius_b_m) {
    ContactSurface surface;
    surface.rolling_m = max(a.rolling_resistance, b.rolling_resistance) * max(radius_a_m, radius_b_m);
    const Vec3T<float> n = wide(manifold.normal);
    const Vec3T<float> of_a = rotate(wide(pose_a.orientation), wide(a.surface_velocity));
    const Vec3T<float> of_b = rotate(wide(pose_b.orientation), wide(b.surface_velocity));
    const Vec3T<float> less = of_b - of_a, tangential = less - n * dot(n, less);
    if (dot(tangential, tangential) > kLeastRun * (dot(of_a, of_a) + dot(of_b, of_b))) surface.velocity = plain(tangential);
    const float fa = a.contact_frequency_hz, fb = b.contact_frequency_hz;
    const MaterialDef& softer = fa == 0.0f || (fb != 0.0f && (fb < fa || (fb == fa && b.contact_damping_ratio > a.contact_damping_ratio))) ? b : a;
    surface.frequency_hz = softer.contact_frequency_hz;
    surface.damping_ratio = softer.contact_damping_ratio;
    const float ra = a.max_recovery_speed_mps, rb = b.max_recovery_speed_mps;
    surface.max_recovery_speed_mps = ra == 0.0f ? rb : rb == 0.0f ? ra : min(ra, rb);
    return surface;
}

bool drags(const Manifold& manifold, const ContactSurface& surface) {
    return manifold.friction > 0.0f && manifold.total_normal_impulse > 0.0f && !is_zero(surface.velocity);
}

GravityTerms gravity_terms(Vec3 gravity) {
    const Vec3T<float> g = wide(gravity);
    return {gravity, length(g), dot(g, g)};
}
int bears(const Manifold& manifold, const PoseRecord& pose_a, const PoseRecord& pose_b, const GravityTerms& g) {
    const Vec3T<float> along = wide(g.gravity);
    const float down = dot(wide(manifold.normal), along), least = 0.5f * g.length;
    if (abs(down) <= least || !(g.squared > 0.0f)) return 0;
    const float *a = pose_a.position, *b = pose_b.position;
    const bool b_is_above = down < 0.0f;
    Vec3T<float> arm{0.0f, 0.0f, 0.0f};  // the sum of those of the points
    for (std::uint32_t k = 0; k < manifold.count; ++k) arm = arm + wide(manifold.points[k].offset_a);
    if (b_is_above) arm = arm + Vec3T<float>{a[0] - b[0], a[1] - b[1], a[2] - b[2]} * static_cast<float>(manifold.count);
    if (!(dot(arm, along) > 0.0f)) return 0;
    return b_is_above ? 1 : -1;
}
bool lies_flat(const Manifold& manifold) {
    constexpr float kSlope = 1.0f / 64.0f, kNear_m = 2e-3f;
    const Vec3T<float> first = wide(manifold.points[0].offset_a), along = wide(manifold.points[1].offset_a) - first,
                       across = cross(along, wide(manifold.points[2].offset_a) - first);
    const float length2 = length_squared(along), most = length_squared(across) * (kSlope * kSlope);
    std::uint32_t near = 0;
    for (std::uint32_t k = 0; k < manifold.count; ++k) {
        const float gap = -manifold.points[k].depth;
        near += gap <= kNear_m || gap * gap * length2 <= most ? 1u : 0u;
    }
    return near > 2;
}
bool any(const float* vector) { return vector[0] != 0.0f || vector[1] != 0.0f || vector[2] != 0.0f; }
bool turns_slowly(const VelocityRecord& velocity, float radius_m, const GravityTerms& g) {
    const float* v = velocity.angular;
    const Vec3T<float> w{v[0], v[1], v[2]};
    return dot(w, w) * radius_m <= g.length * 0.01f;
}
void carry_arms(Manifold& manifold, const KeptContact& contact, const VelocityRecord& bearing, const GravityTerms& g, float dt_s) {
    if (contact.count < 3 || !(any(contact.held_a) || any(contact.held_b))) return;
    const float* const w = bearing.angular;
    const Vec3T<float> along = wide(g.gravity);
    const Vec3T<float> turn = along * (dot(Vec3T<float>{w[0], w[1], w[2]}, along) / g.squared * dt_s);  // what bears has gravity
    const auto turned = [&turn](const float* arm) {
        const Vec3T<float> r{arm[0], arm[1], arm[2]}, across = cross(turn, r);
        return plain((r + across) + cross(turn, across) * 0.5f);
    };
    manifold.held_a = turned(contact.held_a);
    manifold.held_b = turned(contact.held_b);
}

void carry_normal_impulses(Manifold& manifold, std::span<const std::uint32_t> features, const float* impulses) {
    bool taken[kMaxManifoldPoints] = {}, continued[kMaxManifoldPoints] = {};
    float fresh = 0.0f;
    for (std::uint32_t i = 0; i < manifold.count; ++i) {
        for (std::uint32_t k = 0; k < features.size() && !continued[i]; ++k) {
            if (taken[k] || manifold.points[i].feature != features[k]) continue;
            manifold.points[i].normal_impulse = impulses[k];
            taken[k] = continued[i] = true;
        }
        if (!continued[i]) fresh += 1.0f;
    }
    if (fresh == 0.0f) return;
    float left = 0.0f;
    for (std::uint32_t k = 0; k < features.size(); ++k) left += taken[k] ? 0.0f : impulses[k];
    for (std::uint32_t i = 0; i < manifold.count; ++i) {
        if (!continued[i]) manifold.points[i].normal_impulse = left / fresh;
    }
}

std::uint8_t keep_contact(const Manifold& manifold, bool touched, bool holds, float total_before, const InertiaRecord* inertia, float hit_speed_mps,
                          KeptContact& contact, ContactTotals& totals) {
    contact = {};
    contact.a = manifold.a;
    contact.b = manifold.b;
    contact.child_a = manifold.child_a;
    contact.child_b = manifold.child_b;
    contact.count = manifold.count;
    float deepest = manifold.points[0].depth;
    for (std::uint32_t i = 0; i < manifold.count; ++i) {
        contact.feature[i] = manifold.points[i].feature;
        contact.normal_impulse[i] = manifold.points[i].normal_impulse;
        deepest = max(deepest, manifold.points[i].depth);
    }
    contact.friction_impulse[0] = manifold.friction_impulse.x;
    contact.friction_impulse[1] = manifold.friction_impulse.y;
    contact.friction_impulse[2] = manifold.friction_impulse.z;
    contact.twist_impulse = manifold.twist_impulse;
    contact.total_normal_impulse = manifold.total_normal_impulse;
    if (holds) {
        const Vec3 a = manifold.held_a, b = manifold.held_b;
        contact.held_a[0] = a.x, contact.held_a[1] = a.y, contact.held_a[2] = a.z;
        contact.held_b[0] = b.x, contact.held_b[1] = b.y, contact.held_b[2] = b.z;
    }

    const bool touches = deepest > 0.0f || manifold.total_normal_impulse > 0.0f;
    const float growth = manifold.total_normal_impulse - total_before;
    contact.touching = touches ? 1 : 0;
    totals.touching += contact.touching;
    totals.points += manifold.count;
    totals.largest_depth_m = max(totals.largest_depth_m, deepest);

    std::uint8_t news = 0;
    if (touches && !touched) news |= kContactBegins;
    if (!touches && touched) news |= kContactEnds;
    if (growth > 0.0f && growth * (inertia[manifold.a].inverse_mass + inertia[manifold.b].inverse_mass) > hit_speed_mps)
        news |= kContactHits;
    return news;
}

void add_totals(ContactTotals& sum, const ContactTotals& more) {
    sum.touching += more.touching;
    sum.points += more.points;
    sum.largest_depth_m = max(sum.largest_depth_m, more.largest_depth_m);
}

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

std::uint32_t whole_ticks(float time_s, float tick_rate_hz) {
    const float ticks = time_s * tick_rate_hz;
    const auto whole = static_cast<std::uint32_t>(ticks);
    return static_cast<float>(whole) < ticks ? whole + 1 : whole;
}

std::uint32_t deepest_point(const Manifold& manifold) {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < manifold.count; ++i) {
        if (manifold.points[i].depth > manifold.points[best].depth) best = i;
    }
    return best;
}

}  // namespace orrery::sim::ref
