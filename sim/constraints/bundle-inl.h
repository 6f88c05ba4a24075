// The lane side of bundle.h: rows to lane numbers and back, bodies to lanes, and what impulses do to velocities.

#if defined(ORRERY_CONSTRAINTS_BUNDLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_BUNDLE_INL_H_
#undef ORRERY_CONSTRAINTS_BUNDLE_INL_H_
#else
#define ORRERY_CONSTRAINTS_BUNDLE_INL_H_
#endif

#include "sim/constraints/bundle.h"
#include "sim/lanes/matrix-inl.h"
#include "sim/lanes/records-inl.h"

ORRERY_LANES_BEGIN

// ---- rows

// The same pointer, of which the compiler does not know that it is. g++ 12 else finds the addresses of all rows of a
// bundle before the one or two vectors that it holds, and keeps them on the stack.
template <class T>
ORRERY_FN T* forget_origin(T* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

template <class F>
ORRERY_FN F get(const Row& row, std::size_t lane) {
    return load<F>(row.lane + lane);
}
template <class F>
ORRERY_FN Vec2T<F> get(const Vec2Rows& r, std::size_t lane) {
    return {get<F>(r.x, lane), get<F>(r.y, lane)};
}
template <class F>
ORRERY_FN Vec3T<F> get(const Vec3Rows& r, std::size_t lane) {
    return {get<F>(r.x, lane), get<F>(r.y, lane), get<F>(r.z, lane)};
}
template <class F>
ORRERY_FN QuatT<F> get(const QuatRows& r, std::size_t lane) {
    return {get<F>(r.x, lane), get<F>(r.y, lane), get<F>(r.z, lane), get<F>(r.w, lane)};
}
template <class F>
ORRERY_FN Sym2T<F> get(const Sym2Rows& r, std::size_t lane) {
    return {get<F>(r.xx, lane), get<F>(r.xy, lane), get<F>(r.yy, lane)};
}
template <class F>
ORRERY_FN Sym3T<F> get(const Sym3Rows& r, std::size_t lane) {
    return {get<F>(r.xx, lane), get<F>(r.xy, lane), get<F>(r.xz, lane),
            get<F>(r.yy, lane), get<F>(r.yz, lane), get<F>(r.zz, lane)};
}
template <class F>
ORRERY_FN void put(Row& row, std::size_t lane, F x) {
    store(row.lane + lane, x);
}
template <class F>
ORRERY_FN void put(Vec2Rows& r, std::size_t lane, Vec2T<F> v) {
    put(r.x, lane, v.x), put(r.y, lane, v.y);
}
template <class F>
ORRERY_FN void put(Vec3Rows& r, std::size_t lane, Vec3T<F> v) {
    put(r.x, lane, v.x), put(r.y, lane, v.y), put(r.z, lane, v.z);
}
template <class F>
ORRERY_FN void put(Sym2Rows& r, std::size_t lane, Sym2T<F> m) {
    put(r.xx, lane, m.xx), put(r.xy, lane, m.xy), put(r.yy, lane, m.yy);
}
template <class F>
ORRERY_FN void put(Sym3Rows& r, std::size_t lane, const Sym3T<F>& m) {
    put(r.xx, lane, m.xx), put(r.xy, lane, m.xy), put(r.xz, lane, m.xz);
    put(r.yy, lane, m.yy), put(r.yz, lane, m.yz), put(r.zz, lane, m.zz);
}

// ---- bodies

template <class F>
struct VelocityT {
    Vec3T<F> linear, angular;
};
template <class F>
struct PoseT {
    Vec3T<F> position;
    QuatT<F> orientation;
};
template <class F>
struct InertiaT {
    Sym3T<F> inverse_inertia;
    F inverse_mass;
};

// A velocity or a displacement: two vectors and two unused floats.
template <class F, class Index>
ORRERY_FN VelocityT<F> gather_velocity(const float* records, const Index* rows) {
    F c[kRecordFloats];
    gather_records<F>(records, rows, c);
    return {{c[0], c[1], c[2]}, {c[3], c[4], c[5]}};
}
template <class F, class Index>
ORRERY_FN void scatter_velocity(float* records, const Index* rows, std::uint32_t lane_bits, const VelocityT<F>& v) {
    const F zero(0.0f);
    const F c[kRecordFloats] = {v.linear.x, v.linear.y, v.linear.z, v.angular.x, v.angular.y, v.angular.z, zero, zero};
    scatter_records<F>(records, rows, lane_bits, c);
}
template <class F, class Index>
ORRERY_FN PoseT<F> gather_pose(const float* records, const Index* rows) {
    F c[kRecordFloats];
    gather_records<F>(records, rows, c);
    return {{c[0], c[1], c[2]}, {c[3], c[4], c[5], c[6]}};
}
template <class F, class Index>
ORRERY_FN void scatter_pose(float* records, const Index* rows, std::uint32_t lane_bits, const PoseT<F>& p) {
    const F c[kRecordFloats] = {p.position.x,    p.position.y,    p.position.z,    p.orientation.x,
                                p.orientation.y, p.orientation.z, p.orientation.w, F(0.0f)};
    scatter_records<F>(records, rows, lane_bits, c);
}
template <class F, class Index>
ORRERY_FN InertiaT<F> gather_inertia(const float* records, const Index* rows) {
    F c[kRecordFloats];
    gather_records<F>(records, rows, c);
    return {{c[0], c[1], c[2], c[3], c[4], c[5]}, c[6]};
}
template <class F, class Index>
ORRERY_FN void scatter_inertia(float* records, const Index* rows, std::uint32_t lane_bits, const InertiaT<F>& m) {
    const Sym3T<F>& i = m.inverse_inertia;
    const F c[kRecordFloats] = {i.xx, i.xy, i.xz, i.yy, i.yz, i.zz, m.inverse_mass, F(0.0f)};
    scatter_records<F>(records, rows, lane_bits, c);
}

template <class F>
ORRERY_FN InertiaT<F> get(const InertiaRows& r, std::size_t lane) {
    return {get<F>(r.inverse_inertia, lane), get<F>(r.inverse_mass, lane)};
}
template <class F>
ORRERY_FN void put(InertiaRows& r, std::size_t lane, const InertiaT<F>& m) {
    put(r.inverse_inertia, lane, m.inverse_inertia), put(r.inverse_mass, lane, m.inverse_mass);
}

// v + M^-1 (impulse, angular impulse); `angular` about the centre of mass.
template <class F>
ORRERY_FN void add_impulse(VelocityT<F>& v, const InertiaT<F>& m, Vec3T<F> linear, Vec3T<F> angular) {
    v.linear = v.linear + linear * m.inverse_mass;
    v.angular = v.angular + m.inverse_inertia * angular;
}
template <class F>
ORRERY_FN void subtract_impulse(VelocityT<F>& v, const InertiaT<F>& m, Vec3T<F> linear, Vec3T<F> angular) {
    v.linear = v.linear - linear * m.inverse_mass;
    v.angular = v.angular - m.inverse_inertia * angular;
}

// ---- effective masses

// (mA + mB) E + [ra]x IA [ra]x^T + [rb]x IB [rb]x^T: what three linear rows of a common point move.
template <class F>
ORRERY_FN Sym3T<F> point_response(Vec3T<F> ra, Vec3T<F> rb, const InertiaT<F>& a, const InertiaT<F>& b) {
    return add_diagonal(lever_sandwich(ra, a.inverse_inertia) + lever_sandwich(rb, b.inverse_inertia),
                        a.inverse_mass + b.inverse_mass);
}

ORRERY_LANES_END

#endif
