// Scripts of commands by tick (command_script.fbs), for headless runs and tests. A script accompanies one run of a
// world.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/scene/script_made.h"
#include "sim/base/result.h"

namespace orrery::protocol {

inline constexpr std::size_t kMaxScriptBytes = 64u << 20;
inline constexpr std::size_t kMaxNamedBodies = 1'000'000;  // bodies that commands make with a name

class CommandScript {
  public:
    // Names refer to the world's definition. Errors are as those of scenes.
    static Result<CommandScript> load(std::span<const std::uint8_t> bytes, std::string_view file_name,
                                      const sim::World& world);

    // The commands of one tick (the first is 1), in the order of the file.
    std::span<const sim::Command> at(std::uint64_t tick) const;
    // The first tick above `tick` that has commands.
    std::optional<std::uint64_t> first_after(std::uint64_t tick) const;

    // Call it after every step. Later commands can then name what the commands of this step made. A command that names
    // something that was not made is rejected as a stale id.
    void note_made(const sim::World& world) { made_.note(world, commands_); }

    // For messages: what commands[i] of the file (the command of sequence i) names, for example body "crate"; and the
    // name of a body that a command made. Empty: no name.
    std::string_view subject(std::uint32_t i) const {
        return i < subjects_.size() ? std::string_view(subjects_[i]) : std::string_view();
    }
    std::string_view name_of(sim::BodyId id) const { return made_.name_of(id); }
    // The id of the body that a command makes under this name; before it is made, an id that never lives.
    // Nothing: no command makes a body of this name.
    std::optional<sim::BodyId> body_named(std::string_view name) const { return made_.body_named(name); }

  private:
    std::vector<std::uint64_t> ticks_;  // ascending, one for each entry of commands_
    std::vector<sim::Command> commands_;
    std::vector<std::string> subjects_;  // by place in the file
    ScriptMade made_;
};

}  // namespace orrery::protocol
