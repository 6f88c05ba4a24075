// Rows that are solved together as one block: L along directions of a point, R of rotations. Beside the block there are
// single rows (row_form.h) with their own limit, drive or spring: DL along directions, DR of rotations. The functions
// are in block_form-inl.h.
#pragma once

#include "sim/constraints/row_form.h"

namespace orrery::sim {

constexpr std::size_t at_least_one(std::size_t n) { return n > 0 ? n : 1; }

struct LineRows {
    Vec3Rows line, arm_a, arm_b;  // C' = line . (vb - va) + arm_b . wb - arm_a . wa
};

template <std::size_t L, std::size_t R, std::size_t DL, std::size_t DR>
struct BlockForm {
    static constexpr std::size_t kLines = L, kTurns = R, kRows = L + R, kLineDrives = DL, kDrives = DL + DR;
    BundleHead head;
    SpringRows spring;                     // of the block
    Row max_speed, base_speed, max_force;  // of blocks that are servos
    Row max_impulse;                       // of a substep; set by prepare
    Row impulse[L + R];                    // N s, N m s of one substep
    DriveRows drive[at_least_one(DL + DR)];
    JointForceRows force;
    // Of the current poses:
    InertiaRows a, b;
    LineRows line[at_least_one(L)];
    Vec3Rows turn[at_least_one(R)];  // C' = turn . (wb - wa)
    LdltRows<L + R> mass;
    Row bias[L + R];
    LineRows drive_line[at_least_one(DL)];
    Vec3Rows drive_turn[at_least_one(DR)];
    Row response[at_least_one(DL + DR)];        // J M^-1 J^T of a single row,
    Row relief[at_least_one(DL + DR)];          // how much less it is because of the block,
    Row k_inv_c[at_least_one(DL + DR)][L + R];  // and the impulse of the block for a unit of its impulse
    Row softness[at_least_one(DL + DR)];  // 1 / (c h) of a motor with damping c, added to its response; otherwise 0
};

using SwivelHingeRows = BlockForm<3, 1, 0, 0>;
using AngularHingeRows = BlockForm<0, 2, 0, 0>;
using PointOnLineRows = BlockForm<2, 0, 0, 0>;
using SliderRows = BlockForm<2, 3, 3, 0>;
using WheelRows = BlockForm<2, 1, 2, 3>;

template <std::size_t L, std::size_t R, std::size_t DL, std::size_t DR>
void load_impulses(BlockForm<L, R, DL, DR>& bundle, std::uint32_t lane, const float* impulse) {
    for (std::size_t i = 0; i < L + R; ++i) set_lane(bundle.impulse[i], lane, impulse[i]);
    for (std::size_t i = 0; i < DL + DR; ++i) set_lane(bundle.drive[i].hold.impulse, lane, impulse[L + R + i]);
}
template <std::size_t L, std::size_t R, std::size_t DL, std::size_t DR>
void store_lane(const BlockForm<L, R, DL, DR>& bundle, std::uint32_t lane, float* impulse) {
    for (std::size_t i = 0; i < L + R; ++i) impulse[i] = bundle.impulse[i].lane[lane];
    for (std::size_t i = 0; i < DL + DR; ++i) impulse[L + R + i] = bundle.drive[i].hold.impulse.lane[lane];
}

}  // namespace orrery::sim
