// The kernels of rigs over plain float.
#include "sim/lanes/ref_pass.h"

#include "sim/rigs/cpu/kernels-inl.h"

ORRERY_LANES_BEGIN

extern const RigKernels kRigKernels;
constinit const RigKernels kRigKernels = make_rig_kernels();

bool points_apart(Vec3 a, Vec3 b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return (x * x + y * y) + z * z > kLeastSpan_m * kLeastSpan_m;
}

float lever_share_of(Vec3 own, Vec3 other, float i, float other_i) {
    const float a = length(Vec3T<float>{own.x, own.y, own.z}), b = length(Vec3T<float>{other.x, other.y, other.z});
    return a + b > 0.0f ? b / (a + b) * heed(a * i, b * other_i) : 0.0f;
}

float as_float(std::uint32_t count) { return static_cast<float>(count); }

namespace {

// Chebyshev's recurrence over eigenvalues in [a, 1]: what lies below a is hardly reached in so few iterations anyway,
// and the softness keeps all of them above e / (n + e), n the most joints that hold a body. Three iterations or fewer
// would leave nothing of the interval.
void make_polynomial(std::uint32_t iterations, float compliance, GraphStep* out) {
    const float count = static_cast<float>(iterations);
    const float reached = 9.0f / (count * count), soft = compliance / (2.0f + compliance);
    const float larger = reached > soft ? reached : soft;
    const float a = larger < 0.5f ? larger : 0.5f;
    const float theta = (1.0f + a) / 2.0f, delta = (1.0f - a) / 2.0f, sigma = theta / delta;
    float rho = 1.0f / sigma;
    out[0] = {0.0f, 1.0f / theta};
    for (std::uint32_t n = 1; n < iterations; ++n) {
        const float next = 1.0f / ((sigma + sigma) - rho);
        out[n] = {next * rho, (next + next) / delta};
        rho = next;
    }
}

}  // namespace

void make_graph_steps(bool accelerated, std::uint32_t iterations, float compliance, GraphStep* out) {
    if (!accelerated) {
        for (std::uint32_t n = 0; n < iterations; ++n) out[n] = {0.0f, 1.0f};
        return;
    }
    for (std::uint32_t n = 0; n < iterations; n += kMostDegree) {
        const std::uint32_t left = iterations - n;
        make_polynomial(left < kMostDegree ? left : kMostDegree, compliance, out + n);
    }
}

ORRERY_LANES_END
