// The bundle of volume.h, and its functions in each lane namespace (README.md).

#ifndef ORRERY_CONSTRAINTS_VOLUME_BUNDLE_
#define ORRERY_CONSTRAINTS_VOLUME_BUNDLE_

#include "sim/constraints/many_form.h"
#include "sim/constraints/volume.h"

namespace orrery::sim {

struct VolumeBundle : ManyForm {};

inline void load_lane(VolumeBundle& bundle, std::uint32_t lane, const Volume& joint, const float* impulse) {
    set_servo(bundle.drive, lane, joint.target_m3, joint.spring, {});
    load_impulses(bundle, lane, impulse);
}

}  // namespace orrery::sim

#endif

#if ORRERY_PASS
#if defined(ORRERY_CONSTRAINTS_VOLUME_FUNCTIONS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_CONSTRAINTS_VOLUME_FUNCTIONS_
#undef ORRERY_CONSTRAINTS_VOLUME_FUNCTIONS_
#else
#define ORRERY_CONSTRAINTS_VOLUME_FUNCTIONS_
#endif

#include "sim/constraints/many_form-inl.h"

ORRERY_LANES_BEGIN

// With p = xb - xa, q = xc - xa, r = xd - xa:
//
//   value = (p x q) . r / 6,  value' = ((q x r) . p' + (r x p) . q' + (p x q) . r') / 6
//   J_b = (q x r) / 6,  J_c = (r x p) / 6,  J_d = (p x q) / 6,  J_a = -(J_b + J_c + J_d)
struct VolumeFunctions : ManyFunctions<VolumeFunctions> {
    template <class F>
    ORRERY_FN static ManyT<F> measure(const Vec3T<F> (&x)[4]) {
        const F sixth(1.0f / 6.0f);
        const Vec3T<F> p = x[1] - x[0], q = x[2] - x[0], r = x[3] - x[0];
        ManyT<F> row;
        row.direction[1] = cross(q, r) * sixth;
        row.direction[2] = cross(r, p) * sixth;
        row.direction[3] = cross(p, q) * sixth;
        row.direction[0] = -((row.direction[1] + row.direction[2]) + row.direction[3]);
        row.value = dot(row.direction[3], r);
        return row;
    }
};

ORRERY_LANES_END

#endif
#endif
