#include "server/cli/bench.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "protocol/scene/scene.h"
#include "server/cli/bench_scenes.h"
#include "server/cli/command_line.h"
#include "server/cli/simulate.h"
#include "server/room/rig_backend.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

constexpr std::uint32_t kMaxRepeat = 1000;

struct BenchOptions {
    std::vector<std::string> names;
    std::string target = "auto", solver = "auto", jacobi = "auto";
    std::optional<std::uint64_t> ticks;
    std::optional<std::uint32_t> substeps;
    std::uint32_t threads = 1, repeat = 1;
    bool profile = false, check = false, json = false, list = false;
};

void describe(CLI::App& app, BenchOptions& options) {
    app.add_option("NAME", options.names,
                   "scenes by name or prefix (S1, S3_4000, joint_grid); default: all that are not marked with *");
    app.add_option("--ticks", options.ticks,
                   "ticks instead of the scene's own; of S3 scenes the last half is timed, of others all")
        ->check(whole_number(1, kMaxRunTicks));
    app.add_option("--threads", options.threads, "threads inside a tick")
        ->check(whole_number(1, kMaxThreads))
        ->capture_default_str();
    app.add_option("--target", options.target, "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon")
        ->capture_default_str();
    app.add_option("--solver", options.solver,
                   "solver of all rigs: auto (the scene's own), coloured, direct, jacobi or block_jacobi")
        ->check(CLI::IsMember({"auto", "coloured", "direct", "jacobi", "block_jacobi"}))
        ->capture_default_str();
    add_jacobi_option(app, options.jacobi);
    app.add_option("--substeps", options.substeps, "substeps for each tick, instead of 4")
        ->check(whole_number(1, sim::kMaxSubsteps));
    app.add_option("--repeat", options.repeat,
                   "timed runs of each scene, in turn; the median is printed, and one more run measures quality")
        ->check(whole_number(1, kMaxRepeat))
        ->capture_default_str();
    app.add_flag("--profile", options.profile, "measure the stages of a tick, and hash and save");
    app.add_flag("--check", options.check,
                 "compare each scene with its targets (some also with two threads) and the hashes of repeated runs; "
                 "exit code 1 if one is missed");
    app.add_flag("--list", options.list, "print the names of all scenes and exit");
    app.add_flag("--json", options.json, "print one JSON object for each line instead of text");
    std::string scenes = "Scenes (*: by name only; with them, a bench of all scenes would take longer than a minute):";
    for (const BenchScene& scene : bench_scenes()) {
        std::string name = std::string(scene.name) + (scene.by_name_only ? " *" : "");
        name.resize(18, ' ');
        scenes += "\n  " + name + scene.about;
    }
    app.footer(scenes);
}

struct Outcome {
    const BenchScene* scene = nullptr;
    ReportHead head;
    std::vector<SimulateReport> runs;    // timed
    std::vector<SimulateReport> on_two;  // threads, each after the one of `runs`; where the scene has a target for it
    SimulateReport measured;             // the same ticks once more, for their quality
};

// Nothing else that was made on the way is left on the heap.
Result<std::shared_ptr<const sim::Definition>> load_definition(const std::string& text, const char* name,
                                                               const protocol::SceneOverrides& overrides) {
    Result<protocol::LoadedScene> loaded =
        protocol::load_scene({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, name, overrides);
    if (!loaded) return loaded.error();
    return sim::Definition::create(std::move(loaded->world));
}

// Timed steps follow one another with nothing between them, as other engines are timed. `measured`: instead of times,
// quality.
Result<SimulateReport> run_once(const BenchScene& scene, const BenchOptions& options, sim::Target target,
                                const RigBackend& rigs, std::uint32_t threads, bool measured, ReportHead& head) {
    const std::string text = scene.text(scene.count);
    protocol::SceneOverrides overrides;
    overrides.substeps = options.substeps;
    for (std::size_t i = 0; i < sim::kRigSolverCount; ++i) {
        const auto solver = static_cast<sim::RigSolver>(i);
        if (solver != sim::RigSolver::automatic && options.solver == sim::rig_solver_name(solver))
            overrides.rig_solver = solver;
    }
    const std::size_t before_definition = heap_bytes();
    const auto definition = load_definition(text, scene.name, overrides);
    if (!definition) return definition.error();
    const sim::WorldDef& def = (*definition)->def();
    std::optional<BenchQueries> queries;
    if (scene.queries.any()) queries.emplace(scene.queries);
    const std::size_t before_world = heap_bytes();
    Result<std::unique_ptr<sim::World>> world =
        sim::World::create(*definition, {.target = target, .rig_device = rigs.device.get()});
    if (!world) return world.error();
    for (std::uint64_t tick = 1; tick <= scene.settle_ticks; ++tick) {
        if (const sim::StepStatus status = (*world)->step(); status != sim::StepStatus::ok)
            return sim::step_error(status, tick);
    }
    SimulateSettings settings;
    settings.queries = queries ? &*queries : nullptr;
    settings.scene = scene.name;
    settings.threads = threads;
    settings.ticks = options.ticks.value_or(scene.ticks);
    settings.window_begin = scene.timed_last_half ? settings.ticks / 2 : 0;
    settings.quality = measured;
    settings.profile = options.profile && !measured;
    settings.time_going_back = !measured;
    if (scene.energy_scale_j) settings.energy_scale_j = scene.energy_scale_j(def);
    if (scene.track_last_body) settings.tracked_body = static_cast<std::uint32_t>(def.bodies.size() - 1);
    head = {scene.name, threads, def.substeps, options.profile, rigs.text};
    Result<SimulateReport> report = simulate(**world, settings);
    if (report) {
        report->standing.world_bytes =
            report->heap_bytes - before_world;  // before it went back: then its arena is small for a tick
        report->standing.definition_bytes = before_world - before_definition;
    }
    return report;
}

const SimulateReport& median_run(std::vector<SimulateReport>& runs) {
    std::sort(runs.begin(), runs.end(),
              [](const SimulateReport& a, const SimulateReport& b) { return a.ms_median < b.ms_median; });
    return runs[runs.size() / 2];
}

bool one_hash(const Outcome& outcome) {
    const auto same = [&](const SimulateReport& run) { return run.hash == outcome.measured.hash; };
    return std::all_of(outcome.runs.begin(), outcome.runs.end(), same) &&
           std::all_of(outcome.on_two.begin(), outcome.on_two.end(), same);
}

// What targets are stated for: the scene's own ticks, and its own solver or, with its own substeps, the coloured one.
bool stated_with(const BenchOptions& options, std::uint32_t substeps) {
    return !options.ticks && options.substeps.value_or(kBenchSubsteps) == substeps &&
           (options.solver == "auto" || (options.solver == "coloured" && substeps == kBenchSubsteps));
}
bool wants_two_threads(const BenchScene& scene, const BenchOptions& options) {
    return options.check && scene.two_threads_at_least > 0.0 && stated_with(options, kBenchSubsteps) &&
           options.threads == 1 && !options.profile && std::thread::hardware_concurrency() > 1;
}

// Whether it is met.
bool check_two_threads(Outcome& outcome) {
    const double least = outcome.scene->two_threads_at_least;
    if (outcome.on_two.empty()) {
        std::fprintf(stderr,
                     "check %s: two threads: not measured: needs two processors, --threads 1 and no --profile\n",
                     outcome.scene->name);
        return true;
    }
    const double times = median_run(outcome.runs).ms_median / median_run(outcome.on_two).ms_median;
    const bool met = times >= least;
    std::fprintf(stderr, "check %s: times as fast on two threads: %.2f, target at least %.2f: %s\n",
                 outcome.scene->name, times, least, met ? "met" : "MISSED");
    return met;
}
bool check_empty_world() {
    const auto definition = sim::Definition::create({});
    if (!definition) return false;
    const std::size_t before = heap_bytes();
    const auto world = sim::World::create(*definition);
    if (!world) return false;
    for (int tick = 0; tick < 3; ++tick) (*world)->step();
    const auto bytes = static_cast<double>(heap_bytes() - before);
    const bool met = bytes <= kEmptyWorldBytes;
    std::fprintf(stderr, "check an empty world: bytes: %.0f, target at most %.0f: %s\n", bytes, kEmptyWorldBytes,
                 met ? "met" : "MISSED");
    return met;
}

// Ratios to other engines' times need those engines beside; what is held here are hashes and the scenes' own figures.
int check(std::vector<Outcome>& outcomes, const BenchOptions& options) {
    int exit = check_empty_world() ? kExitGood : kExitFalse;
    for (Outcome& outcome : outcomes) {
        const char* scene = outcome.scene->name;
        const bool same = one_hash(outcome);
        std::fprintf(stderr, "check %s: %s\n", scene,
                     same ? "all runs have the same hash" : "runs have different hashes");
        if (!same) exit = kExitFalse;
        const std::span<const BenchTarget> targets = outcome.scene->targets;
        const auto stated = [&](const BenchTarget& target) { return stated_with(options, target.substeps); };
        if (targets.empty())
            std::fprintf(stderr, "check %s: no target is stated for this scene\n", scene);
        else if (std::none_of(targets.begin(), targets.end(), stated))
            std::fprintf(stderr,
                         "check %s: its targets hold for its own ticks and substeps and the solvers auto and coloured; "
                         "leave out --ticks, --substeps and other --solver\n",
                         scene);
        const SimulateReport& report = median_run(outcome.runs);
        for (const BenchTarget& target : targets) {
            if (!stated(target)) continue;
            if (target.stated_for != sim::Target::automatic && target.stated_for != report.target) {
                std::fprintf(stderr, "check %s: %s: not measured: this run is on %s\n", scene, target.what,
                             std::string(sim::target_name(report.target)).c_str());
                continue;
            }
            const double figure = target.figure(report);
            const bool met = figure <= target.at_most;  // not met by what is no number
            std::fprintf(stderr, "check %s: %s: %.4g, target at most %.4g: %s\n", scene, target.what, figure,
                         target.at_most, met ? "met" : "MISSED");
            if (!met) exit = kExitFalse;
        }
        if (stated_with(options, kBenchSubsteps) && outcome.scene->two_threads_at_least > 0.0 &&
            !check_two_threads(outcome))
            exit = kExitFalse;
    }
    return exit;
}

int run_scenes(const std::vector<const BenchScene*>& scenes, const BenchOptions& options, sim::Target target,
               const RigBackend& rigs) {
    std::vector<Outcome> outcomes(scenes.size());
    for (std::uint32_t round = 0; round < options.repeat; ++round) {
        for (std::size_t i = 0; i < scenes.size(); ++i) {
            outcomes[i].scene = scenes[i];
            for (const bool measured : {false, true}) {
                if (measured && round > 0) continue;
                Result<SimulateReport> report =
                    run_once(*scenes[i], options, target, rigs, options.threads, measured, outcomes[i].head);
                if (!report)
                    return complain(report.error(),
                                    report.error().code == ErrorCode::invalid_argument ? kExitUsage : kExitInternal);
                if (measured)
                    outcomes[i].measured = std::move(*report);
                else
                    outcomes[i].runs.push_back(std::move(*report));
            }
            if (wants_two_threads(*scenes[i], options)) {
                ReportHead head;
                Result<SimulateReport> report = run_once(*scenes[i], options, target, rigs, 2, false, head);
                if (!report) return complain(report.error(), kExitInternal);
                outcomes[i].on_two.push_back(std::move(*report));
            }
            for (SimulateReport& run : outcomes[i].runs) run.quality = outcomes[i].measured.quality;
            if (round + 1 < options.repeat) continue;
            const SimulateReport& median = median_run(outcomes[i].runs);
            std::printf(
                "%s\n",
                (options.json ? report_json(outcomes[i].head, median) : report_text(outcomes[i].head, median)).c_str());
            std::fflush(stdout);
        }
    }
    if (options.check) return check(outcomes, options);
    for (const Outcome& outcome : outcomes) {
        if (!one_hash(outcome))
            return complain(outcome.head.scene + ": repeated runs have different hashes", kExitFalse);
    }
    return kExitGood;
}

}  // namespace

int bench_command(const std::vector<std::string>& arguments) {
    CLI::App app("Runs the benchmark scenes and prints time, quality and hash of each.", "orrery bench");
    BenchOptions options;
    describe(app, options);
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (options.list) {
        for (const BenchScene& scene : bench_scenes()) std::printf("%s\n", scene.name);
        return kExitGood;
    }
    int exit = kExitGood;
    const std::optional<sim::Target> target = parse_target(options.target, exit);
    if (!target) return exit;
    std::string unknown;
    const std::vector<const BenchScene*> scenes = select_bench_scenes(options.names, unknown);
    if (scenes.empty())
        return complain("no benchmark scene is called \"" + unknown + "\" or begins with it (see orrery bench --list)",
                        kExitUsage);
    const Result<RigBackend> rigs = pick_rig_backend(options.jacobi);
    if (!rigs) return complain(rigs.error(), kExitMachine);
    return run_scenes(scenes, options, *target, *rigs);
}

}  // namespace orrery::server
