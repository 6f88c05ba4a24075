// Limits, and settings that the descriptions of all constraints share.
#pragma once

#include <limits>

namespace orrery::sim {

inline constexpr float kNoLimit = std::numeric_limits<float>::max();  // as a largest force, speed or distance: none
// A body beyond it, on any axis, is quarantined: single precision is coarser than 0.5 mm there.
inline constexpr float kMaxCoordinate_m = 4096.0f;
// The solver reduces larger speeds of dynamic bodies to these, in every substep.
inline constexpr float kMaxLinearSpeed_mps = 1000.0f;
inline constexpr float kMaxAngularSpeed_radps = 500.0f;
// A body that ends a tick with at least kSpeedLimitReached of a largest speed is at that limit, until its speed is
// below kSpeedLimitLeft of it (the event speed_limited).
inline constexpr float kSpeedLimitReached = 0.999f, kSpeedLimitLeft = 0.95f;
inline constexpr float kAboutPi = 3.14159274f;  // the float nearest to pi, a little above it
// Largest offset that a joint may have. kNeverBeyond_m is the end of a range that has no end.
inline constexpr float kMaxTravel_m = 4.0f * kMaxCoordinate_m, kNeverBeyond_m = 1.0e6f;
// Bounds of ratios. kMaxRatio also bounds RackAndPinion::radius_m (m).
inline constexpr float kMaxRatio = 1.0e4f, kMinPulleyRatio = 1.0e-4f;
inline constexpr float kNeverBelow_rad = -4.0f,
                       kNeverAbove_rad = 4.0f;  // ends of a range without an end; angles lie in (-pi, pi]

// A damped harmonic oscillator, independent of mass. frequency_hz = 0 means rigid. The solver then uses the default
// rigidity (60 Hz, clamped to a quarter of the substep rate; damping ratio 2) and drops it in the relax pass.
//
// max_recovery_speed is the largest speed at which a position error is corrected, in m/s or rad/s, or in the unit of
// the held value for each second. For an area or a volume it is the speed (m/s) of the fastest body. So the parts of a
// joint that was made or teleported metres apart come together without a jolt. 0 means
// SolverSettings::joint_recovery_speed for a rigid joint. For a spring with a frequency it means no limit, so that the
// spring swings freely. Servos have their own max_speed.
struct Spring {
    float frequency_hz = 0.0f;        // 0 to 100,000
    float damping_ratio = 1.0f;       // 1 is critical damping; 0 to 10,000
    float max_recovery_speed = 0.0f;  // at least 0
};

// Drives a position. The speed of approach is at most max_speed, and at least base_speed until the target is reached.
// All numbers are at least 0.
struct Servo {
    float max_speed = kNoLimit;  // m/s, or rad/s for angular constraints
    float base_speed = 0.0f;     // the same unit
    float max_force = kNoLimit;  // N, or N m for angular constraints
};

// Drives a velocity. The force is damping times the difference of velocities, and at most max_force. Both numbers are
// at least 0.
struct Motor {
    float max_force = kNoLimit;  // N, or N m for angular constraints
    float damping = 0.0f;        // kg/s, or kg m^2/s for angular constraints; 0: as stiff as max_force allows
};

}  // namespace orrery::sim
