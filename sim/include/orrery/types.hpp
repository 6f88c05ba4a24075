// Plain values that everything else is made of: vectors, poses, ids, SIMD targets, and the limits of a world. SI units, right-handed axes
// with y up, quaternions x, y, z, w (unit, body to world), angles in radians, little endian when written.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/result.h"

namespace orrery::sim {

// Raised with every change that may alter a bit of any state; golden hashes (tests/golden) name it.
inline constexpr std::uint32_t kEngineVersion = 31;

struct Vec3 {
    float x = 0.0f, y = 0.0f, z = 0.0f;
    friend bool operator==(const Vec3&, const Vec3&) = default;
};

struct Quat {
    float x = 0.0f, y = 0.0f, z = 0.0f, w = 1.0f;
    friend bool operator==(const Quat&, const Quat&) = default;
};

// Position (m) and orientation of a frame; of a body: its centre of mass and body axes in the world.
struct Pose {
    Vec3 position;
    Quat orientation;
    friend bool operator==(const Pose&, const Pose&) = default;
};

inline constexpr std::uint32_t kNone = 0xffff'ffffu;

// ---------------------------------------------------------------- limits


inline constexpr std::uint32_t kMaxBodies = 4'000'000;          // 32-bit indices with room to spare; memory is the real bound
inline constexpr std::uint32_t kMaxJoints = 8'000'000;
inline constexpr std::uint32_t kMaxSlots = 256;                 // players of one world
inline constexpr std::uint32_t kControlChannels = 8;            // numbers in a player's control vector, each in [-1, 1]
inline constexpr std::uint32_t kMaxSubsteps = 64;
inline constexpr std::uint32_t kMaxCouplingIterations = 16;     // of rigs and what touches them, in a substep
inline constexpr float kMaxRigCompliance = 1.0f;
inline constexpr std::uint32_t kMaxRigIterations = 256;        // of a solve of a rig, where it is not exact
inline constexpr float kMaxSleepTime_s = 6.5f;                  // of slowness before sleep: 16 bits of ticks at 10,000 Hz
inline constexpr std::uint32_t kMaxCommandsPerTick = 65'536;
// Pairs of bodies with overlapping bounds in a tick, and manifolds, of which a pair with a mesh or a compound may have
// many. Crowded bodies have pairs by the square of their number, and a touching pair takes about 1 KB in the manifold,
// the contact kept for the next tick and the solver's bundles: 4 GB at the limit.
inline constexpr std::uint32_t kMaxPairs = 4'000'000;
// Shapes that are made of lists. A hull's points may be more than its vertices: those that matter most are kept.
inline constexpr std::uint32_t kMaxHullVertices = 128;
inline constexpr std::uint32_t kMaxHullPoints = 65'536;
inline constexpr std::uint32_t kMaxMeshVertices = 4'000'000;
inline constexpr std::uint32_t kMaxMeshTriangles = 4'000'000;      // about 100 bytes each in a world; of a height field, two a cell
inline constexpr std::uint32_t kMaxCompoundChildren = 65'536;
inline constexpr std::uint32_t kMaxHistoryTicks = 1024;         // kept for queries: 17 s at 60 Hz, more than any player lags
inline constexpr std::uint32_t kHistoryBytesPerBody = 80;       // a tick, of bodies that move; in blocks of sixteen
inline constexpr float kMaxQueryCoordinate_m = 65'536.0f;       // of where a query stands or begins: beyond it nothing is near
inline constexpr float kMaxCastLength_m = 131'072.0f;            // from there to every body: a longer cast ends here
// kMaxCoordinate_m, kMaxLinearSpeed_mps and kMaxAngularSpeed_radps: see settings.h

// ---------------------------------------------------------------- SIMD targets


// `scalar` is the reference build of the same functions over plain float.
enum class Target : std::uint8_t { automatic, scalar, ssse3, sse4, avx2, avx3, neon, wasm };

std::span<const Target> available_targets();                  // on this machine and in this build, narrowest first
Target best_target();
std::string_view target_name(Target target);                  // "scalar", "ssse3", "sse4", "avx2", "avx3", "neon", "wasm"
Result<Target> target_from_name(std::string_view name);       // also "auto"; an unavailable target is an error that lists the available

// ---------------------------------------------------------------- ids


// Names a body or a joint for as long as it lives; the generation tells a reused index apart. Part of the state: after a
// restore the next spawned body gets the id that it would have got.
struct BodyId {
    std::uint32_t index = 0xffff'ffffu;
    std::uint32_t generation = 0;
    friend auto operator<=>(const BodyId&, const BodyId&) = default;
    bool valid() const { return index != 0xffff'ffffu; }
};
struct JointId {
    std::uint32_t index = 0xffff'ffffu;
    std::uint32_t generation = 0;
    friend auto operator<=>(const JointId&, const JointId&) = default;
    bool valid() const { return index != 0xffff'ffffu; }
};

}  // namespace orrery::sim
