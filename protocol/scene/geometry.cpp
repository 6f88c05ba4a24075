#include "protocol/scene/geometry.h"

namespace orrery::protocol::scene {

SinCos sin_cos_deg(double angle_deg) {
    // Into [-45, 45] degrees and a count of quarter turns; every step is exact.
    double rest = std::fmod(angle_deg, 360.0);
    int quarters = 0;
    while (rest > 45.0) rest -= 90.0, ++quarters;
    while (rest < -45.0) rest += 90.0, --quarters;
    const double x = rest * (3.14159265358979323846 / 180.0), xx = x * x;
    // Taylor series, nested; the first omitted term is below 1e-17 at 45 degrees.
    double sine = 1.0, cosine = 1.0;
    for (int k = 17; k >= 3; k -= 2) sine = 1.0 - xx / static_cast<double>(k * (k - 1)) * sine;
    for (int k = 16; k >= 2; k -= 2) cosine = 1.0 - xx / static_cast<double>(k * (k - 1)) * cosine;
    sine = x * sine;
    switch (((quarters % 4) + 4) % 4) {
        case 1:
            return {cosine, -sine};
        case 2:
            return {-sine, -cosine};
        case 3:
            return {-cosine, sine};
        default:
            return {sine, cosine};
    }
}

DQuat from_rotation_deg(D3 angles_deg) {
    const SinCos x = sin_cos_deg(0.5 * angles_deg.x), y = sin_cos_deg(0.5 * angles_deg.y),
                 z = sin_cos_deg(0.5 * angles_deg.z);
    return normalized(DQuat{0.0, 0.0, z.sine, z.cosine} *
                      (DQuat{0.0, y.sine, 0.0, y.cosine} * DQuat{x.sine, 0.0, 0.0, x.cosine}));
}

D3 any_perpendicular(D3 unit) {
    const double x = std::fabs(unit.x), y = std::fabs(unit.y), z = std::fabs(unit.z);
    const D3 helper = x <= y && x <= z ? D3{1.0, 0.0, 0.0} : y <= z ? D3{0.0, 1.0, 0.0} : D3{0.0, 0.0, 1.0};
    const D3 across = cross(unit, helper);
    return (1.0 / length(across)) * across;
}

DQuat Lcg::rotation() {
    for (;;) {
        DQuat q;
        q.x = 2.0 * unit() - 1.0;
        q.y = 2.0 * unit() - 1.0;
        q.z = 2.0 * unit() - 1.0;
        q.w = 2.0 * unit() - 1.0;
        const double n = norm_squared(q);
        if (n > 0.01 && n < 1.0) return normalized(q);
    }
}

}  // namespace orrery::protocol::scene
