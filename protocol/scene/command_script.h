// Scripts of commands by tick (command_script.fbs), for headless runs and tests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/result.h"

namespace orrery::protocol {

inline constexpr std::size_t kMaxScriptBytes = 64u << 20;

class CommandScript {
  public:
    // Names refer to the world's definition. Errors as those of scenes.
    static Result<CommandScript> load(std::span<const std::uint8_t> bytes, std::string_view file_name,
                                      const sim::World& world);

    // The commands of one tick (the first is 1), in the order of the file.
    std::span<const sim::Command> at(std::uint64_t tick) const;
    // The first tick above `tick` that has commands.
    std::optional<std::uint64_t> first_after(std::uint64_t tick) const;

  private:
    std::vector<std::uint64_t> ticks_;  // ascending, one an entry of commands_
    std::vector<sim::Command> commands_;
};

}  // namespace orrery::protocol
