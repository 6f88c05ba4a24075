// What impulses do to a body of a tree, those below it holding, and what an impulse at a point of it does.

#if defined(ORRERY_RIGS_TREE_TREE_RESPONSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_TREE_TREE_RESPONSE_INL_H_
#undef ORRERY_RIGS_TREE_TREE_RESPONSE_INL_H_
#else
#define ORRERY_RIGS_TREE_TREE_RESPONSE_INL_H_
#endif

#include "sim/rigs/rig-inl.h"

ORRERY_LANES_BEGIN

// M [r]x: row by row, since (m^T [r]x) v = (m x r) . v.
template <class F>
ORRERY_FN Mat3T<F> times_cross(const Mat3T<F>& m, Vec3T<F> r) {
    return {cross(m.x, r), cross(m.y, r), cross(m.z, r)};
}
// [r]x M
template <class F>
ORRERY_FN Mat3T<F> cross_times(Vec3T<F> r, const Mat3T<F>& m) {
    return {m.z * r.y - m.y * r.z, m.x * r.z - m.z * r.x, m.y * r.x - m.x * r.y};
}
template <class F>
ORRERY_FN Mat3T<F> operator-(const Mat3T<F>& a, const Mat3T<F>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class F>
ORRERY_FN Sym3T<F> upper(const Mat3T<F>& m) {
    return {m.x.x, m.x.y, m.x.z, m.y.y, m.y.z, m.z.z};
}

// W of a body: [a b; b^T d].
template <class F>
ORRERY_FN Sym6T<F> get_response(const TreeWork& w, std::size_t lane) {
    return {get<F>(w.w_linear, lane), get<F>(w.w_mixed, lane), get<F>(w.w_angular, lane)};
}
template <class F>
ORRERY_FN void put_response(TreeWork& w, std::size_t lane, const Sym6T<F>& m) {
    put(w.w_linear, lane, m.a), put(w.w_mixed, lane, m.b), put(w.w_angular, lane, m.d);
}

// W J^T for a point at an arm: what an impulse there does to the body.
template <class F>
struct PointResponse {
    Mat3T<F> linear, angular;
    ORRERY_FN static PointResponse of(const Sym6T<F>& w, Vec3T<F> arm) {
        return {to_full(w.a) + times_cross(w.b, arm), transpose(w.b) + times_cross(to_full(w.d), arm)};
    }
    // J W J^T
    ORRERY_FN Sym3T<F> at(Vec3T<F> arm) const { return upper(linear - cross_times(arm, angular)); }
};

template <class F>
ORRERY_FN void load_body(TreeWork& w, std::size_t lane, Vec3T<F> impulse, Vec3T<F> turn) {
    put(w.f_linear, lane, get<F>(w.f_linear, lane) + impulse);
    put(w.f_angular, lane, get<F>(w.f_angular, lane) + turn);
}

// How fast two points at arms of two bodies come apart (rig-inl.h: curving).
template <class F>
ORRERY_FN Vec3T<F> come_apart(const VelocityT<F>& a, Vec3T<F> arm_a, F curve_a, const VelocityT<F>& b, Vec3T<F> arm_b,
                              F curve_b) {
    return (a.linear - b.linear) + (point_turn(a.angular, arm_a, curve_a) - point_turn(b.angular, arm_b, curve_b));
}

ORRERY_LANES_END

#endif
