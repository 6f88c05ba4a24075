#include "sim/lanes/ref_pass.h"

#include "sim/world/contact_numbers.h"

#include "sim/lanes/matrix-inl.h"

namespace orrery::sim::ref {

namespace {

Vec3T<float> wide(Vec3 v) { return {v.x, v.y, v.z}; }
QuatT<float> wide(Quat q) { return {q.x, q.y, q.z, q.w}; }
Vec3 plain(Vec3T<float> v) { return {v.x, v.y, v.z}; }

}  // namespace

float mixed_friction(float a, float b) { return a == b ? a : sqrt(a * b); }
float mixed_restitution(float a, float b) { return max(a, b); }

namespace {
// Of the squared speeds: below it two surfaces run alike, or along the normal, but for rounding.
constexpr float kLeastRun = 1.0e-6f;
}  // namespace

ContactSurface mixed_surface(const Manifold& manifold, const MaterialDef& a, const MaterialDef& b, const Pose& pose_a,
                             const Pose& pose_b, float radius_a_m, float radius_b_m) {
    ContactSurface surface;
    surface.rolling_m = max(a.rolling_resistance, b.rolling_resistance) * max(radius_a_m, radius_b_m);
    const Vec3T<float> n = wide(manifold.normal);
    const Vec3T<float> of_a = rotate(wide(pose_a.orientation), wide(a.surface_velocity));
    const Vec3T<float> of_b = rotate(wide(pose_b.orientation), wide(b.surface_velocity));
    const Vec3T<float> less = of_b - of_a, tangential = less - n * dot(n, less);
    if (dot(tangential, tangential) > kLeastRun * (dot(of_a, of_a) + dot(of_b, of_b)))
        surface.velocity = plain(tangential);
    const float fa = a.contact_frequency_hz, fb = b.contact_frequency_hz;
    const MaterialDef& softer =
        fa == 0.0f || (fb != 0.0f && (fb < fa || (fb == fa && b.contact_damping_ratio > a.contact_damping_ratio))) ? b
                                                                                                                   : a;
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
    if (b_is_above)
        arm = arm + Vec3T<float>{a[0] - b[0], a[1] - b[1], a[2] - b[2]} * static_cast<float>(manifold.count);
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
bool turns_slowly(const VelocityRecord& velocity, float radius_m, const GravityTerms& g) {
    const float* v = velocity.angular;
    const Vec3T<float> w{v[0], v[1], v[2]};
    return dot(w, w) * radius_m <= g.length * 0.01f;
}
void carry_arms(Manifold& manifold, const KeptContact& contact, const VelocityRecord& bearing, const GravityTerms& g,
                float dt_s) {
    if (contact.count < 3 || !(any(contact.held_a) || any(contact.held_b))) return;
    const float* const w = bearing.angular;
    const Vec3T<float> along = wide(g.gravity);
    const Vec3T<float> turn =
        along * (dot(Vec3T<float>{w[0], w[1], w[2]}, along) / g.squared * dt_s);  // what bears has gravity
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

std::uint8_t keep_contact(const Manifold& manifold, bool touched, bool holds, float total_before,
                          const InertiaRecord* inertia, float hit_speed_mps, KeptContact& contact,
                          ContactTotals& totals) {
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

std::uint32_t deepest_point(const Manifold& manifold) {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < manifold.count; ++i) {
        if (manifold.points[i].depth > manifold.points[best].depth) best = i;
    }
    return best;
}

}  // namespace orrery::sim::ref
