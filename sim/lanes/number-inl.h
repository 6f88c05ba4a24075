// "A number that may be many." Generic code takes a type F that is either `float` or, in a SIMD pass, `Wide`; `Number`
// is the pass's own. Comparisons give a mask (bool for float); choose with select, never branch on a lane.
//
// Every operation here is exactly rounded or a bit operation, so all passes give the same bits (DETERMINISM.md): no
// fused multiply-add, no approximate reciprocal, min and max as compare-and-select gives them.

#if defined(ORRERY_LANES_NUMBER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_NUMBER_INL_H_
#undef ORRERY_LANES_NUMBER_INL_H_
#else
#define ORRERY_LANES_NUMBER_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#ifdef __FAST_MATH__
#error "Orrery cannot be built with -ffast-math: it changes the bits"
#endif

ORRERY_LANES_BEGIN

// ---- float: one lane

ORRERY_FN float select(bool mask, float yes, float no) { return mask ? yes : no; }
#ifdef __CUDA_ARCH__
ORRERY_FN float sqrt(float x) { return __fsqrt_rn(x); }
ORRERY_FN float abs(float x) { return fabsf(x); }
ORRERY_FN float copy_sign(float magnitude, float sign) { return copysignf(magnitude, sign); }
ORRERY_FN void prefetch(const void*) {}
#else
ORRERY_FN float sqrt(float x) { return __builtin_sqrtf(x); }
ORRERY_FN float abs(float x) { return __builtin_fabsf(x); }
ORRERY_FN float copy_sign(float magnitude, float sign) { return __builtin_copysignf(magnitude, sign); }
ORRERY_FN void prefetch(const void* from) { __builtin_prefetch(from, 1); }  // to be written to
#endif
ORRERY_FN bool any(bool mask) { return mask; }
ORRERY_FN bool all(bool mask) { return mask; }
ORRERY_FN std::uint32_t lane_bits(bool mask) { return mask ? 1u : 0u; }  // bit k: lane k
ORRERY_FN void store(float* to, float x) { *to = x; }
ORRERY_FN void store_whole(std::int32_t* to, float x) {
    *to = static_cast<std::int32_t>(x);
}  // of whole numbers below 2^24
// The least and the greatest of the lanes, where none is NaN; of zeros, either. The only reductions: they are exact,
// and in any order the same.
ORRERY_FN float min_of_lanes(float x) { return x; }
ORRERY_FN float max_of_lanes(float x) { return x; }

template <class F>
struct LaneTraits;
template <>
struct LaneTraits<float> {
    using Mask = bool;
    ORRERY_FN static constexpr std::size_t lanes() { return 1; }
    ORRERY_FN static float load(const float* from) { return *from; }
    ORRERY_FN static float load_first(const float* from, std::size_t count, float rest) {
        return count > 0 ? *from : rest;
    }
    ORRERY_FN static float gather(const float* from, const std::uint32_t* at) { return from[*at]; }
    ORRERY_FN static bool first(std::size_t count) { return count > 0; }
};

#ifndef ORRERY_LANES_REF

// ---- Wide: as many lanes as the target has, at most the 16 of a bundle

namespace hn = hwy::HWY_NAMESPACE;
using WideTag = hn::CappedTag<float, 16>;

struct WideMask {
    hn::Mask<WideTag> m;
};

struct Wide {
    hn::Vec<WideTag> v;
    ORRERY_FN Wide() : v(hn::Zero(WideTag())) {}
    ORRERY_FN Wide(float x) : v(hn::Set(WideTag(), x)) {}
    ORRERY_FN explicit Wide(hn::Vec<WideTag> x) : v(x) {}
};

ORRERY_FN Wide operator+(Wide a, Wide b) { return Wide(hn::Add(a.v, b.v)); }
ORRERY_FN Wide operator-(Wide a, Wide b) { return Wide(hn::Sub(a.v, b.v)); }
ORRERY_FN Wide operator*(Wide a, Wide b) { return Wide(hn::Mul(a.v, b.v)); }
ORRERY_FN Wide operator/(Wide a, Wide b) { return Wide(hn::Div(a.v, b.v)); }
ORRERY_FN Wide operator-(Wide a) { return Wide(hn::Neg(a.v)); }
ORRERY_FN Wide& operator+=(Wide& a, Wide b) {
    a = a + b;
    return a;
}
ORRERY_FN Wide& operator-=(Wide& a, Wide b) {
    a = a - b;
    return a;
}
ORRERY_FN Wide& operator*=(Wide& a, Wide b) {
    a = a * b;
    return a;
}

ORRERY_FN WideMask operator<(Wide a, Wide b) { return {hn::Lt(a.v, b.v)}; }
ORRERY_FN WideMask operator<=(Wide a, Wide b) { return {hn::Le(a.v, b.v)}; }
ORRERY_FN WideMask operator>(Wide a, Wide b) { return {hn::Gt(a.v, b.v)}; }
ORRERY_FN WideMask operator>=(Wide a, Wide b) { return {hn::Ge(a.v, b.v)}; }
ORRERY_FN WideMask operator==(Wide a, Wide b) { return {hn::Eq(a.v, b.v)}; }
ORRERY_FN WideMask operator&(WideMask a, WideMask b) { return {hn::And(a.m, b.m)}; }
ORRERY_FN WideMask operator|(WideMask a, WideMask b) { return {hn::Or(a.m, b.m)}; }
ORRERY_FN WideMask operator!(WideMask a) { return {hn::Not(a.m)}; }

ORRERY_FN Wide select(WideMask mask, Wide yes, Wide no) { return Wide(hn::IfThenElse(mask.m, yes.v, no.v)); }
ORRERY_FN Wide sqrt(Wide x) { return Wide(hn::Sqrt(x.v)); }
ORRERY_FN Wide abs(Wide x) { return Wide(hn::Abs(x.v)); }
ORRERY_FN Wide copy_sign(Wide magnitude, Wide sign) { return Wide(hn::CopySign(magnitude.v, sign.v)); }
ORRERY_FN bool any(WideMask mask) { return !hn::AllFalse(WideTag(), mask.m); }
ORRERY_FN bool all(WideMask mask) { return hn::AllTrue(WideTag(), mask.m); }
ORRERY_FN std::uint32_t lane_bits(WideMask mask) {
    std::uint8_t bytes[8] = {};  // StoreMaskBits may write as much
    hn::StoreMaskBits(WideTag(), mask.m, bytes);
    return std::uint32_t(bytes[0]) | (std::uint32_t(bytes[1]) << 8);
}
ORRERY_FN void store(float* to, Wide x) { hn::StoreU(x.v, WideTag(), to); }
ORRERY_FN void store_whole(std::int32_t* to, Wide x) {
    const hn::Rebind<std::int32_t, WideTag> whole;
    hn::StoreU(hn::ConvertTo(whole, x.v), whole, to);
}
ORRERY_FN float min_of_lanes(Wide x) { return hn::GetLane(hn::MinOfLanes(WideTag(), x.v)); }
ORRERY_FN float max_of_lanes(Wide x) { return hn::GetLane(hn::MaxOfLanes(WideTag(), x.v)); }

template <>
struct LaneTraits<Wide> {
    using Mask = WideMask;
    static constexpr std::size_t lanes() { return hn::MaxLanes(WideTag()); }
    ORRERY_FN static Wide load(const float* from) { return Wide(hn::LoadU(WideTag(), from)); }
    ORRERY_FN static Wide load_first(const float* from, std::size_t count, float rest) {
        const auto first = hn::FirstN(WideTag(), count);
        return Wide(hn::IfThenElse(first, hn::MaskedLoad(first, WideTag(), from), hn::Set(WideTag(), rest)));
    }
    ORRERY_FN static Wide gather(const float* from, const std::uint32_t* at) {
        const hn::Rebind<std::int32_t, WideTag> indices;
        return Wide(hn::GatherIndex(WideTag(), from,
                                    hn::BitCast(indices, hn::LoadU(hn::Rebind<std::uint32_t, WideTag>(), at))));
    }
    ORRERY_FN static WideMask first(std::size_t count) { return {hn::FirstN(WideTag(), count)}; }
};

using Number = Wide;
#else
using Number = float;
#endif

template <class F>
using MaskOf = typename LaneTraits<F>::Mask;

template <class F>
ORRERY_FN constexpr std::size_t lanes() {
    return LaneTraits<F>::lanes();
}

template <class F>
ORRERY_FN F load(const float* from) {
    return LaneTraits<F>::load(from);
}

// The first `count` lanes, nothing of what lies behind them read where lanes are more than four; `rest` in the others.
template <class F>
ORRERY_FN F load_first(const float* from, std::size_t count, float rest) {
    return LaneTraits<F>::load_first(from, count, rest);
}

// Lane k: from[at[k]]; at most 2^31 - 1.
template <class F>
ORRERY_FN F gather(const float* from, const std::uint32_t* at) {
    return LaneTraits<F>::gather(from, at);
}

// True in the first `count` lanes.
template <class F>
ORRERY_FN MaskOf<F> first_lanes(std::size_t count) {
    return LaneTraits<F>::first(count);
}

// NaN in `a` gives b; equal values give b: the same on every target.
template <class F>
ORRERY_FN F min(F a, F b) {
    return select(a < b, a, b);
}
template <class F>
ORRERY_FN F max(F a, F b) {
    return select(b < a, a, b);
}
#if !defined(ORRERY_LANES_REF) && HWY_ARCH_X86
// The same in one instruction: of the processors' own, x86's alone gives its second operand where one is NaN and where
// both are zero (lanes_parity_test.cpp).
ORRERY_FN Wide min(Wide a, Wide b) { return Wide(hn::Min(a.v, b.v)); }
ORRERY_FN Wide max(Wide a, Wide b) { return Wide(hn::Max(a.v, b.v)); }
#endif
template <class F>
ORRERY_FN F clamp(F x, F low, F high) {
    return min(max(x, low), high);
}

ORRERY_LANES_END

#endif
