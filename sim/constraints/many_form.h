// One row between the centres of three or four bodies. The functions are in many_form-inl.h.
#pragma once

#include "sim/constraints/row_form.h"

namespace orrery::sim {

struct ManyForm : ManyHead {
    DriveRows drive;
    JointForceRows force;
    // Of the current poses:
    Vec3Rows direction[4];  // C' = sum direction[i] . v_i; zero for D if there are three bodies
    Row inverse_mass[4];
    Row recovery;  // m/s, of the body that the row moves fastest
};

inline void load_impulses(ManyForm& bundle, std::uint32_t lane, const float* impulse) {
    set_lane(bundle.drive.hold.impulse, lane, impulse[0]);
}
inline void store_lane(const ManyForm& bundle, std::uint32_t lane, float* impulse) {
    impulse[0] = bundle.drive.hold.impulse.lane[lane];
}

}  // namespace orrery::sim
