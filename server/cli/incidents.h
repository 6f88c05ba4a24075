// Prints what went wrong in the ticks of a run, from the world's events: rejected commands and quarantined bodies, with
// their causes. The first few of each kind are lines on stderr; the others are counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "orrery/sim.hpp"
#include "protocol/scene/command_script.h"

namespace orrery::server {

inline constexpr std::uint64_t kMaxToldIncidents = 10;  // of a kind in a run

std::string_view command_name(sim::CommandKind kind);  // "spawn"
// Why a command was rejected, in words.
std::string rejection_text(sim::CommandKind kind, sim::EventCause cause);

class Incidents {
  public:
    // `script` may be null. Lines begin with `script_file` and `scene`. All arguments must outlive the object.
    Incidents(const std::string& scene, const protocol::CommandScript* script, const std::string& script_file)
        : scene_(scene), script_(script), script_file_(script_file) {}

    void after_tick(const sim::World& world, std::span<const sim::Command> commands);
    // Call it after the last tick: prints how many were only counted.
    void finish() const;

  private:
    void tell_rejected(const sim::World& world, const sim::Event& event, std::span<const sim::Command> commands) const;
    void tell_quarantined(const sim::World& world, const sim::Event& event) const;

    const std::string& scene_;
    const protocol::CommandScript* script_;
    const std::string& script_file_;
    std::uint64_t rejected_ = 0, quarantined_ = 0;
};

}  // namespace orrery::server
