// Helpers that the subcommands share: exit codes, argument parsing, common options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "server/base/exit_code.h"
#include "sim/base/result.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace orrery::server {

const char* exit_code_help();  // a line for each ExitCode

inline constexpr std::uint64_t kMaxRunTicks = 1'000'000'000;  // half a year at 60 Hz

// Parses the arguments of a subcommand (the first is the one after its name). Returns an exit code if the program ends:
// help was printed, or the arguments are wrong and a message was printed on stderr.
std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& arguments);

// A check for options with a whole number. CLI11's own range lets "-1" wrap to the largest number.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);

// The option --jacobi, the device that solves large rigs. It sets `name` to "auto", "cpu" or "cuda".
void add_jacobi_option(CLI::App& app, std::string& name);

// The option --max-bodies, of a scene that is read.
void add_max_bodies_option(CLI::App& app, std::uint64_t& max_bodies);

// "orrery: PLACE: MESSAGE" on stderr; gives `code` back.
int complain(const Error& error, int code);
int complain(std::string_view message, int code);

// The exit code for an error of reading or creating something.
int exit_code_of(const Error& error);

// Reads a --target argument. If the target is not available, `exit` gets the exit code.
std::optional<sim::Target> parse_target(const std::string& name, int& exit);

std::string hex16(std::uint64_t value);

}  // namespace orrery::server
