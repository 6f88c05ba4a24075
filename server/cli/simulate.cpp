#include "server/cli/simulate.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/base/build_info.h"
#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/room/rejections.h"
#include "server/room/rig_faults.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kStateSampleTicks = 20;  // hash and save are timed once in so many ticks

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Adds up the time of each stage, and of the tasks in it that workers may share; runs them on `pool`, or by itself.
class StageClock final : public sim::StageObserver, public sim::Executor {
  public:
    explicit StageClock(ThreadPool* pool) : pool_(pool) {}
    void begin(sim::Stage) override { start_ = Clock::now(), spread_ms_ = 0.0; }
    void end(sim::Stage stage) override {
        total_ms[static_cast<std::size_t>(stage)] += ms_since(start_);
        spread_ms[static_cast<std::size_t>(stage)] += spread_ms_;
    }
    // Never 1, which would keep tasks from being handed out at all.
    std::uint32_t worker_count() const override { return std::max(2u, pool_ ? pool_->worker_count() : 1u); }
    void run(std::uint32_t count, Task task, void* context) override {
        const Clock::time_point start = Clock::now();
        if (pool_) {
            pool_->run(count, task, context);
        } else {
            for (std::uint32_t i = 0; i < count; ++i) task(context, i);
        }
        if (count > 1) spread_ms_ += ms_since(start);
    }

    std::array<double, sim::kStageCount> total_ms{}, spread_ms{};

  private:
    ThreadPool* pool_;
    Clock::time_point start_;
    double spread_ms_ = 0.0;
};

double percentile(const std::vector<double>& sorted, double part) {
    if (sorted.empty()) return 0.0;
    return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
}

struct StateTimes {
    double hash_ms = 0.0, save_ms = 0.0;
    std::uint64_t samples = 0;

    void sample(const sim::World& world, std::vector<std::uint8_t>& bytes) {
        Clock::time_point start = Clock::now();
        static_cast<void>(world.hash());
        hash_ms += ms_since(start);
        bytes.clear();
        start = Clock::now();
        world.save(bytes);
        save_ms += ms_since(start);
        ++samples;
    }
};

// The world ends in the state that it is in.
Standing time_going_back(sim::World& world) {
    constexpr int kRounds = 5;
    const auto shortest = [](auto work) {
        double best = 1e300;
        for (int i = 0; i < kRounds; ++i) {
            const Clock::time_point start = Clock::now();
            work();
            best = std::min(best, ms_since(start));
        }
        return best;
    };
    Standing standing;
    std::vector<std::uint8_t> saved;
    sim::Checkpoint checkpoint;
    standing.save_ms = shortest([&] { world.save(saved); });
    standing.save_bytes = saved.size();
    standing.checkpoint_ms = shortest([&] { world.checkpoint(checkpoint); });
    standing.restore_ms = shortest([&] { static_cast<void>(world.restore(saved)); });
    standing.roll_back_ms = shortest([&] { static_cast<void>(world.roll_back(checkpoint)); });
    standing.first_step_ms = 1e300;
    for (int i = 0; i < kRounds; ++i) {
        static_cast<void>(world.restore(saved));
        const Clock::time_point start = Clock::now();
        world.step();
        standing.first_step_ms = std::min(standing.first_step_ms, ms_since(start));
    }
    static_cast<void>(world.restore(saved));
    return standing;
}

double share(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

std::string text_number(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

Result<SimulateReport> simulate(sim::World& world, const SimulateSettings& settings) {
    const std::unique_ptr<ThreadPool> pool =
        settings.threads > 1 ? std::make_unique<ThreadPool>(settings.threads) : nullptr;
    std::optional<QualityMeter> quality(std::in_place, world, settings.energy_scale_j, settings.tracked_body);
    StageClock stages(pool.get());
    double solved = 0.0, bundles = 0.0, pairs = 0.0;
    StateTimes state;
    std::vector<std::uint8_t> saved;
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(settings.ticks, 1u << 20)));
    SimulateReport report;
    sim::DeviceTimes& device = report.profile.device;
    for (std::uint64_t tick = 1; tick <= settings.ticks; ++tick) {
        const std::span<const sim::Command> commands =
            settings.commands ? settings.commands(tick) : std::span<const sim::Command>();
        const bool timed = tick > settings.window_begin;
        const bool profiled = settings.profile && timed;
        if (settings.queries) settings.queries->prepare();
        const Clock::time_point start = Clock::now();
        const sim::StepStatus status =
            profiled ? world.step(commands, &stages, &stages) : world.step(commands, pool.get());
        const Clock::time_point stepped = Clock::now();
        if (settings.queries) settings.queries->ask(world, pool.get());
        if (profiled) report.profile.queries_ms += ms_since(stepped);
        if (timed) times.push_back(ms_since(start));
        if (settings.queries) settings.queries->note();
        if (status != sim::StepStatus::ok) {
            Error error = sim::step_error(status, tick);
            error.place = settings.scene + ": " + error.place;
            return error;
        }
        if (settings.quality) quality->sample(world);
        if (!commands.empty()) report.rejected_commands += count_rejected(world.events());
        if (profiled) {
            const sim::WorldStats stats = world.stats();
            solved += stats.solved_constraints, bundles += stats.bundles, pairs += stats.candidate_pairs;
            device.send_ms += stats.device_times.send_ms;
            device.solve_ms += stats.device_times.solve_ms;
            device.return_ms += stats.device_times.return_ms;
            if (tick % kStateSampleTicks == 0) state.sample(world, saved);
        }
        if (settings.after_tick) {
            if (const Result<Ok> told = settings.after_tick(world, commands); !told) return told.error();
        }
    }
    report.quality = quality->figures();
    quality.reset();
    std::vector<std::uint8_t>().swap(saved);
    report.heap_bytes = heap_bytes();
    std::sort(times.begin(), times.end());
    report.target = world.target();
    const sim::WorldDef& def = world.definition();
    const bool rigs = !def.rigs.empty() || def.solver.rig_joints > 0;
    report.solver = sim::rig_solver_name(rigs ? def.solver.rig_solver : sim::RigSolver::coloured);
    report.ticks = settings.ticks;
    report.ms_median = percentile(times, 0.5);
    report.ms_p99 = percentile(times, 0.99);
    report.ms_least = percentile(times, 0.0);
    report.hash = world.hash();
    if (settings.queries) {
        report.hash.root = settings.queries->digest(report.hash.root);
        report.queries = settings.queries->asked(), report.queries_found = settings.queries->found();
    }
    report.stats = world.stats();
    report.rig_faults = rig_fault_texts(report.stats.rig_faults, world.definition());
    if (settings.profile) state.sample(world, saved);
    if (settings.time_going_back) report.standing = time_going_back(world);
    const double ticks = static_cast<double>(std::max<std::size_t>(times.size(), 1));
    for (std::size_t i = 0; i < sim::kStageCount; ++i) {
        report.profile.stage_ms[i] = stages.total_ms[i] / ticks;
        report.profile.spread_ms[i] = stages.spread_ms[i] / ticks;
    }
    report.profile.lanes_filled = bundles > 0.0 ? solved / bundles : 0.0;
    report.profile.pairs = pairs / ticks;
    report.profile.queries_ms /= ticks;
    for (float* sum : {&device.send_ms, &device.solve_ms, &device.return_ms}) *sum /= static_cast<float>(ticks);
    if (state.samples > 0) {
        report.profile.hash_ms = state.hash_ms / static_cast<double>(state.samples);
        report.profile.save_ms = state.save_ms / static_cast<double>(state.samples);
    }
    return report;
}

std::string report_json(const ReportHead& head, const SimulateReport& report) {
    JsonLine line;
    line.text("scene", head.scene)
        .number("bodies", report.stats.bodies)
        .number("sleeping", report.stats.sleeping_bodies)
        .number("joints", report.stats.joints)
        .number("contacts", report.stats.touching_pairs)
        .number("ticks", report.ticks)
        .number("threads", head.threads)
        .text("target", sim::target_name(report.target))
        .text("jacobi", report.stats.rigs == 0         ? "none"
                        : report.stats.device_rigs > 0 ? "cuda"
                                                       : "cpu")
        .text("solver", std::string(report.solver))
        .number("rigs_beyond_limits", report.stats.rig_faults.beyond_limits)
        .number("idle_rigs", report.stats.rig_faults.idle)
        .texts("rig_faults", report.rig_faults)
        .number("rejected_commands", report.rejected_commands)
        .number("bounds", report.bounds)
        .number("bounds_broken", report.bounds_broken)
        .number("bounds_not_reached", report.bounds_not_reached)
        .number("queries", report.queries)
        .number("queries_found", report.queries_found)
        .number("substeps", head.substeps)
        .number("engine_version", sim::kEngineVersion)
        .text("cpu", cpu_name())
        .number("ms_median", report.ms_median)
        .number("ms_p99", report.ms_p99)
        .number("ms_least", report.ms_least)
        .text("hash", hex16(report.hash.root))
        .object("quality", quality_json(report.quality));
    if (head.profile) {
        JsonLine profile;
        for (std::size_t i = 0; i < sim::kStageCount; ++i) {
            const auto stage = static_cast<sim::Stage>(i);
            if (stage != sim::Stage::hash) profile.number(sim::stage_name(stage), report.profile.stage_ms[i]);
        }
        profile.number("hash_ms", report.profile.hash_ms).number("save_ms", report.profile.save_ms);
        if (report.queries != 0) profile.number("queries_ms", report.profile.queries_ms);
        JsonLine spread;
        for (std::size_t i = 0; i < sim::kStageCount; ++i) {
            const auto stage = static_cast<sim::Stage>(i);
            if (stage != sim::Stage::hash)
                spread.number(sim::stage_name(stage), share(report.profile.spread_ms[i], report.profile.stage_ms[i]));
        }
        profile.object("parallel_share", spread);
        const double bodies = report.stats.bodies;
        profile.number("lanes_filled", report.profile.lanes_filled).number("pairs", report.profile.pairs);
        profile.number("possible_pairs", bodies * (bodies - 1.0) / 2.0);
        if (report.stats.device_rigs > 0)
            profile.object("device", JsonLine()
                                         .number("send_ms", report.profile.device.send_ms)
                                         .number("solve_ms", report.profile.device.solve_ms)
                                         .number("return_ms", report.profile.device.return_ms));
        line.object("profile", profile);
    }
    const Standing& standing = report.standing;
    if (standing.save_bytes != 0) {
        line.object("standing", JsonLine()
                                    .number("save_ms", standing.save_ms)
                                    .number("restore_ms", standing.restore_ms)
                                    .number("checkpoint_ms", standing.checkpoint_ms)
                                    .number("roll_back_ms", standing.roll_back_ms)
                                    .number("first_step_ms", standing.first_step_ms)
                                    .number("save_bytes", standing.save_bytes)
                                    .number("world_bytes", standing.world_bytes)
                                    .number("definition_bytes", standing.definition_bytes));
    }
    return line.str();
}

std::string report_text(const ReportHead& head, const SimulateReport& report) {
    std::string text = head.scene;
    text.append(text.size() < 10 ? 10 - text.size() : 0, ' ');
    text += text_number(" median %.3f ms", report.ms_median) + text_number(", p99 %.3f ms a tick", report.ms_p99);
    text += ", " + std::to_string(report.stats.bodies) + " bodies, " + std::to_string(report.stats.joints) +
            " joints, " + std::to_string(report.stats.touching_pairs) + " contacts, " + std::to_string(report.ticks) +
            " ticks, " + std::to_string(head.substeps) + " substeps, " + std::to_string(head.threads) + " thread" +
            (head.threads == 1 ? "" : "s") + ", " + std::string(sim::target_name(report.target)) + ", hash " +
            hex16(report.hash.root);
    if (report.stats.rigs != 0) {
        const bool asked = report.stats.device_rigs > 0 || head.rigs.starts_with("CPU");
        text += "\n           " + std::to_string(report.stats.rigs) + (report.stats.rigs == 1 ? " rig" : " rigs") +
                ", solved on the " + (asked ? head.rigs : "CPU, not on the " + head.rigs);
    }
    for (const std::string& fault : report.rig_faults) text += "\n           " + fault;
    if (report.rejected_commands == 1) text += "\n           1 command was rejected";
    if (report.rejected_commands > 1)
        text += "\n           " + std::to_string(report.rejected_commands) + " commands were rejected";
    if (report.bounds != 0)
        text +=
            "\n           " + std::to_string(report.bounds - report.bounds_broken - report.bounds_not_reached) +
            " of the scene's " + std::to_string(report.bounds) + " bounds kept" +
            (report.bounds_not_reached != 0 ? ", " + std::to_string(report.bounds_not_reached) + " begin later" : "");
    if (report.queries != 0)
        text += "\n           " + std::to_string(report.queries / report.ticks) + " queries a tick, of which " +
                text_number("%.1f %% found something", 100.0 * share(static_cast<double>(report.queries_found),
                                                                     static_cast<double>(report.queries)));
    const Quality& quality = report.quality;
    if (quality.max_separation_m) {
        text += text_number("\n           joints apart: largest %.3f mm", *quality.max_separation_m * 1e3) +
                text_number(" (on average over ticks %.3f mm)", *quality.mean_max_separation_m * 1e3) +
                text_number(", mean %.4f mm", *quality.mean_separation_m * 1e3);
        for (const auto& [tick, apart] : quality.separation_at_m) {
            text += ", at tick " + std::to_string(tick) + text_number(" %.3f mm", apart * 1e3);
        }
    }
    if (quality.quarantined != 0)
        text += "\n           " + std::to_string(quality.quarantined) +
                " bodies quarantined: the scene flew apart, and its other figures have no meaning";
    if (quality.speed_limited != 0)
        text += "\n           bodies reached a speed limit " + std::to_string(quality.speed_limited) + " times";
    if (quality.energy_drift) {
        text += text_number("\n           energy drift %.2f %%", *quality.energy_drift * 100.0) +
                text_number(", after any tick at most %.3f %%", *quality.max_energy_drift * 100.0);
    }
    if (quality.max_penetration_m)
        text += text_number("\n           deepest penetration %.2f mm", *quality.max_penetration_m * 1e3) +
                text_number(", at the end %.2f mm", *quality.end_penetration_m * 1e3);
    if (quality.kinetic_j)
        text += text_number("\n           kinetic energy of a body at the end %.4f J", *quality.kinetic_j);
    if (quality.hinge_error_deg && quality.cone_error_deg) {
        text += text_number("\n           at most %.2f degrees beyond a hinge's limit", *quality.hinge_error_deg);
        text += text_number(", %.2f beyond a cone", *quality.cone_error_deg);
        text += text_number("; on average %.3f", *quality.mean_hinge_error_deg) +
                text_number(" and %.3f", *quality.mean_cone_error_deg);
    }
    if (quality.top_displacement_m)
        text += text_number("\n           top body displaced by %.4f m", *quality.top_displacement_m) +
                text_number(", any by at most %.4f m", *quality.max_displacement_m);
    if (head.profile) {
        text += "\n           ms a tick:";
        for (std::size_t i = 0; i < sim::kStageCount; ++i) {
            const auto stage = static_cast<sim::Stage>(i);
            if (stage == sim::Stage::hash) continue;
            text += " " + std::string(sim::stage_name(stage)) + text_number(" %.4f", report.profile.stage_ms[i]);
            text += text_number(" (%.0f %%)", 100.0 * share(report.profile.spread_ms[i], report.profile.stage_ms[i]));
        }
        if (report.queries != 0) text += text_number("; queries %.4f", report.profile.queries_ms);
        text += text_number("; hash %.4f", report.profile.hash_ms) + text_number(", save %.4f", report.profile.save_ms);
        const double bodies = report.stats.bodies;
        text += "\n           (%: spread over workers), " +
                text_number("%.1f of 16 lanes filled", report.profile.lanes_filled);
        text += text_number(", %.0f pairs tested", report.profile.pairs) +
                text_number(" of %.0f", bodies * (bodies - 1.0) / 2.0);
        if (report.stats.device_rigs > 0) {
            const auto ms = [](const char* format, float value) {
                return text_number(format, static_cast<double>(value));
            };
            const sim::DeviceTimes& device = report.profile.device;
            text += ms("\n           the device's own ms a tick: send %.4f", device.send_ms) +
                    ms(", solve %.4f", device.solve_ms) + ms(", return %.4f", device.return_ms);
        }
    }
    const Standing& standing = report.standing;
    if (standing.save_bytes != 0) {
        text += "\n           last state: save " + text_number("%.3f ms, ", standing.save_ms) +
                std::to_string(standing.save_bytes) + text_number(" bytes; restore %.3f ms", standing.restore_ms) +
                text_number(" (the first step after it %.3f ms)", standing.first_step_ms) +
                text_number(", checkpoint %.3f ms", standing.checkpoint_ms) +
                text_number(", roll back %.3f ms; ", standing.roll_back_ms) + std::to_string(standing.world_bytes) +
                " bytes of memory, " + std::to_string(standing.definition_bytes) +
                " bytes of the definition that worlds of a scene share";
    }
    return text;
}

}  // namespace orrery::server
