#include "server/cli/replay_seek.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <random>

#include "protocol/replay/seek.h"
#include "protocol/scene/scene.h"
#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/cli/recording.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

using protocol::replay::Seeker;

constexpr std::uint64_t kMaxRandomSeeks = 1'000'000;

struct SeekArguments {
    std::string replay;
    std::uint64_t random = 0, seed = 1, from = 0, to = kMaxRunTicks, max_bodies = protocol::kDefaultMaxSceneBodies;
    std::uint32_t threads = 1;
    bool cover = false, json = false;
};

// Times of seeks of one kind.
class Times {
  public:
    void add(double ms) { all_.push_back(ms); }
    JsonLine json() {
        JsonLine line;
        line.number("seeks", all_.size()).number("ms_median", share(0.5)).number("ms_p99", share(0.99));
        return line.number("ms_max", share(1.0));
    }
    std::string text() {
        if (all_.empty()) return "0 seeks";
        char text[120];
        std::snprintf(text, sizeof text, "%zu seeks, median %.3f ms, p99 %.3f ms, max %.3f ms", all_.size(),
                      *share(0.5), *share(0.99), *share(1.0));
        return text;
    }

  private:
    // Nearest rank.
    std::optional<double> share(double part) {
        if (all_.empty()) return std::nullopt;
        std::ranges::sort(all_);
        const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(all_.size())));
        return all_[std::max<std::size_t>(rank, 1) - 1];
    }
    std::vector<double> all_;
};

class SeekTool {
  public:
    SeekTool(const SeekArguments& arguments, Seeker& seeker) : arguments_(arguments), seeker_(seeker) {}

    // Goes to a tick, prints that, and gives the exit code.
    int visit(std::uint64_t tick) {
        const auto begin = std::chrono::steady_clock::now();
        const Result<Ok> there = seeker_.go_to(tick);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        if (!there) return refuse(tick, there.error());
        (seeker_.was_cold() ? cold_ : warm_).add(took.count());
        const std::string hash = hex16(seeker_.world().hash().root);
        if (arguments_.json) {
            JsonLine line;
            line.number("tick", tick).text("hash", hash).number("ms", std::optional(took.count()));
            line.boolean("cold", seeker_.was_cold()).number("simulated_ticks", seeker_.simulated_ticks());
            std::printf("%s\n", line.str().c_str());
        } else {
            std::printf("tick %llu hash %s %.3f ms %s, %llu ticks simulated\n", static_cast<unsigned long long>(tick),
                        hash.c_str(), took.count(), seeker_.was_cold() ? "cold" : "warm",
                        static_cast<unsigned long long>(seeker_.simulated_ticks()));
        }
        std::fflush(stdout);
        if (!arguments_.cover) return kExitGood;
        const Result<bool> covered = seeker_.cover(kMaxRunTicks);
        return covered ? kExitGood : refuse(tick, covered.error());
    }

    void finish() {
        if (arguments_.json)
            std::printf("%s\n", JsonLine().object("cold", cold_.json()).object("warm", warm_.json()).str().c_str());
        else
            std::fprintf(stderr, "cold: %s\nwarm: %s\n", cold_.text().c_str(), warm_.text().c_str());
    }

  private:
    int refuse(std::uint64_t tick, const Error& error) const {
        if (!arguments_.json) return complain(error, exit_code_of_replaying(error));
        std::printf("%s\n", JsonLine().number("tick", tick).text("error", error.to_string()).str().c_str());
        std::fflush(stdout);
        return exit_code_of_replaying(error);
    }

    const SeekArguments& arguments_;
    Seeker& seeker_;
    Times cold_, warm_;
};

int visit_stdin(SeekTool& tool) {
    int worst = kExitGood;
    std::string line;
    for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        std::uint64_t tick = 0;
        const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), tick);
        const bool good = failed == std::errc() && end == line.data() + line.size();
        worst = std::max(worst, good ? tool.visit(tick)
                                     : complain("stdin:" + std::to_string(number) + ": \"" + line.substr(0, 64) +
                                                    "\" is not a tick, a whole number",
                                                kExitInput));
    }
    return worst;
}

int visit_random(SeekTool& tool, const SeekArguments& arguments, const Seeker& seeker) {
    const std::uint64_t from = std::max(arguments.from, seeker.first_tick());
    const std::uint64_t to = std::min(arguments.to, seeker.last_tick());
    if (from > to)
        return complain(arguments.replay + ": it has the states of ticks " + std::to_string(seeker.first_tick()) +
                            " to " + std::to_string(seeker.last_tick()) + ", none from --from to --to",
                        kExitInput);
    std::mt19937_64 random(arguments.seed);
    int worst = kExitGood;
    for (std::uint64_t i = 0; i < arguments.random; ++i)
        worst = std::max(worst, tool.visit(from + random() % (to - from + 1)));
    return worst;
}

int seek(const SeekArguments& arguments, sim::Target target) {
    const auto recording = Recording::open(arguments.replay);
    if (!recording) return complain(arguments.replay + ": " + recording.error().to_string(), kExitInput);
    std::unique_ptr<ThreadPool> pool;
    if (arguments.threads > 1) pool = std::make_unique<ThreadPool>(arguments.threads);
    protocol::replay::SeekOptions options;
    options.target = target;
    options.executor = pool.get();
    options.load_scene = [&arguments](const protocol::replay::FileHeader& header) {
        return protocol::replay::load_recorded_scene(header, arguments.max_bodies);
    };
    const auto seeker = Seeker::create((*recording)->source(), (*recording)->survey(), options);
    if (!seeker) return complain(arguments.replay + ": " + seeker.error().to_string(), exit_code_of(seeker.error()));
    SeekTool tool(arguments, **seeker);
    const int code = arguments.random > 0 ? visit_random(tool, arguments, **seeker) : visit_stdin(tool);
    tool.finish();
    return code;
}

}  // namespace

int seek_command(const std::vector<std::string>& arguments) {
    SeekArguments options;
    std::string target = "auto";
    CLI::App app(
        "Goes to ticks of a recording in any order, and prints for each the hash of the state and how long that took. "
        "The ticks come from stdin, one a line, and each is answered at once, or at random with --random. A seek to "
        "what was not simulated yet is cold: it restores the keyframe before it, or goes on from a checkpoint behind "
        "that. Any other is warm: it goes back to a checkpoint in memory, of which there is one for each 0.25 s of "
        "what "
        "was looked at last. Every simulated tick is compared with the recording: exit code 1 if one differs. The "
        "times of all are summed up at the end, "
        "on stderr or, with --json, as a last object.",
        "orrery replay seek");
    app.add_option("REPLAY", options.replay, "replay file")->required();
    auto* random = app.add_option("--random", options.random, "so many ticks at random, and none from stdin")
                       ->check(whole_number(1, kMaxRandomSeeks));
    app.add_option("--seed", options.seed, "other random ticks")
        ->check(whole_number(0, UINT64_MAX))
        ->needs(random)
        ->capture_default_str();
    app.add_option("--from", options.from, "first of the random ticks")
        ->check(whole_number(0, kMaxRunTicks))
        ->needs(random);
    app.add_option("--to", options.to, "last of the random ticks")->check(whole_number(0, kMaxRunTicks))->needs(random);
    app.add_flag("--cover", options.cover,
                 "after each answer simulate on to the next keyframe, so that later seeks before it are warm, as a "
                 "player does while nothing is asked of it");
    app.add_option("--threads", options.threads, "threads inside a tick (no bit depends on it)")
        ->check(whole_number(1, kMaxThreads))
        ->capture_default_str();
    app.add_option("--target", target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon (no bit depends on it)");
    add_max_bodies_option(app, options.max_bodies);
    app.add_flag("--json", options.json, "print one JSON object for each tick instead of text");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (options.from > options.to) return complain("--from is beyond --to", kExitUsage);
    int exit = kExitUsage;
    const std::optional<sim::Target> found = parse_target(target, exit);
    return found ? seek(options, *found) : exit;
}

}  // namespace orrery::server
