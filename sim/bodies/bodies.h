// The body store: arrays by body index, in 32-byte records that the solver gathers into lanes and writes in place.
//
// Index 0 is the world itself: fixed, at the origin, never written. A joint to the world and a padding lane point
// there. A free index keeps zero inverse mass and identity pose, so that reading it is harmless.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::sim {

inline constexpr std::uint32_t kWorldBody = 0;

struct alignas(32) VelocityRecord {  // of the centre of mass, world axes; m/s, rad/s
    float linear[3] = {}, angular[3] = {};
    float zero[2] = {};
};
struct alignas(32) PoseRecord {
    float position[3] = {};
    float orientation[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    float zero = 0.0f;
};
// How far the body moved since the tick began, as the integral of its velocity: the solver's own, reset each tick.
struct alignas(32) DeltaRecord {
    float linear[3] = {}, angular[3] = {};  // m, rad, world axes
    float zero[2] = {};
};
// Inverse inertia in world axes (xx, xy, xz, yy, yz, zz) and inverse mass; zero for fixed and kinematic bodies, and
// along locked axes. The solver's own, refreshed from MassRecord as poses change; of a rig that was solved apart it is
// an earlier pose's, of one that is solved exactly with others it has, while constraints are prepared and relaxed, the
// stiffness of tension (rigs/rig-inl.h).
struct alignas(32) InertiaRecord {
    float inverse_inertia[6] = {};
    float inverse_mass = 0.0f;
    float zero = 0.0f;
};
// What a body's definition says; of a star its inertia is its rig's (rigs/graph/stars.h), of a quarantined body it and
// the inverse mass are 0.
struct alignas(64) MassRecord {
    float inverse_inertia[6] = {};  // in body axes
    float inverse_mass = 0.0f;
    float gravity_scale = 1.0f;
    float linear_damping = 0.0f, angular_damping = 0.0f;
    float linear_lock[3] = {1.0f, 1.0f, 1.0f}, angular_lock[3] = {1.0f, 1.0f, 1.0f};  // 0 where locked, else 1
};
static_assert(sizeof(VelocityRecord) == 32 && sizeof(PoseRecord) == 32 && sizeof(DeltaRecord) == 32 &&
              sizeof(InertiaRecord) == 32 && sizeof(MassRecord) == 64);

enum BodyFlag : std::uint8_t {
    kBodyAlive = 1,
    kBodyDynamic = 2,
    kBodyKinematic = 4,
    kBodyQuarantined = 8,
    kBodyAsleep = 16,
    kBodyAtSpeedLimit = 32,  // dynamic: was as fast as the solver lets a body be when the last tick ended
    kBodyTargeted = 64,      // kinematic: a command said where it was to be when the last tick ended
};

struct BodyInfo {  // cold: what a solver does not read; of its definition, or of commands
    std::uint32_t shape = kNone, material = 0;
    std::uint32_t category = 1, mask = 0xffff'ffffu;
    bool sensor = false;
    bool can_sleep = true;
    CollisionMode collision_mode = CollisionMode::discrete;
    friend bool operator==(const BodyInfo&, const BodyInfo&) = default;
};

// What bodies have in common whose definitions ask for the same, but for where they begin: a kind each. Kind 0 is of no
// body. Behind the kinds are rows that are one body's own.
struct BodyKinds {
    std::uint32_t count = 0;
    std::vector<BodyInfo> info;
    std::vector<MassRecord> mass;
};

struct Bodies {
    std::vector<VelocityRecord> velocity;
    std::vector<PoseRecord> pose;
    std::vector<DeltaRecord> delta;
    std::vector<InertiaRecord> inertia;
    std::vector<std::uint8_t> flags;  // BodyFlag
    std::vector<std::uint8_t> thin;   // 1: a stick, by its inertias (ref::is_thin); constant of a body
    std::vector<std::uint32_t> generation;
    std::vector<std::uint16_t> slow_ticks;  // dynamic: how long it has been slow, up to the time that puts it to sleep
    // dynamic and awake: its motion of late, without what goes to and fro (world/sleep.cpp); empty where nothing sleeps
    std::vector<VelocityRecord> mean_motion;
    std::vector<std::uint16_t> slot;     // of the player that it was made for; 0xffff: none
    std::vector<std::uint32_t> kind_of;  // row of kinds.info: the kind's, or one of its own
    std::vector<std::uint32_t> mass_of;  // row of kinds.mass: the kind's, or one of its own
    BodyKinds kinds;
    bool any_sleep = false;  // SolverSettings::sleep; constant of a world

    // As of a body that has just come to rest, or never moved.
    void restart_rest(std::uint32_t index) {
        slow_ticks[index] = 0;
        if (any_sleep) mean_motion[index] = {};
    }
    const BodyInfo& info(std::uint32_t index) const { return kinds.info[kind_of[index]]; }
    const MassRecord& mass(std::uint32_t index) const { return kinds.mass[mass_of[index]]; }
    void set_kind(std::uint32_t index, std::uint32_t kind) { kind_of[index] = mass_of[index] = kind; }
    // A mass of its own, until set_kind.
    void set_mass(std::uint32_t index, const MassRecord& record) { set_own(kinds.mass, mass_of, index, record); }
    bool has_own_mass(std::uint32_t index) const { return mass_of[index] >= kinds.count; }
    // The same of its info.
    void set_info(std::uint32_t index, const BodyInfo& own) { set_own(kinds.info, kind_of, index, own); }

    std::uint32_t size() const {
        return static_cast<std::uint32_t>(flags.size());
    }  // indices in use or free, world included
    bool dynamic(std::uint32_t index) const { return (flags[index] & kBodyDynamic) != 0; }
    bool asleep(std::uint32_t index) const { return (flags[index] & kBodyAsleep) != 0; }
    // May move in this tick of itself: an awake dynamic body, or a kinematic one with a velocity.
    bool active(std::uint32_t index) const {
        const std::uint8_t f = flags[index];
        if ((f & kBodyDynamic) != 0) return (f & kBodyAsleep) == 0;
        return (f & kBodyKinematic) != 0 && has_velocity(velocity[index]);
    }

  private:
    template <class Record>
    void set_own(std::vector<Record>& rows, std::vector<std::uint32_t>& row_of, std::uint32_t index,
                 const Record& record) {
        if (row_of[index] >= kinds.count) {
            rows[row_of[index]] = record;
            return;
        }
        if (rows.size() > kinds.count + 2 * flags.size()) drop_unused(rows, row_of);
        row_of[index] = static_cast<std::uint32_t>(rows.size());
        rows.push_back(record);
    }
    template <class Record>
    void drop_unused(std::vector<Record>& rows, std::vector<std::uint32_t>& row_of) const {
        std::vector<Record> used(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kinds.count));
        for (std::uint32_t& row : row_of) {
            if (row < kinds.count) continue;
            used.push_back(rows[row]);
            row = static_cast<std::uint32_t>(used.size() - 1);
        }
        rows.swap(used);
    }
    static bool has_velocity(const VelocityRecord& v) {
        std::uint32_t bits = 0;
        for (const float x : v.linear) bits |= std::bit_cast<std::uint32_t>(x);
        for (const float x : v.angular) bits |= std::bit_cast<std::uint32_t>(x);
        return (bits & 0x7fff'ffffu) != 0;  // -0 is 0
    }
};

}  // namespace orrery::sim
