// What the subcommands share: exit codes, argument parsing, the options that several of them take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/scene/scene.h"
#include "sim/base/result.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace orrery::server {

// Documented in `orrery --help`; every subcommand keeps to them.
enum ExitCode : int {
    kExitGood = 0,
    kExitFalse = 1,    // the thing checked is false
    kExitInput = 2,    // input unreadable, corrupt, or of another engine version
    kExitMachine = 3,  // this machine or build lacks what was asked, or a place for what is written
    kExitUsage = 64,
    kExitInternal = 70,
};
const char* exit_code_help();

inline constexpr std::uint64_t kMaxRunTicks = 1'000'000'000;  // half a year at 60 Hz

// Parses the arguments of a subcommand (the first is the one after its name). An exit code if that ends it: help was
// printed, or the arguments are wrong and that was said on stderr.
std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& arguments);

// Of an option that takes a whole number. CLI11's own range lets "-1" wrap to the largest number.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);

// "orrery: PLACE: MESSAGE" on stderr; gives `code` back.
int complain(const Error& error, int code);
int complain(std::string_view message, int code);

// The exit code that an error from reading or creating something stands for.
int exit_code_of(const Error& error);

// A --target argument. `exit` is set to what to end with if it is not an available target.
std::optional<sim::Target> parse_target(const std::string& name, int& exit);

// A whole file, at most `max_bytes` of it: `limit` is what that limit is called.
Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t max_bytes, const char* limit);
Result<protocol::LoadedScene> load_scene_file(const std::string& path, const protocol::SceneOverrides& overrides = {},
                                              const protocol::SceneCaps& caps = {});
// protocol::share_scene for a scene that was loaded from the file. An error names the file and the line in it.
Result<protocol::SharedScene> share_scene_file(protocol::LoadedScene scene, const std::string& path);

std::string cpu_name();  // of this machine, as the system calls it
std::string hex16(std::uint64_t value);

}  // namespace orrery::server
