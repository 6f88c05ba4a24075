// Helpers that the subcommands share: exit codes, argument parsing, common options.
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

// `orrery --help` lists these; every subcommand uses them.
enum ExitCode : int {
    kExitGood = 0,
    kExitFalse = 1,    // a check failed
    kExitInput = 2,    // the input is unreadable, corrupt, or of another engine version
    kExitMachine = 3,  // this machine or build cannot do it, or the output cannot be written
    kExitUsage = 64,
    kExitInternal = 70,
};
const char* exit_code_help();

inline constexpr std::uint64_t kMaxRunTicks = 1'000'000'000;  // half a year at 60 Hz

// Parses the arguments of a subcommand (the first is the one after its name). Returns an exit code if the program ends:
// help was printed, or the arguments are wrong and a message was printed on stderr.
std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& arguments);

// A check for options with a whole number. CLI11's own range lets "-1" wrap to the largest number.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);

// "orrery: PLACE: MESSAGE" on stderr; gives `code` back.
int complain(const Error& error, int code);
int complain(std::string_view message, int code);

// The exit code for an error of reading or creating something.
int exit_code_of(const Error& error);

// Reads a --target argument. If the target is not available, `exit` gets the exit code.
std::optional<sim::Target> parse_target(const std::string& name, int& exit);

// Reads a whole file of at most `max_bytes`. `limit` is the name of that limit.
Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t max_bytes, const char* limit);
Result<protocol::LoadedScene> load_scene_file(const std::string& path, const protocol::SceneOverrides& overrides = {},
                                              const protocol::SceneCaps& caps = {});
// protocol::share_scene for a scene that was loaded from the file. An error names the file and the line in it.
Result<protocol::SharedScene> share_scene_file(protocol::LoadedScene scene, const std::string& path);

std::string cpu_name();  // of this machine, as the system calls it
std::string hex16(std::uint64_t value);

}  // namespace orrery::server
