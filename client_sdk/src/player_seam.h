// What the C face needs of a player of recordings. A build without the simulation has none (no_mirror.cpp), and then
// open_player() returns null.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_sdk/src/mirror_seam.h"
#include "protocol/replay/records.h"

namespace orrery::client {

// The numbers of ORRERY_VERDICT_*.
enum class PlayerState : std::uint8_t { same_so_far, same, end_missing, differs, damaged };

struct PlayerDifference {
    std::uint64_t tick = 0;
    std::string_view part;  // ends in a zero
    std::uint64_t recorded = 0, found = 0;
};

struct PlayerVerdict {
    PlayerState state = PlayerState::same_so_far;
    std::uint64_t ticks_compared = 0, ticks_equal = 0;
    std::uint32_t keyframes_compared = 0;
    std::optional<PlayerDifference> difference;
    std::uint64_t broken_at = 0, bytes_checked = 0;
    std::string text;
};

struct PlayerBody {
    sim::BodyType type{};
    std::uint32_t shape = 0, prefab = 0, member = 0;
    std::uint16_t slot = 0;
    std::uint64_t user_data = 0;
    const char *name = "", *template_name = "", *member_name = "", *material_name = "";
};

class Player {
  public:
    virtual ~Player() = default;

    virtual const protocol::replay::FileHeader& header() const = 0;
    virtual std::uint64_t tick() const = 0;
    virtual std::uint64_t last_tick() const = 0;
    virtual bool complete() const = 0;
    virtual std::uint32_t keyframes() const = 0;
    virtual std::uint64_t bytes() const = 0;

    virtual bool step(std::uint64_t ticks) = 0;                              // false: the last tick came before
    virtual bool seek(std::uint64_t tick, std::uint64_t ticks_at_most) = 0;  // false: not there yet
    virtual bool check(std::uint64_t bytes) = 0;                             // false: nothing is left to be read
    virtual PlayerVerdict verdict() const = 0;
    virtual const StepClock& step_clock() const = 0;
    virtual void set_step_clock(StepClock::Clock clock, void* user) = 0;  // see StepClock::set()

    virtual void picture(double part, std::vector<ShownBody>& out) const = 0;
    virtual bool body(sim::BodyId id, PlayerBody& out) const = 0;
    virtual const std::vector<sim::ShapeDef>& shapes() const = 0;
    virtual std::uint32_t body_count() const = 0;
    virtual const sim::World& world() const = 0;
};

// The bytes are not copied.
Result<std::unique_ptr<Player>> open_player(protocol::Bytes bytes);

}  // namespace orrery::client
