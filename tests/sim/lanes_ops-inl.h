// Every operation of sim/lanes as a loop over arrays, for one pass.
#if defined(ORRERY_TESTS_LANES_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_TESTS_LANES_OPS_INL_H_
#undef ORRERY_TESTS_LANES_OPS_INL_H_
#else
#define ORRERY_TESTS_LANES_OPS_INL_H_
#endif

#include "sim/lanes/matrix-inl.h"
#include "sim/lanes/records-inl.h"
#include "sim/lanes/trig-inl.h"
#include "tests/sim/lanes_ops.h"

ORRERY_LANES_BEGIN

using F = Number;
using V3 = Vec3T<F>;
using Q4 = QuatT<F>;
using M3 = Mat3T<F>;
using S3 = Sym3T<F>;

// One operation: `in` and `out` are this vector's numbers.
#define ORRERY_OP(NAME, ...)                                                             \
    inline void NAME(const float* const* from, float* const* to, std::size_t count) {    \
        for (std::size_t i = 0; i < count; i += lanes<F>()) {                            \
            F in[kMaxOpInputs], out[kMaxOpOutputs];                                      \
            for (std::size_t k = 0; k < kMaxOpInputs; ++k) in[k] = load<F>(from[k] + i); \
            { __VA_ARGS__; }                                                             \
            for (std::size_t k = 0; k < kMaxOpOutputs; ++k) store(to[k] + i, out[k]);    \
        }                                                                                \
    }

ORRERY_FN V3 vec(const F* p) { return {p[0], p[1], p[2]}; }
ORRERY_FN Q4 quat(const F* p) { return {p[0], p[1], p[2], p[3]}; }
ORRERY_FN M3 mat(const F* p) { return {vec(p), vec(p + 3), vec(p + 6)}; }
ORRERY_FN S3 sym(const F* p) { return {p[0], p[1], p[2], p[3], p[4], p[5]}; }
ORRERY_FN void put(F* out, V3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }
ORRERY_FN void put(F* out, Q4 q) { out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w; }
ORRERY_FN void put(F* out, const M3& m) { put(out, m.x), put(out + 3, m.y), put(out + 6, m.z); }
ORRERY_FN void put(F* out, const S3& m) {
    out[0] = m.xx, out[1] = m.xy, out[2] = m.xz, out[3] = m.yy, out[4] = m.yz, out[5] = m.zz;
}
ORRERY_FN F truth(MaskOf<F> m) { return select(m, F(1.0f), F(0.0f)); }

ORRERY_OP(op_add, out[0] = in[0] + in[1])
ORRERY_OP(op_sub, out[0] = in[0] - in[1])
ORRERY_OP(op_mul, out[0] = in[0] * in[1])
ORRERY_OP(op_div, out[0] = in[0] / in[1])
ORRERY_OP(op_mul_add, out[0] = in[0] * in[1] + in[2])
ORRERY_OP(op_neg, out[0] = -in[0])
ORRERY_OP(op_abs, out[0] = abs(in[0]))
ORRERY_OP(op_copy_sign, out[0] = copy_sign(in[0], in[1]))
ORRERY_OP(op_sqrt, out[0] = sqrt(in[0]))
ORRERY_OP(op_min, out[0] = min(in[0], in[1]))
ORRERY_OP(op_max, out[0] = max(in[0], in[1]))
ORRERY_OP(op_clamp, out[0] = clamp(in[0], in[1], in[2]))
ORRERY_OP(op_compare, out[0] = truth(in[0] < in[1]); out[1] = truth(in[0] <= in[1]); out[2] = truth(in[0] > in[1]);
          out[3] = truth(in[0] >= in[1]); out[4] = truth(in[0] == in[1]))
ORRERY_OP(op_masks, const MaskOf<F> a = in[0] < in[1]; const MaskOf<F> b = in[1] < in[2]; out[0] = truth(a & b);
          out[1] = truth(a | b); out[2] = truth(!a); out[3] = select(a, in[2], in[3]))
ORRERY_OP(op_round, out[0] = round_to_whole(in[0]))
ORRERY_OP(op_sin_cos, const SinCos<F> s = sin_cos(in[0]); out[0] = s.sin; out[1] = s.cos)
ORRERY_OP(op_atan2, out[0] = atan2(in[0], in[1]))
ORRERY_OP(op_arcs, out[0] = asin(in[0]); out[1] = acos(in[0]))
ORRERY_OP(op_vec3, const V3 a = vec(in); const V3 b = vec(in + 3); put(out, cross(a, b)); out[3] = dot(a, b);
          out[4] = length(a); put(out + 5, normalize_or(a, b, F(1e-6f))); put(out + 8, min(a, b));
          put(out + 11, max(a, b)); put(out + 14, (a + b) - a * in[6]))
ORRERY_OP(op_quat, const Q4 a = quat(in); const Q4 b = quat(in + 4); put(out, a* b); put(out + 4, normalize(a));
          put(out + 8, rotate(a, vec(in + 8))); put(out + 11, rotate_inverse(a, vec(in + 8)));
          put(out + 14, integrate(a, vec(in + 8))))
ORRERY_OP(op_mat3, const M3 a = mat(in); const M3 b = mat(in + 9); put(out, a* b); put(out + 9, a* vec(in + 18));
          put(out + 12, transpose_times(a, vec(in + 18))))
ORRERY_OP(op_rotation, const M3 r = to_matrix(quat(in)); put(out, r); put(out + 9, rotate_diagonal(r, vec(in + 4)));
          put(out + 15, lever_sandwich(vec(in + 4), sym(in + 7))))
ORRERY_OP(op_sym3, const S3 s = sym(in); put(out, inverse(s)); put(out + 6, s* vec(in + 6));
          put(out + 9, sandwich(mat(in + 9), s)); put(out + 15, s + add_diagonal(s, in[18])))
ORRERY_OP(op_sym6, const Sym6T<F> m{sym(in), mat(in + 6), sym(in + 15)}; const Sym6T<F> n = inverse(m); put(out, n.a);
          put(out + 6, n.b); put(out + 15, n.d))
ORRERY_OP(op_sym6_times, const Sym6T<F> m{sym(in), mat(in + 6), sym(in + 15)};
          const Vec6T<F> v = m * Vec6T<F>{vec(in), vec(in + 3)}; put(out, v.linear); put(out + 3, v.angular))
ORRERY_OP(op_two, const Mat23T<F> m{vec(in), vec(in + 3)}; const Sym2T<F> s = sandwich(m, sym(in + 6));
          const Sym2T<F> n = inverse(s); const Vec2T<F> v = n * (m * vec(in + 12)); put(out, transpose_times(m, v));
          out[3] = s.xx; out[4] = s.xy; out[5] = s.yy; out[6] = v.x; out[7] = v.y)

// Records: columns in, scattered to shuffled rows of a table with every third lane masked out, gathered back.
inline void op_records(const float* const* from, float* const* to, std::size_t count) {
    alignas(64) float table[16 * kRecordFloats];
    std::uint32_t rows[16];
    for (std::uint32_t lane = 0; lane < 16; ++lane) rows[lane] = (lane * 7 + 3) % 16;
    for (std::size_t i = 0; i < count; i += 16) {
        for (float& x : table) x = 0.0f;
        for (std::size_t k = 0; k < 16; k += lanes<F>()) {
            F columns[kRecordFloats];
            for (std::size_t c = 0; c < kRecordFloats; ++c) columns[c] = load<F>(from[c] + i + k);
            scatter_records(table, rows + k, 0xb6dbu >> k, columns);
        }
        for (std::size_t k = 0; k < 16; k += lanes<F>()) {
            F columns[kRecordFloats];
            gather_records(table, rows + k, columns);
            for (std::size_t c = 0; c < kRecordFloats; ++c) store(to[c] + i + k, columns[c]);
            for (std::size_t c = kRecordFloats; c < kMaxOpOutputs; ++c) store(to[c] + i + k, F(0.0f));
        }
    }
}

// What goes across lanes, of sixteen numbers: the least and the greatest (of any that are not NaN; zeros without their
// signs), a part of them loaded, and whole numbers stored.
inline void op_across(const float* const* from, float* const* to, std::size_t count) {
    const F zero(0.0f), most(1.0e6f);
    for (std::size_t i = 0; i < count; i += 16) {
        float low = 0.0f, high = 0.0f;
        for (std::size_t k = 0; k < 16; k += lanes<F>()) {
            const F in = load<F>(from[0] + i + k), number = select(in == in, in, zero);
            const float least = min_of_lanes(number), greatest = max_of_lanes(number);
            low = k == 0 || least < low ? least : low;
            high = k == 0 || greatest > high ? greatest : high;
        }
        for (std::size_t k = 0; k < 16; k += lanes<F>()) {
            const F in = load<F>(from[0] + i + k), number = select(in == in, in, zero);
            std::int32_t whole[16];
            store_whole(whole, round_to_whole(clamp(number, -most, most)));
            store(to[0] + i + k, F(low + 0.0f));
            store(to[1] + i + k, F(high + 0.0f));
            store(to[2] + i + k, load_first<F>(from[0] + i + k, k < 7 ? 7 - k : 0, 3.0f));
            for (std::size_t lane = 0; lane < lanes<F>(); ++lane) to[3][i + k + lane] = static_cast<float>(whole[lane]);
            for (std::size_t c = 4; c < kMaxOpOutputs; ++c) store(to[c] + i + k, zero);
        }
    }
}

#undef ORRERY_OP

inline constexpr LaneOp kOps[] = {
    {"add", 2, 1, false, op_add},
    {"sub", 2, 1, false, op_sub},
    {"mul", 2, 1, false, op_mul},
    {"div", 2, 1, false, op_div},
    {"mul then add", 3, 1, false, op_mul_add},
    {"neg", 1, 1, true, op_neg},
    {"abs", 1, 1, true, op_abs},
    {"copy_sign", 2, 1, true, op_copy_sign},
    {"sqrt", 1, 1, false, op_sqrt},
    {"min", 2, 1, true, op_min},
    {"max", 2, 1, true, op_max},
    {"clamp", 3, 1, true, op_clamp},
    {"compare", 2, 5, true, op_compare},
    {"masks", 4, 4, true, op_masks},
    {"round", 1, 1, false, op_round},
    {"sin_cos", 1, 2, false, op_sin_cos},
    {"atan2", 2, 1, false, op_atan2},
    {"asin acos", 1, 2, false, op_arcs},
    {"vec3", 7, 17, false, op_vec3},
    {"quat", 11, 18, false, op_quat},
    {"mat3", 21, 15, false, op_mat3},
    {"rotation", 13, 21, false, op_rotation},
    {"sym3", 19, 21, false, op_sym3},
    {"sym6 inverse", 21, 21, false, op_sym6},
    {"sym6 times", 21, 6, false, op_sym6_times},
    {"2x3 and sym2", 15, 8, false, op_two},
    {"records", 8, 8, true, op_records},
    {"across", 1, 4, true, op_across},
};

std::span<const LaneOp> lane_ops();
inline std::span<const LaneOp> lane_ops() { return kOps; }

ORRERY_LANES_END

#endif
