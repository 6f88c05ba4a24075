#include "server/cli/replay_hashes.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

#include "protocol/scene/scene.h"
#include "server/cli/command_line.h"
#include "server/cli/recording.h"

namespace orrery::server {

namespace {

struct HashesOptions {
    std::string replay;
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;
};

int print_hashes(const HashesOptions& options, sim::Target target) {
    const auto recording = Recording::open(options.replay);
    if (!recording) return complain(options.replay + ": " + recording.error().to_string(), kExitInput);
    const auto fail = [&](const Error& error) {
        return complain(options.replay + ": " + error.to_string(), exit_code_of(error));
    };
    const auto world = (*recording)->new_world(options.max_bodies, target);
    if (!world) return fail(world.error());
    const Result<Ok> begun = (*recording)->begin_at((*recording)->survey().marks.front(), **world);
    if (!begun) return fail(begun.error());
    while ((*recording)->read_tick()) {
        const protocol::replay::TickRecord& record = (*recording)->reader().tick();
        const sim::StepStatus status = (*world)->step(record.commands);
        if (status != sim::StepStatus::ok) return fail(sim::step_error(status, record.tick));
        if (std::puts(hashes_line(record.tick, (*world)->hash()).c_str()) < 0) return kExitMachine;
    }
    return kExitGood;
}

}  // namespace

std::string hashes_line(std::uint64_t tick, const sim::HashTree& hash) {
    std::string line = std::to_string(tick) + " " + hex16(hash.root);
    for (const std::uint64_t leaf : hash.leaves) line += " " + hex16(leaf);
    return line;
}

std::optional<sim::HashTree> read_hashes_line(std::string_view line, std::uint64_t tick) {
    const char* at = line.data();
    const char* const end = at + line.size();
    const auto read = [&](std::uint64_t& value, int base) {
        const auto [after, error] = std::from_chars(at, end, value, base);
        const bool good = error == std::errc() && (after == end || *after == ' ');
        at = after == end ? end : after + 1;
        return good;
    };
    std::uint64_t found = 0;
    sim::HashTree hash;
    bool good = read(found, 10) && found == tick && read(hash.root, 16);
    for (std::uint64_t& leaf : hash.leaves) good = good && read(leaf, 16);
    return good && at == end ? std::optional(hash) : std::nullopt;
}

int hashes_command(const std::vector<std::string>& arguments) {
    HashesOptions options;
    std::string target = "auto";
    CLI::App app(
        "Simulates a recording from its start and prints a line for each tick: its number, the hash of the state, and "
        "those of its parts clock, identity, bodies, joints, contacts, control and events, in hex. They are the hashes "
        "of the simulation, whether or not the recording has the same. `orrery bisect --with` reads them.",
        "orrery replay hashes");
    app.add_option("REPLAY", options.replay, "replay file")->required();
    app.add_option("--target", target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon (no bit depends on it)");
    add_max_bodies_option(app, options.max_bodies);
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    int exit = kExitUsage;
    const std::optional<sim::Target> found = parse_target(target, exit);
    return found ? print_hashes(options, *found) : exit;
}

}  // namespace orrery::server
