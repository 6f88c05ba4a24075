// Every way in which this project writes a product followed by a sum. Compiled to assembly by contraction.cmake, which
// looks for fused instructions: the compilers fuse plain floats inside a target region (clang), vector expressions and
// Highway's Add(Mul()) (g++) unless told otherwise. Nothing here is run or linked.

#ifndef ORRERY_PROBE_ONCE  // the file is read again for each Highway target
#define ORRERY_PROBE_ONCE

#ifdef __FAST_MATH__
#error "-ffast-math (or -Ofast) is set: it changes the bits of floating-point results; take it out of CMAKE_CXX_FLAGS"
#endif

float plain(float a, float b, float c) { return a * b + c; }
double plain_double(double a, double b, double c) { return a * b - c; }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) float region_avx2(float a, float b, float c) { return a * b + c; }
__attribute__((target("avx512f,fma"))) float region_avx512(float a, float b, float c) { return c - a * b; }

#include <immintrin.h>
__attribute__((target("avx2,fma"))) __m256 vector_avx2(__m256 a, __m256 b, __m256 c) {
    return _mm256_add_ps(_mm256_mul_ps(a, b), c);
}
__attribute__((target("avx512f,fma"))) __m512 vector_avx512(__m512 a, __m512 b, __m512 c) {
    return _mm512_sub_ps(_mm512_mul_ps(a, b), c);
}
#endif

#endif  // ORRERY_PROBE_ONCE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE ORRERY_PROBE_SELF
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace orrery::probe::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Lane {
    float x;
};
inline Lane operator+(Lane a, Lane b) { return {a.x + b.x}; }
inline Lane operator*(Lane a, Lane b) { return {a.x * b.x}; }

// Through inlined wrappers, as the lane types do it: contraction works across them.
void scalar_lane(Lane* to, Lane a, Lane b, Lane c) { *to = a * b + c; }

void highway_lanes(float* to, const float* a, const float* b, const float* c) {
    const hn::CappedTag<float, 16> tag;
    hn::Store(hn::Add(hn::Mul(hn::Load(tag, a), hn::Load(tag, b)), hn::Load(tag, c)), tag, to);
}

}  // namespace orrery::probe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
