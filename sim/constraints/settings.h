// Limits, and settings that the descriptions of all constraints share.
#pragma once

#include <limits>

namespace orrery::sim {

inline constexpr float kNoLimit = std::numeric_limits<float>::max();
// A body beyond it is quarantined: single precision is coarser than 0.5 mm there.
inline constexpr float kMaxCoordinate_m = 4096.0f;
inline constexpr float kMaxLinearSpeed_mps = 1000.0f;
inline constexpr float kMaxAngularSpeed_radps = 500.0f;
// A body that ends a tick with kSpeedLimitReached of a largest speed is at that limit, until its speed is below
// kSpeedLimitLeft of it.
inline constexpr float kSpeedLimitReached = 0.999f, kSpeedLimitLeft = 0.95f;
inline constexpr float kAboutPi = 3.14159274f;  // the float nearest to pi, a little above it
// Largest offset that a joint may name. kNeverBeyond_m stands for an end that is not there.
inline constexpr float kMaxTravel_m = 4.0f * kMaxCoordinate_m, kNeverBeyond_m = 1.0e6f;
inline constexpr float kMaxRatio = 1.0e4f, kMinPulleyRatio = 1.0e-4f;
inline constexpr float kNeverBelow_rad = -4.0f, kNeverAbove_rad = 4.0f;  // angles lie in (-pi, pi]

// A damped harmonic oscillator, independent of mass. frequency_hz = 0 means rigid. The solver then uses the default
// rigidity (60 Hz, clamped to a quarter of the substep rate; damping ratio 2) and drops it in the relax pass.
//
// max_recovery_speed is the largest speed at which a position error is corrected, in m/s or rad/s, or in the unit of
// the held value for each second. For an area or a volume it is the speed (m/s) of the fastest body. So the parts of a
// joint that was made or teleported metres apart come together without a jolt. 0 means
// SolverSettings::joint_recovery_speed for a rigid joint. For a spring with a frequency it means no limit, so that the
// spring swings freely. Servos have their own max_speed.
struct Spring {
    float frequency_hz = 0.0f;
    float damping_ratio = 1.0f;
    float max_recovery_speed = 0.0f;
};

// Drives a position. The speed of approach is at most max_speed (m/s or rad/s), and at least base_speed until the
// target is reached.
struct Servo {
    float max_speed = kNoLimit;
    float base_speed = 0.0f;
    float max_force = kNoLimit;  // N, or N m for angular constraints
};

// Drives a velocity with at most max_force (N or N m). A damping (kg/s or kg m^2/s) of 0 means as stiff as max_force
// allows.
struct Motor {
    float max_force = kNoLimit;
    float damping = 0.0f;
};

}  // namespace orrery::sim
