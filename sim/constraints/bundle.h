// The memory layout of constraints while they are solved, equal on every target: 16 of one kind side by side, so that
// one number of each makes a row. The bundle of a constraint is a struct of rows. Its functions read and write them as
// vectors of lanes (bundle-inl.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "orrery/types.hpp"
#include "sim/constraints/settings.h"
#include "sim/lanes/record_place.h"

namespace orrery::sim {

inline constexpr std::uint32_t kBundleLanes = 16;

struct alignas(64) Row {
    float lane[kBundleLanes];
};
struct Vec2Rows {
    Row x, y;
};
struct Vec3Rows {
    Row x, y, z;
};
struct QuatRows {
    Row x, y, z, w;
};
struct Sym2Rows {
    Row xx, xy, yy;
};
struct Sym3Rows {
    Row xx, xy, xz, yy, yz, zz;
};
struct InertiaRows {
    Sym3Rows inverse_inertia;  // 1/(kg m^2), world axes
    Row inverse_mass;          // 1/kg
};
struct SpringRows {
    // of the description; 0 of the first and the last: the default
    Row frequency_hz, damping_ratio, max_recovery_speed;
    // Set by prepare for the passes (spring-inl.h):
    Row rate;            // 1/s: position error to velocity
    Row mass_scale;      // factor of the effective mass
    Row impulse_scale;   // factor of the accumulated impulse
    Row is_user_spring;  // 1: the user set the spring, and relax keeps it; 0: the default rigidity
    Row recovery_speed;  // m/s, rad/s: the largest speed of correction
};

// The factors of an N x N effective mass (ldlt-inl.h).
template <std::size_t N>
struct LdltRows {
    Row l[N * (N - 1) / 2], inverse_d[N];
};
// A row that holds a value within [low, high] (limit-inl.h).
struct LimitRows {
    Row low, high;
    SpringRows spring;
    Row impulse;
    // Of the current poses:
    Row bias, beyond, mass, min_impulse, max_impulse;
};

// Impulse on B summed over the substeps of a tick (N s, N m s, world axes); finished into the mean force and torque.
struct JointForceRows {
    Vec3Rows linear, angular;
    Row force_n, torque_nm;
    Row break_force_n, break_torque_nm;
    Row broken;  // 1 where a threshold is exceeded
};

// The bodies of a bundle's lanes. Lanes from `count` on are padding: they refer to the world and are never stored.
// write_a and write_b have a bit for each lane, set if that body is dynamic.
struct BundleHead {
    RecordPlace body_a[kBundleLanes], body_b[kBundleLanes];
    std::uint32_t source[kBundleLanes];  // index of the constraint
    std::uint32_t count, write_a, write_b;
    std::uint32_t points;   // contacts: the largest number of points of a lane
    std::uint32_t bounces;  // contacts: some lane has restitution
    std::uint32_t thin;     // contacts: some lane has a thin body; in the overflow, other lanes may have none
};

// The head of bundles of three or four bodies; D is the world if there are three.
struct ManyHead {
    BundleHead head;
    RecordPlace body_c[kBundleLanes], body_d[kBundleLanes];
    std::uint32_t write_c, write_d;
};

static_assert(std::is_standard_layout_v<ManyHead> && offsetof(ManyHead, head) == 0);

// Copies between descriptions and one lane of the rows, without arithmetic.
inline void set_lane(Row& row, std::uint32_t lane, float value) { row.lane[lane] = value; }
inline void set_lane(Vec3Rows& rows, std::uint32_t lane, Vec3 v) {
    rows.x.lane[lane] = v.x, rows.y.lane[lane] = v.y, rows.z.lane[lane] = v.z;
}
inline void set_lane(Vec3Rows& rows, std::uint32_t lane, const float* v) {
    rows.x.lane[lane] = v[0], rows.y.lane[lane] = v[1], rows.z.lane[lane] = v[2];
}
inline void set_lane(QuatRows& rows, std::uint32_t lane, Quat q) {
    rows.x.lane[lane] = q.x, rows.y.lane[lane] = q.y, rows.z.lane[lane] = q.z, rows.w.lane[lane] = q.w;
}
inline void get_lane(const Vec3Rows& rows, std::uint32_t lane, float* v) {
    v[0] = rows.x.lane[lane], v[1] = rows.y.lane[lane], v[2] = rows.z.lane[lane];
}
inline Vec3 get_lane(const Vec3Rows& rows, std::uint32_t lane) {
    return {rows.x.lane[lane], rows.y.lane[lane], rows.z.lane[lane]};
}

// The lower end of a distance, which is never below 0. A lower end of 0 holds nothing, and has no direction along which
// it could hold. If the upper end is 0, too, both ends are one.
inline float lower_end(float min_m, float max_m) { return min_m > 0.0f || !(max_m > min_m) ? min_m : -kNeverBeyond_m; }

inline void set_lane(SpringRows& rows, std::uint32_t lane, Spring spring) {
    rows.frequency_hz.lane[lane] = spring.frequency_hz, rows.damping_ratio.lane[lane] = spring.damping_ratio;
    rows.max_recovery_speed.lane[lane] = spring.max_recovery_speed;
}

// The constants of a spring, servo or contact for one substep.
struct SoftConstants {
    float rate, mass_scale, impulse_scale;
};

// Constants of a step for all constraints. The reference unit makes them once for each tick, so that every target reads
// equal bits.
struct StepConstants {
    float dt_s, inverse_dt, h_s, inverse_h;  // tick and substep
    Vec3 gravity;
    SoftConstants joint;                   // default rigidity
    float joint_recovery_speed;            // and its largest speed of correction, m/s or rad/s
    SoftConstants contact, contact_fixed;  // between two dynamic bodies, against a fixed or kinematic one
    SoftConstants slender, slender_fixed;  // those of slender bodies (contact-inl.h)
    float slop_m, inverse_margin, max_recovery_speed_mps, restitution_threshold_mps;
};

}  // namespace orrery::sim
