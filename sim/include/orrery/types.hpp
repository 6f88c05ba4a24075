// Plain values that all other headers use: vectors, poses, ids, SIMD targets, and the limits of a world.
//
// SI units. Axes are right-handed, y is up. Quaternions are x, y, z, w, of unit length, and turn the body's frame into
// the world's. Angles are radians. Saved states and hashes are made of little-endian numbers.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/result.h"

namespace orrery::sim {

// Raised with every change that may alter any bit of any state. Golden files (tests/golden) name it.
inline constexpr std::uint32_t kEngineVersion = 34;

// A vector, in the unit and frame that its use states.
struct Vec3 {
    float x = 0.0f, y = 0.0f, z = 0.0f;  // components along the axes of the frame
    friend bool operator==(const Vec3&, const Vec3&) = default;
};

// A rotation.
struct Quat {
    float x = 0.0f, y = 0.0f, z = 0.0f, w = 1.0f;  // the default: no rotation
    friend bool operator==(const Quat&, const Quat&) = default;
};

// Position (m) and orientation of a frame. The pose of a body is that of its centre of mass and body axes in the world.
struct Pose {
    Vec3 position;     // m
    Quat orientation;  // of unit length; frame to world
    friend bool operator==(const Pose&, const Pose&) = default;
};

inline constexpr std::uint32_t kNone = 0xffff'ffffu;  // an index that names nothing

// `fixed` never moves; scenes call it static, which is a C++ keyword. `kinematic` moves at its velocity, which contacts
// and joints do not change. `dynamic` is moved by forces.
enum class BodyType : std::uint8_t { fixed, kinematic, dynamic };

// ---------------------------------------------------------------- limits

// Memory is the real bound; 32-bit indices have room to spare.
inline constexpr std::uint32_t kMaxBodies = 4'000'000;  // of a world at one time; the world itself counts as one
inline constexpr std::uint32_t kMaxJoints = 8'000'000;  // of a world at one time
inline constexpr std::uint32_t kMaxSlots = 256;         // players of one world
inline constexpr std::uint32_t kControlChannels = 8;    // numbers of a player's control vector, each in [-1, 1]
inline constexpr std::uint32_t kMaxSubsteps = 64;       // in a tick
// Rounds of coupling in a substep: of rigs and the contacts and joints of their bodies.
inline constexpr std::uint32_t kMaxCouplingIterations = 16;
inline constexpr float kMaxRigCompliance = 1.0f;  // of RigDef::compliance
// Of a body: its damping (1/s), and the magnitude of its gravity scale.
inline constexpr float kMaxDamping_hz = 10'000.0f;
inline constexpr float kMaxGravityScale = 1'000.0f;
// Iterations of a rig that is not solved exactly, in each solve.
inline constexpr std::uint32_t kMaxRigIterations = 256;
// Time of rest before sleep. It is counted in 16 bits of ticks at up to 10,000 Hz.
inline constexpr float kMaxSleepTime_s = 6.5f;
inline constexpr std::uint32_t kMaxCommandsPerTick = 65'536;  // of one World::step()
// Limit for two counts of a tick: pairs of bodies with overlapping bounds, and manifolds. A pair with a mesh or a
// compound may have many manifolds. The pairs of crowded bodies grow with the square of their number. A touching pair
// takes about 1 KB (manifold, stored contact, solver bundles), which is 4 GB at the limit.
inline constexpr std::uint32_t kMaxPairs = 4'000'000;
// Limits of shapes that are made of lists. A hull may have more points than vertices: the most significant points
// become vertices.
inline constexpr std::uint32_t kMaxHullVertices = 128;
inline constexpr std::uint32_t kMaxHullPoints = 65'536;
inline constexpr std::uint32_t kMaxMeshVertices = 4'000'000;
// A triangle takes about 100 bytes in a world. A height field has two triangles in each cell.
inline constexpr std::uint32_t kMaxMeshTriangles = 4'000'000;
inline constexpr std::uint32_t kMaxCompoundChildren = 65'536;  // of one compound
// Ticks that queries can look back: 17 s at 60 Hz, more than any player lags behind.
inline constexpr std::uint32_t kMaxHistoryTicks = 1024;
// Bytes of history for each tick and each kinematic or dynamic body with a shape, in blocks of sixteen bodies.
inline constexpr std::uint32_t kHistoryBytesPerBody = 80;
// Largest coordinate of a query's position or start. No body is beyond it.
inline constexpr float kMaxQueryCoordinate_m = 65'536.0f;
// Every body is within this distance of every query's start. A longer cast ends here.
inline constexpr float kMaxCastLength_m = 131'072.0f;
// kMaxCoordinate_m, kMaxLinearSpeed_mps and kMaxAngularSpeed_radps are in sim/constraints/settings.h.

// ---------------------------------------------------------------- SIMD targets

// The SIMD instruction set that a world runs on. `scalar` compiles the same functions over plain float, as the
// reference. `avx3` is AVX-512. `automatic` is the best one of the machine.
enum class Target : std::uint8_t { automatic, scalar, ssse3, sse4, avx2, avx3, neon, wasm };

std::span<const Target> available_targets();  // those of this machine and this build, narrowest first
Target best_target();                         // the widest of them
// "scalar", "ssse3", "sse4", "avx2", "avx3", "neon", "wasm".
std::string_view target_name(Target target);
// Accepts "auto", too. An unavailable target is an error that lists the available ones.
Result<Target> target_from_name(std::string_view name);

// ---------------------------------------------------------------- ids

// An id names a body or a joint for as long as it lives. Indices are used again; the generation tells one use from the
// next. Ids are part of the state: after a restore, the next spawned body gets the id that it would have got.
struct BodyId {
    std::uint32_t index = 0xffff'ffffu;  // the default names no body
    std::uint32_t generation = 0;        // grows with each use of the index
    friend auto operator<=>(const BodyId&, const BodyId&) = default;
    friend bool operator==(const BodyId&, const BodyId&) = default;
    bool valid() const { return index != 0xffff'ffffu; }  // false: names no body. World::alive() says whether it lives
};
// As BodyId.
struct JointId {
    std::uint32_t index = 0xffff'ffffu;  // the default names no joint
    std::uint32_t generation = 0;        // as BodyId::generation
    friend auto operator<=>(const JointId&, const JointId&) = default;
    friend bool operator==(const JointId&, const JointId&) = default;
    bool valid() const { return index != 0xffff'ffffu; }  // false: names no joint
};

}  // namespace orrery::sim
