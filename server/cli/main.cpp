// The `orrery` program: finds the subcommand and gives it the rest of the command line.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/build_info.h"
#include "server/cli/bench.h"
#include "server/cli/bisect.h"
#include "server/cli/check.h"
#include "server/cli/command_line.h"
#include "server/cli/doctor.h"
#include "server/cli/health.h"
#include "server/cli/replay.h"
#include "server/cli/run.h"
#include "server/cli/serve.h"
#include "server/cli/swarm.h"
#include "server/cli/token.h"
#include "server/cli/verify.h"
#include "server/cli/version.h"

namespace {

struct Subcommand {
    const char* name;
    int (*run)(const std::vector<std::string>& arguments);
    const char* summary;
    bool prints_its_result = true;
};

constexpr Subcommand kSubcommands[] = {
    {"serve", orrery::server::serve_command, "serve a scene to players and record it", false},
    {"health", orrery::server::health_command, "ask whether a server that runs is live or ready"},
    {"token", orrery::server::token_command, "make one connect token"},
    {"run", orrery::server::run_command, "simulate a scene headless: hash, timings, quality"},
    {"check", orrery::server::check_command, "tell the errors and the probable mistakes of a scene"},
    {"verify", orrery::server::verify_command, "re-simulate replays and compare every tick"},
    {"bisect", orrery::server::bisect_command, "name the first body and field that differ between two executions"},
    {"replay", orrery::server::replay_command,
     "look into a recording: info, trace, state, hashes, cut, export, seek, key"},
    {"swarm", orrery::server::swarm_command, "have bots join a server, drive and leave, and print what they saw"},
    {"bench", orrery::server::bench_command, "run the benchmark scenes"},
    {"doctor", orrery::server::doctor_command, "print what this build and this machine can do"},
};

// What a subcommand printed is its result: lost, the run has failed.
int check_stdout(int code) {
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    std::fprintf(stderr, "orrery: stdout did not take all of the output; make room for it\n");
    return code == orrery::server::kExitGood ? orrery::server::kExitMachine : code;
}

void print_help(std::FILE* to) {
    std::fprintf(
        to,
        "orrery: a networked, deterministic rigid-body simulation server\n\nusage: orrery SUBCOMMAND [options]\n\n");
    for (const Subcommand& subcommand : kSubcommands)
        std::fprintf(to, "  %-8s %s\n", subcommand.name, subcommand.summary);
    std::fprintf(to,
                 "\n`orrery SUBCOMMAND --help` lists the options of a subcommand. `orrery --version` prints version, "
                 "engine version and commit.\n%s",
                 orrery::server::exit_code_help());
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (arguments.empty()) {
        std::fprintf(stderr, "orrery: no subcommand given\n\n");
        print_help(stderr);
        return orrery::server::kExitUsage;
    }
    if (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
        print_help(stdout);
        return check_stdout(orrery::server::kExitGood);
    }
    if (arguments[0] == "--version") {
        std::printf("%s\n", orrery::server::version_text().c_str());
        return check_stdout(orrery::server::kExitGood);
    }
    orrery::server::set_build_commit(orrery::server::commit_text());
    for (const Subcommand& subcommand : kSubcommands) {
        if (arguments[0] != subcommand.name) continue;
        try {
            const int code = subcommand.run({arguments.begin() + 1, arguments.end()});
            return subcommand.prints_its_result ? check_stdout(code) : code;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "orrery %s: internal error: %s\n", subcommand.name, error.what());
            return orrery::server::kExitInternal;
        }
    }
    std::fprintf(stderr, "orrery: there is no subcommand \"%s\" (see orrery --help)\n", arguments[0].c_str());
    return orrery::server::kExitUsage;
}
