#include "server/cli/replay_export.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "protocol/scene/scene.h"
#include "server/cli/command_line.h"
#include "server/cli/motion_sink.h"
#include "server/cli/progress.h"
#include "server/cli/recording.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

struct ExportOptions {
    std::string replay, csv, gltf;
    std::uint64_t from = 0, to = kMaxRunTicks, every = 1, max_bodies = protocol::kDefaultMaxSceneBodies;
    std::uint32_t threads = 1;
    double rate = 30.0, tolerance = 0.001, tolerance_deg = 0.1;
    std::vector<std::string> bodies;
};

// Each that is due, from the world's tick on, and the last one of all.
Result<Ok> export_ticks(Recording& recording, sim::World& world, MotionSink& sink, std::uint64_t every,
                        std::uint64_t last, bool with_last, sim::Executor* executor) {
    const std::uint64_t first = world.tick();
    std::atomic<std::uint64_t> reached{first};
    const auto begin = std::chrono::steady_clock::now();
    const Progress progress([&] {
        const std::string left = time_left(
            std::chrono::steady_clock::now() - begin,
            static_cast<double>(reached - first) / static_cast<double>(std::max(last - first, std::uint64_t{1})));
        return "export: tick " + std::to_string(reached) + " of " + std::to_string(last) +
               (left.empty() ? "" : ", " + left);
    });
    for (;;) {
        const bool due = (world.tick() - first) % every == 0 || (with_last && world.tick() == last);
        if (due) {
            if (auto added = sink.add(world); !added) return added;
        }
        if (world.tick() == last) return sink.end();
        const Result<bool> stepped = recording.step(world, executor);
        if (!stepped) return stepped.error();
        if (!*stepped) return Error{ErrorCode::io, "", "the file changed while it was read"};
        reached = world.tick();
    }
}

int export_motion(const ExportOptions& options, sim::Target target) {
    const auto fail = [&](const Error& error) {
        return complain(options.replay + ": " + error.to_string(), exit_code_of_replaying(error));
    };
    const auto recording = Recording::open(options.replay);
    if (!recording) return complain(options.replay + ": " + recording.error().to_string(), kExitInput);
    const std::uint64_t from = std::max(options.from, (*recording)->survey().header.first_tick);
    const std::uint64_t last = std::min(options.to, (*recording)->survey().ticks);
    if (from > last)
        return complain(
            options.replay + ": it ends at tick " + std::to_string(last) + ", before --from " + std::to_string(from),
            kExitInput);
    const auto world = (*recording)->new_world(options.max_bodies, target);
    if (!world) return fail(world.error());
    std::unique_ptr<ThreadPool> pool;
    if (options.threads > 1) pool = std::make_unique<ThreadPool>(options.threads);
    if (const Result<Ok> there = (*recording)->go_to(from, **world, pool.get()); !there) return fail(there.error());

    const bool gltf = !options.gltf.empty();
    const std::string& out = gltf ? options.gltf : options.csv;
    std::optional<NewFile> file;
    if (out != "-" && !file.emplace(out).is_open()) return complain(file->error("open"), kExitInput);
    const GltfSettings settings{.tolerance_m = options.tolerance,
                                .tolerance_rad = options.tolerance_deg * 3.14159265358979323846 / 180.0};
    const std::unique_ptr<MotionSink> sink =
        gltf ? make_gltf(*file, settings) : make_csv(file ? &*file : nullptr, options.bodies);
    const double rate_hz = static_cast<double>((*world)->definition().tick_rate_hz);
    const std::uint64_t every =
        gltf ? static_cast<std::uint64_t>(std::max(1.0, std::round(rate_hz / options.rate))) : options.every;
    Result<Ok> done = export_ticks(**recording, **world, *sink, every, last, gltf, pool.get());
    if (done && file) done = file->keep();
    if (!done) return fail(done.error());
    if (file)
        std::printf("%s: ticks %llu to %llu of %s: %s, %llu bytes\n", out.c_str(),
                    static_cast<unsigned long long>(from), static_cast<unsigned long long>(last),
                    options.replay.c_str(), sink->summary().c_str(), static_cast<unsigned long long>(file->size()));
    return kExitGood;
}

CLI::Validator positive(double most) {
    const auto check = [most](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        return end != text.c_str() && *end == '\0' && value > 0.0 && value <= most
                   ? std::string()
                   : "\"" + text + "\" is not a number above 0 and at most " + std::to_string(most);
    };
    return CLI::Validator(check, "above 0");
}

}  // namespace

int export_command(const std::vector<std::string>& arguments) {
    ExportOptions options;
    std::string target = "auto";
    CLI::App app(
        "Simulates a recording and writes how its bodies move, for other programs. Each tick is compared with the "
        "recording; at the first that differs the exit code is 1, and no file is left.",
        "orrery replay export");
    app.footer(
        std::string("--csv writes the columns\n  ") + kCsvColumns +
        "\nwith a line for each body and tick: the tick; its time from the recording's tick 0 in s; the body's id "
        "(index:generation)\nand name; position of the centre of mass in m; rotation, body to world, a unit "
        "quaternion; linear velocity in m/s and angular\nvelocity in rad/s, in world axes. Numbers have 9 digits, "
        "which read back as the same floats.\n\n--gltf writes a binary glTF 2.0 file: each shape a mesh, each "
        "body a node (extras.body is its id), an animation of the\ntranslations and rotations, and scale 0 "
        "while a body is not there. Keys between which interpolation stays within\n--tolerance and "
        "--tolerance-deg of all samples are left out.");
    app.add_option("REPLAY", options.replay, "replay file")->required();
    auto* csv =
        app.add_option("--csv", options.csv, "the new CSV file, - for stdout; a file that exists is not overwritten");
    auto* gltf =
        app.add_option("--gltf", options.gltf, "the new glTF file; one that exists is not overwritten")->excludes(csv);
    app.add_option("--from", options.from, "first tick; 0 is the start")
        ->check(whole_number(0, kMaxRunTicks))
        ->capture_default_str();
    app.add_option("--to", options.to, "last tick; without it, the end of the recording")
        ->check(whole_number(0, kMaxRunTicks));
    app.add_option("--every", options.every, "CSV: only each Nth tick, from --from on")
        ->check(whole_number(1, kMaxRunTicks))
        ->needs(csv)
        ->capture_default_str();
    app.add_option("--bodies", options.bodies, "CSV: only the bodies of these names, with commas between")
        ->delimiter(',')
        ->needs(csv);
    app.add_option("--rate", options.rate, "glTF: samples in a second, Hz; each is a tick")
        ->check(positive(10'000.0))
        ->needs(gltf)
        ->capture_default_str();
    app.add_option("--tolerance", options.tolerance, "glTF: largest error of a position, m")
        ->check(positive(1'000.0))
        ->needs(gltf)
        ->capture_default_str();
    app.add_option("--tolerance-deg", options.tolerance_deg, "glTF: largest error of a rotation, degrees")
        ->check(positive(90.0))
        ->needs(gltf)
        ->capture_default_str();
    app.add_option("--threads", options.threads, "threads inside a tick (no bit depends on it)")
        ->check(whole_number(1, kMaxThreads))
        ->capture_default_str();
    app.add_option("--target", target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon (no bit depends on it)");
    add_max_bodies_option(app, options.max_bodies);
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (options.csv.empty() == options.gltf.empty())
        return complain("nothing to write; give --csv FILE or --gltf FILE", kExitUsage);
    if (options.gltf == "-") return complain("--gltf needs the name of a file", kExitUsage);
    if (options.from > options.to) return complain("--from is beyond --to", kExitUsage);
    int exit = kExitUsage;
    const std::optional<sim::Target> found = parse_target(target, exit);
    return found ? export_motion(options, *found) : exit;
}

}  // namespace orrery::server
