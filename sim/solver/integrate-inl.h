// What a substep does to bodies: velocities, then (after the constraints) poses.

#if defined(ORRERY_SOLVER_INTEGRATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_SOLVER_INTEGRATE_INL_H_
#undef ORRERY_SOLVER_INTEGRATE_INL_H_
#else
#define ORRERY_SOLVER_INTEGRATE_INL_H_
#endif

#include <bit>
#include <cstring>

#include "sim/bodies/locks-inl.h"
#include "sim/constraints/bundle-inl.h"
#include "sim/solver/kernels.h"
#include "sim/solver/thin-inl.h"

ORRERY_LANES_BEGIN

template <class F>
struct MassT {
    InertiaT<F> inertia;  // body axes
    F gravity_scale, linear_damping, angular_damping;
    Vec3T<F> linear_lock, angular_lock;
};

// Where a body's mass begins, in records of eight floats.
ORRERY_FN std::uint32_t mass_row_of(const StepContext& context, std::uint32_t body) {
    return context.mass_of[body] * 2;
}

// Sixteen bodies one behind the other in StepContext::rows, from `first` on. Rows past the end read the world and are
// not written.
struct BodyGroup {
    std::uint32_t rows[kBundleLanes], mass_rows[kBundleLanes];
    std::uint32_t dynamic_bits = 0, moving_bits = 0;  // awake; moving: dynamic or kinematic

    ORRERY_FN BodyGroup(const StepContext& context, std::uint32_t first) {
        const std::uint32_t count = context.row_count - first < kBundleLanes ? context.row_count - first : kBundleLanes;
        const std::uint32_t* const given = context.rows + first;
        for (std::uint32_t k = 0; k < kBundleLanes; ++k) rows[k] = k < count ? given[k] : kWorldBody;
        for (std::uint32_t k = 0; k < kBundleLanes; ++k) mass_rows[k] = mass_row_of(context, rows[k]);
        std::uint64_t flags[kBundleLanes / 8] = {};  // a byte a body; bit 0 of each is looked at
        if (given[count - 1] - given[0] == count - 1) {
            std::memcpy(flags, context.flags + given[0], count);
        } else {
            for (std::uint32_t k = 0; k < count; ++k)
                flags[k / 8] |= std::uint64_t{context.flags[given[k]]} << (8 * (k % 8));
        }
        for (std::uint32_t k = 0; k < kBundleLanes / 8; ++k) {
            const std::uint64_t awake = ~flags[k] >> kAsleepBit, dynamic = flags[k] >> kDynamicBit,
                                kinematic = flags[k] >> kKinematicBit;
            dynamic_bits |= lowest_bits(awake & dynamic) << (8 * k);
            moving_bits |= lowest_bits(awake & (dynamic | kinematic)) << (8 * k);
        }
    }

  private:
    static constexpr int kAsleepBit = std::countr_zero(std::uint8_t{kBodyAsleep}),
                         kDynamicBit = std::countr_zero(std::uint8_t{kBodyDynamic}),
                         kKinematicBit = std::countr_zero(std::uint8_t{kBodyKinematic});
    // Bit 0 of each byte, side by side: no two of the partial products fall on the same place.
    ORRERY_FN static std::uint32_t lowest_bits(std::uint64_t bytes) {
        return static_cast<std::uint32_t>(((bytes & 0x0101010101010101u) * 0x0102040810204080u) >> 56);
    }
};

template <class F>
ORRERY_FN MassT<F> gather_mass(const MassRecord* mass, const std::uint32_t* mass_rows) {
    const float* base = mass->inverse_inertia;
    F c[kRecordFloats], d[kRecordFloats];
    gather_records<F>(base, mass_rows, c);
    gather_records<F>(base + kRecordFloats, mass_rows, d);
    return {{{c[0], c[1], c[2], c[3], c[4], c[5]}, c[6]}, c[7], d[0], d[1], {d[2], d[3], d[4]}, {d[5], d[6], d[7]}};
}

// Vectors of three floats by body, turned into lanes.
template <class F>
ORRERY_FN Vec3T<F> gather_vec3(const Vec3* from, const std::uint32_t* rows) {
    float x[kBundleLanes], y[kBundleLanes], z[kBundleLanes];
    for (std::size_t k = 0; k < lanes<F>(); ++k) x[k] = from[rows[k]].x, y[k] = from[rows[k]].y, z[k] = from[rows[k]].z;
    return {load<F>(x), load<F>(y), load<F>(z)};
}

template <class F>
ORRERY_FN Sym3T<F> world_inverse_inertia(QuatT<F> q, const MassT<F>& mass) {
    return locked_inverse_inertia(to_matrix(q), mass.inertia.inverse_inertia, mass.angular_lock);
}

// The change of angular velocity by the gyroscopic torque w x (I w) in a substep: an implicit rule in body axes, one
// Newton step from w.
//
//   I d + h m x (I m) = 0,  m = w + theta d:  f = h w x (I w),  J = I + theta h ([w]x I - [I w]x),  d = -J^-1 f
//
// theta 1/2, the midpoint rule, keeps the energy w . I w and the momentum |I w|, for d . I m and I d . I m are both
// zero by it; one Newton step leaves errors of (h w)^3. Where these count the spin is scaled to the momentum that it
// had, or, where that would add energy, to the energy: nothing spins up however fast it turns. theta 1, implicit Euler
// (Catto, "Numerical Methods", GDC 2015), takes half of both within seconds. It is for bodies in contact, and for those
// that turn by more than a quarter to a third of a radian in a substep: a contact is what it was when the tick began,
// and of a thin body that turns by a radian and more meanwhile an impact may make as much spin about its length as
// there was energy, and more. That must not be kept.
//
// Only ratios of inertias matter, so I is taken as the adjugate of the inverse inertia, scaled to a trace of one. A
// body whose inertia about some axis is infinite feels none.
inline constexpr float kFastTurn2 =
    1.0e-3f;  // rad^2 in a substep: below it rounding outweighs what a Newton step leaves
inline constexpr float kWildTurn2 = 0.05f, kWildest2 = 0.1f;  // from here on energy is taken, and wholly so
inline constexpr float kEnergySlack = 1.0e-5f;                // of rounding

template <class F>
ORRERY_FN F gyroscopic_theta(F turn2, F at_least) {
    return max(at_least,
               min(max(F(0.5f) + (turn2 - F(kWildTurn2)) * F(0.5f / (kWildest2 - kWildTurn2)), F(0.5f)), F(1.0f)));
}

template <class F>
ORRERY_FN Vec3T<F> gyroscopic_change(const Sym3T<F>& inverse_inertia, Vec3T<F> w, F h, F at_least) {
    const F turn2 = length_squared(w) * (h * h);
    const F theta = gyroscopic_theta(turn2, at_least);
    const Sym3T<F>& m = inverse_inertia;
    const F s = inverse_or_zero((m.xx + m.yy) + m.zz);
    const F xx = m.xx * s, xy = m.xy * s, xz = m.xz * s, yy = m.yy * s, yz = m.yz * s, zz = m.zz * s;
    const Sym3T<F> adjugate{yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy,
                            xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy};
    const F t = inverse_or_zero((adjugate.xx + adjugate.yy) + adjugate.zz);
    const Sym3T<F> inertia{adjugate.xx * t, adjugate.xy * t, adjugate.xz * t,
                           adjugate.yy * t, adjugate.yz * t, adjugate.zz * t};
    const Vec3T<F> momentum = inertia * w;
    const Vec3T<F> f = cross(w, momentum) * h;
    // Columns of J: I e + theta h (w x (I e) - (I w) x e).
    const F zero(0.0f), one(1.0f), part = h * theta;
    const Vec3T<F> ix{inertia.xx, inertia.xy, inertia.xz}, iy{inertia.xy, inertia.yy, inertia.yz},
        iz{inertia.xz, inertia.yz, inertia.zz};
    const Vec3T<F> jx = ix + (cross(w, ix) - cross(momentum, Vec3T<F>{one, zero, zero})) * part;
    const Vec3T<F> jy = iy + (cross(w, iy) - cross(momentum, Vec3T<F>{zero, one, zero})) * part;
    const Vec3T<F> jz = iz + (cross(w, iz) - cross(momentum, Vec3T<F>{zero, zero, one})) * part;
    const Vec3T<F> yz_normal = cross(jy, jz);
    const F det = dot(jx, yz_normal);
    const MaskOf<F> usable = det > F(1.0e-9f);
    const F scale = select(usable, F(-1.0f) / select(usable, det, one), zero);
    const Vec3T<F> turned = w + Vec3T<F>{dot(f, yz_normal), dot(jx, cross(f, jz)), dot(jx, cross(jy, f))} * scale,
                   after = inertia * turned;
    const F had = dot(w, momentum), energy = dot(turned, after), size = length_squared(after), least(1.0e-12f);
    const MaskOf<F> spins =
        (had > least) & (energy > least) & (size > least) & (turn2 > F(kFastTurn2)) & (theta <= F(0.5f));
    const F of_size = length_squared(momentum) / select(spins, size, one), of_energy = had / select(spins, energy, one);
    const F kept = select(of_size > of_energy * F(1.0f + kEnergySlack), of_energy, of_size);
    return select<F>(spins, turned * sqrt(min(max(kept, F(0.5f)), F(2.0f))), turned) - w;
}

template <class F>
ORRERY_FN F gather_theta(const StepContext& context, const std::uint32_t* rows) {
    constexpr float kTheta[2] = {0.5f, 1.0f};
    if (context.touched == nullptr) return F(kTheta[0]);
    float theta[kBundleLanes];
    for (std::size_t k = 0; k < lanes<F>(); ++k) theta[k] = kTheta[context.touched[rows[k]]];
    return load<F>(theta);
}

// Equal principal inertias feel no gyroscopic torque; leaving them out keeps spheres free of rounding noise.
template <class F>
ORRERY_FN MaskOf<F> isotropic(const Sym3T<F>& m) {
    const F zero(0.0f);
    return (m.xx == m.yy) & (m.yy == m.zz) & (m.xy == zero) & (m.xz == zero) & (m.yz == zero);
}

inline constexpr float kLargestFinite = 3.40282347e38f;

// x cut to [-bound, bound]; what is not finite stays so, to be found and quarantined.
template <class F>
ORRERY_FN F cut(F x, F bound) {
    const F size = abs(x);
    return select((size > bound) & (size <= F(kLargestFinite)), copy_sign(bound, x), x);
}

template <class F>
ORRERY_FN Vec3T<F> at_most(Vec3T<F> given, float limit) {
    const F bound(limit * 1.0e6f);  // far beyond the limit, so that the square below cannot overflow
    const Vec3T<F> v{cut(given.x, bound), cut(given.y, bound), cut(given.z, bound)};
    const F squared = length_squared(v);
    const MaskOf<F> over = squared > F(limit * limit);
    return select<F>(over, v * (F(limit) / sqrt(select(over, squared, F(1.0f)))), v);
}

// Of the bodies `rows`, those whose bit is set.
template <class F>
ORRERY_FN void integrate_velocity(const StepContext& context, const std::uint32_t* rows, const std::uint32_t* mass_rows,
                                  std::uint32_t bits) {
    const StepConstants& step = context.step;
    const F h(step.h_s), one(1.0f);
    float* velocities = context.velocity->linear;
    VelocityT<F> v = gather_velocity<F>(velocities, rows);
    const MassT<F> mass = gather_mass<F>(context.mass, mass_rows);

    Vec3T<F> acceleration = splat<F>(step.gravity) * mass.gravity_scale;
    if (context.force) acceleration = acceleration + gather_vec3<F>(context.force, rows) * mass.inertia.inverse_mass;
    v.linear = v.linear + acceleration * h;
    if (context.torque) {
        const InertiaT<F> world = gather_inertia<F>(context.inertia->inverse_inertia, rows);
        v.angular = v.angular + (world.inverse_inertia * gather_vec3<F>(context.torque, rows)) * h;
    }
    const MaskOf<F> round = isotropic(mass.inertia.inverse_inertia);
    if (!all(round)) {
        const QuatT<F> q = gather_pose<F>(context.pose->position, rows).orientation;
        const Vec3T<F> local = rotate_inverse(q, v.angular);
        const F theta = gather_theta<F>(context, rows);
        Vec3T<F> change = rotate(q, gyroscopic_change(mass.inertia.inverse_inertia, local, h, theta));
        const MaskOf<F> some = some_locked(mass.angular_lock);
        if (any(some)) {
            const Vec3T<F> held =
                locked_gyroscopic_change(to_matrix(q), mass.inertia.inverse_inertia, mass.angular_lock, v.angular, h,
                                         gyroscopic_theta(length_squared(v.angular) * (h * h), theta));
            change = select<F>(some, held, change);
        }
        v.angular = select<F>(round, v.angular, v.angular + change);
    }
    const F linear_scale = one / (one + mass.linear_damping * h),
            angular_scale = one / (one + mass.angular_damping * h);
    v.linear = at_most(v.linear * linear_scale, kMaxLinearSpeed_mps);
    v.angular = at_most(v.angular * angular_scale, kMaxAngularSpeed_radps);
    const Vec3T<F> kl = mass.linear_lock, ka = mass.angular_lock;
    v.linear = {v.linear.x * kl.x, v.linear.y * kl.y, v.linear.z * kl.z};
    v.angular = {v.angular.x * ka.x, v.angular.y * ka.y, v.angular.z * ka.z};
    scatter_velocity<F>(velocities, rows, bits, v);
}

// Poses and displacements of the `moving` ones go on by velocities for a substep.
template <class F>
ORRERY_FN void advance_pose(const StepContext& context, const std::uint32_t* rows, const MassT<F>& mass,
                            std::uint32_t moving, const VelocityT<F>& v, PoseT<F>& pose) {
    const F h(context.step.h_s);
    const Vec3T<F> kl = mass.linear_lock, ka = mass.angular_lock;
    const Vec3T<F> step{v.linear.x * kl.x * h, v.linear.y * kl.y * h, v.linear.z * kl.z * h};
    const Vec3T<F> turn{v.angular.x * ka.x * h, v.angular.y * ka.y * h, v.angular.z * ka.z * h};
    VelocityT<F> delta = gather_velocity<F>(context.delta->linear, rows);
    delta.linear = delta.linear + step;
    // Contacts alone read it.
    delta.angular =
        delta.angular + (context.start ? StartFrame<F>::of(context, rows, pose.orientation).back(turn) : turn);
    pose.position = pose.position + step;
    pose.orientation = integrate(pose.orientation, turn);
    scatter_pose<F>(context.pose->position, rows, moving, pose);
    scatter_velocity<F>(context.delta->linear, rows, moving, delta);
}
template <class F>
ORRERY_FN void put_world_inertia(const StepContext& context, const std::uint32_t* rows, const MassT<F>& mass,
                                 std::uint32_t dynamic, const PoseT<F>& pose) {
    const InertiaT<F> world{world_inverse_inertia(pose.orientation, mass), mass.inertia.inverse_mass};
    scatter_inertia<F>(context.inertia->inverse_inertia, rows, dynamic, world);
}

// kMove: advance those whose bit is set in `moving` by their velocities. Always: refresh world inverse inertias, of the
// `dynamic` ones.
template <bool kMove, class F>
ORRERY_FN void move_body(const StepContext& context, const std::uint32_t* rows, const std::uint32_t* mass_rows,
                         std::uint32_t moving, std::uint32_t dynamic) {
    const MassT<F> mass = gather_mass<F>(context.mass, mass_rows);
    PoseT<F> pose = gather_pose<F>(context.pose->position, rows);
    if constexpr (kMove)
        advance_pose(context, rows, mass, moving, gather_velocity<F>(context.velocity->linear, rows), pose);
    put_world_inertia(context, rows, mass, dynamic, pose);
}
// Again in the same substep, by what velocities have changed by since.
template <class F>
ORRERY_FN void move_on(const StepContext& context, const std::uint32_t* rows, std::uint32_t bits,
                       const VelocityT<F>& change) {
    std::uint32_t mass_rows[kBundleLanes];
    for (std::size_t k = 0; k < lanes<F>(); ++k) mass_rows[k] = mass_row_of(context, rows[k]);
    const MassT<F> mass = gather_mass<F>(context.mass, mass_rows);
    PoseT<F> pose = gather_pose<F>(context.pose->position, rows);
    advance_pose(context, rows, mass, bits, change, pose);
    put_world_inertia(context, rows, mass, bits, pose);
}

template <class F>
void integrate_velocities(const StepContext& context, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t first = begin; first < end; first += kBundleLanes) {
        const BodyGroup group(context, first);
        if (group.dynamic_bits == 0) continue;
        for (std::uint32_t lane = 0; lane < kBundleLanes; lane += lanes<F>()) {
            const std::uint32_t bits = (group.dynamic_bits >> lane) & ((1u << lanes<F>()) - 1u);
            if (bits != 0) integrate_velocity<F>(context, group.rows + lane, group.mass_rows + lane, bits);
        }
    }
}

template <bool kMove, class F>
void move_bodies(const StepContext& context, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t first = begin; first < end; first += kBundleLanes) {
        const BodyGroup group(context, first);
        if (group.moving_bits == 0) continue;
        for (std::uint32_t lane = 0; lane < kBundleLanes; lane += lanes<F>()) {
            const std::uint32_t vector_bits = (1u << lanes<F>()) - 1u;
            const std::uint32_t moving = (group.moving_bits >> lane) & vector_bits;
            if (moving != 0)
                move_body<kMove, F>(context, group.rows + lane, group.mass_rows + lane, moving,
                                    (group.dynamic_bits >> lane) & vector_bits);
        }
    }
}

ORRERY_LANES_END

#endif
