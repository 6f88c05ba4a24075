#include "server/cli/simulate.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "server/cli/command_line.h"
#include "server/cli/json_line.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kStateSampleTicks = 20;  // hash and save are timed once in so many ticks

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Adds up the time of each stage.
class StageClock final : public sim::StageObserver {
  public:
    void begin(sim::Stage) override { start_ = Clock::now(); }
    void end(sim::Stage stage) override { total_ms[static_cast<std::size_t>(stage)] += ms_since(start_); }

    std::array<double, sim::kStageCount> total_ms{};

  private:
    Clock::time_point start_;
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

std::string text_number(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

Result<SimulateReport> simulate(sim::World& world, const SimulateSettings& settings) {
    const std::unique_ptr<ThreadPool> pool =
        settings.threads > 1 ? std::make_unique<ThreadPool>(settings.threads) : nullptr;
    QualityMeter quality(world, settings.energy_scale_j, settings.tracked_body);
    StageClock stages;
    StateTimes state;
    std::vector<std::uint8_t> saved;
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(settings.ticks, 1u << 20)));
    SimulateReport report;
    for (std::uint64_t tick = 1; tick <= settings.ticks; ++tick) {
        const std::span<const sim::Command> commands =
            settings.commands ? settings.commands(tick) : std::span<const sim::Command>();
        const bool timed = tick > settings.window_begin;
        const Clock::time_point start = Clock::now();
        const sim::StepStatus status = world.step(commands, pool.get(), settings.profile && timed ? &stages : nullptr);
        if (timed) times.push_back(ms_since(start));
        if (status != sim::StepStatus::ok) {
            Error error = sim::step_error(status, tick);
            error.place = settings.scene + ": " + error.place;
            return error;
        }
        quality.sample(world);
        if (settings.profile && timed && tick % kStateSampleTicks == 0) state.sample(world, saved);
        if (settings.after_tick) {
            if (const Result<Ok> told = settings.after_tick(world, commands); !told) return told.error();
        }
    }
    std::sort(times.begin(), times.end());
    report.target = world.target();
    report.ticks = settings.ticks;
    report.ms_median = percentile(times, 0.5);
    report.ms_p99 = percentile(times, 0.99);
    report.hash = world.hash();
    report.stats = world.stats();
    report.quality = quality.figures();
    if (settings.profile && state.samples == 0) state.sample(world, saved);
    for (std::size_t i = 0; i < sim::kStageCount; ++i) {
        report.profile.stage_ms[i] = times.empty() ? 0.0 : stages.total_ms[i] / static_cast<double>(times.size());
    }
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
        .number("joints", report.stats.joints)
        .number("contacts", report.stats.touching_pairs)
        .number("ticks", report.ticks)
        .number("threads", head.threads)
        .text("target", sim::target_name(report.target))
        .text("jacobi", "none")
        .text("solver", "coloured")
        .number("substeps", head.substeps)
        .number("engine_version", sim::kEngineVersion)
        .text("cpu", cpu_name())
        .number("ms_median", report.ms_median)
        .number("ms_p99", report.ms_p99)
        .text("hash", hex16(report.hash.root))
        .object("quality", quality_json(report.quality));
    if (head.profile) {
        JsonLine profile;
        for (std::size_t i = 0; i < sim::kStageCount; ++i) {
            const auto stage = static_cast<sim::Stage>(i);
            if (stage != sim::Stage::hash) profile.number(sim::stage_name(stage), report.profile.stage_ms[i]);
        }
        profile.number("hash_ms", report.profile.hash_ms).number("save_ms", report.profile.save_ms);
        line.object("profile", profile);
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
    const Quality& quality = report.quality;
    if (quality.max_separation_m) {
        text += text_number("\n           joints apart: largest %.3f mm", *quality.max_separation_m * 1e3) +
                text_number(", mean %.4f mm", *quality.mean_separation_m * 1e3);
        for (const auto& [tick, apart] : quality.separation_at_m) {
            text += ", at tick " + std::to_string(tick) + text_number(" %.3f mm", apart * 1e3);
        }
    }
    if (quality.energy_drift) text += text_number("\n           energy drift %.2f %%", *quality.energy_drift * 100.0);
    if (quality.max_penetration_m)
        text += text_number("\n           deepest penetration %.2f mm", *quality.max_penetration_m * 1e3);
    if (quality.hinge_error_deg && quality.cone_error_deg) {
        text += text_number("\n           at most %.2f degrees beyond a hinge's limit", *quality.hinge_error_deg);
        text += text_number(", %.2f beyond a cone", *quality.cone_error_deg);
    }
    if (quality.top_displacement_m)
        text += text_number("\n           top body displaced by %.4f m", *quality.top_displacement_m);
    if (head.profile) {
        text += "\n           ms a tick:";
        for (std::size_t i = 0; i < sim::kStageCount; ++i) {
            const auto stage = static_cast<sim::Stage>(i);
            if (stage == sim::Stage::hash) continue;
            text += " " + std::string(sim::stage_name(stage)) + text_number(" %.4f", report.profile.stage_ms[i]);
        }
        text += text_number("; hash %.4f", report.profile.hash_ms) + text_number(", save %.4f", report.profile.save_ms);
    }
    return text;
}

}  // namespace orrery::server
