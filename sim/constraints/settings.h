// Settings shared by the descriptions of all constraints.
#pragma once

#include <limits>

namespace orrery::sim {

inline constexpr float kNoLimit = std::numeric_limits<float>::max();
inline constexpr float kMaxCoordinate_m = 4096.0f;  // beyond it single precision is coarser than 0.5 mm: quarantine
inline constexpr float kMaxLinearSpeed_mps = 1000.0f;
inline constexpr float kMaxAngularSpeed_radps = 500.0f;
// Who ends a tick with so much of a greatest speed has come to it, and is at it until it has less than the other.
inline constexpr float kSpeedLimitReached = 0.999f, kSpeedLimitLeft = 0.95f;
inline constexpr float kAboutPi = 3.14159274f;      // the float next to pi, a little above it
inline constexpr float kMaxTravel_m = 4.0f * kMaxCoordinate_m, kNeverBeyond_m = 1.0e6f;  // within it no body stays
inline constexpr float kMaxRatio = 1.0e4f, kMinPulleyRatio = 1.0e-4f;
inline constexpr float kNeverBelow_rad = -4.0f, kNeverAbove_rad = 4.0f;  // angles lie in (-pi, pi]

// A damped harmonic oscillator, independent of mass. frequency_hz = 0 means rigid: the solver then uses the default
// rigidity (60 Hz for joints, clamped to a quarter of the substep rate; damping ratio 2), dropped in the relax pass.
//
// What has come out of place is brought back at most at max_recovery_speed (m/s or rad/s, or the held value's unit a second; m/s of
// the body that goes fastest where an area or a volume is held), so that a joint made or teleported metres apart closes instead
// of flinging its bodies. 0: SolverSettings::joint_recovery_speed where rigid, none where a frequency is set, for a spring is to swing
// as it will. Servos have their own max_speed instead.
struct Spring {
    float frequency_hz = 0.0f;
    float damping_ratio = 1.0f;
    float max_recovery_speed = 0.0f;
};

// Drives a position: approach speed at most max_speed_mps (m/s or rad/s), at least base_speed_mps until there.
struct Servo {
    float max_speed = kNoLimit;
    float base_speed = 0.0f;
    float max_force = kNoLimit;  // N, or N m for angular constraints
};

// Drives a velocity with at most max_force (N or N m). damping (kg/s or kg m^2/s) = 0 means as stiff as max_force allows.
struct Motor {
    float max_force = kNoLimit;
    float damping = 0.0f;
};

}  // namespace orrery::sim
