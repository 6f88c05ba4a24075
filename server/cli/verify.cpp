#include "server/cli/verify.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/cli/verify_plan.h"
#include "server/room/replay_source.h"
#include "server/room/rig_backend.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

using protocol::replay::Verdict;
using protocol::replay::VerifyReport;

std::string decimal(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

bool proved(const VerifyReport& report) { return report.verdict != Verdict::unreadable; }

// " at tick 31 in joints", and how the subsystem is known if that tick's hashes do not say it.
std::string divergence_text(const VerifyReport& report) {
    const std::uint64_t tick = *report.first_divergent_tick;
    std::string text = " at tick " + std::to_string(tick) + " in " + report.subsystem;
    if (!report.subsystem_tick || *report.subsystem_tick == tick) return text;
    const std::string later = std::to_string(*report.subsystem_tick);
    return report.subsystem == "root" ? " at tick " + std::to_string(tick) + " (the subsystem is not known: at tick " +
                                            later + ", the next with a hash of each, all are equal)"
                                      : text + " (by tick " + later + ", the next with a hash of each subsystem)";
}

JsonLine counts_of(const protocol::replay::AncillaryCounts& counts) {
    JsonLine line;
    line.number("players", counts.players).number("resumes", counts.resumes).number("hosts", counts.hosts);
    line.number("notes", counts.notes).number("signs", counts.signs).number("unknown", counts.unknown);
    return line;
}

}  // namespace

VerifiedReplay verify_replay(const std::string& path, const VerifySettings& settings) {
    VerifiedReplay result{.path = path, .report = {}};
    auto source = ReplaySource::open(path);
    if (!source) {
        result.report.error = source.error();
        result.report.error.place.clear();  // the path is printed anyway
        return result;
    }
    std::unique_ptr<ThreadPool> pool;
    const std::uint32_t workers = std::max(settings.threads, settings.parallel);
    if (workers > 1) pool = std::make_unique<ThreadPool>(workers);
    protocol::replay::VerifyOptions options;
    options.target = settings.target;
    options.executor = settings.parallel > 1 ? nullptr : pool.get();
    options.stretches = settings.parallel > 1 ? pool.get() : nullptr;
    options.rig_device = settings.rig_device;
    options.load_scene = [&settings](const protocol::replay::FileHeader& header) {
        return protocol::replay::load_recorded_scene(header, settings.max_bodies);
    };

    const auto begin = std::chrono::steady_clock::now();
    result.report = protocol::replay::verify(**source, options);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    if (proved(result.report) && result.report.ticks > 0 && wall.count() > 0.0)
        result.realtime_factor = static_cast<double>(result.report.ticks) /
                                 static_cast<double>(result.report.header.tick_rate_hz) / wall.count();
    return result;
}

int verify_exit_code(const VerifiedReplay& replay, const VerifySettings& settings) {
    const VerifyReport& report = replay.report;
    switch (report.verdict) {
        case Verdict::same:
            return settings.require_complete && !report.complete ? kExitFalse : kExitGood;
        case Verdict::diverged:
            return kExitFalse;
        case Verdict::unreadable:
            break;
    }
    return exit_code_of(report.error);
}

std::string verify_text(const VerifiedReplay& replay, const VerifySettings& settings) {
    const VerifyReport& report = replay.report;
    std::string text = replay.path + ": " + std::string(verdict_name(report.verdict));
    if (!proved(report)) return text + ": " + report.error.to_string() + "\n";

    if (report.verdict == Verdict::diverged) text += divergence_text(report);
    const double seconds = static_cast<double>(report.ticks) / static_cast<double>(report.header.tick_rate_hz);
    text += ": " + std::to_string(report.ticks) + " ticks (" + decimal(seconds, 1) + " s) re-simulated and equal, at " +
            decimal(replay.realtime_factor, 1) + " x real time, target " + std::string(target_name(report.target)) +
            ", threads " + std::to_string(std::max(settings.threads, settings.parallel));
    if (report.header.first_tick > 0) text += ", from the keyframe of tick " + std::to_string(report.header.first_tick);
    if (report.ancillary.unknown > 0)
        text += ", " + std::to_string(report.ancillary.unknown) + " chunks of kinds that this version does not know";
    text += "\n";
    if (!report.complete) text += replay.path + ": not complete: " + report.error.to_string() + "\n";
    return text;
}

std::string verify_json(const VerifiedReplay& replay, const VerifySettings& settings) {
    const VerifyReport& report = replay.report;
    const std::optional<double> null;
    const auto count = [&](JsonLine& line, std::string_view name, const std::optional<std::uint64_t>& value) {
        value ? line.number(name, *value) : line.number(name, null);
    };
    JsonLine line;
    line.text("replay", replay.path).number("ticks", report.ticks).text("result", verdict_name(report.verdict));
    line.boolean("complete", report.complete);
    count(line, "corrupt_at_byte", report.corrupt_at_byte);
    count(line, "first_divergent_tick", report.first_divergent_tick);
    report.subsystem.empty() ? line.number("subsystem", null) : line.text("subsystem", report.subsystem);
    line.number("realtime_factor", replay.realtime_factor > 0.0 ? std::optional(replay.realtime_factor) : null);
    line.text("target", target_name(report.target)).number("threads", std::max(settings.threads, settings.parallel));
    count(line, "subsystem_tick", report.subsystem_tick);
    line.number("first_tick", report.header.first_tick).object("ancillary", counts_of(report.ancillary));
    if (!report.error.message.empty()) line.text("error", report.error.to_string());
    return line.str() + "\n";
}

int verify_command(const std::vector<std::string>& arguments) {
    if (is_plan_command(arguments)) return plan_command(arguments);
    VerifySettings settings;
    std::string target = "auto", jacobi = "auto";
    bool json = false;
    CLI::App app("Re-simulates replays and compares the hash of every tick, and every keyframe.", "orrery verify");
    app.add_option("REPLAY", settings.replays, "replay files")->required();
    app.add_option("--target", target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon, wasm (the bits are the same)");
    auto* threads = app.add_option("--threads", settings.threads, "threads inside a tick (no bit depends on it)")
                        ->check(whole_number(1, kMaxThreads))
                        ->capture_default_str();
    app.add_option("--parallel", settings.parallel, "number of parts between keyframes that are verified in parallel")
        ->check(whole_number(1, kMaxThreads))
        ->excludes(threads)
        ->capture_default_str();
    app.footer(plan_help());
    add_jacobi_option(app, jacobi);
    add_max_bodies_option(app, settings.max_bodies);
    app.add_flag("--require-complete", settings.require_complete, "exit code 1 for a recording that was not closed");
    app.add_flag("--json", json, "print one JSON object for each replay instead of text");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    int exit = kExitGood;
    const std::optional<sim::Target> found = parse_target(target, exit);
    if (!found) return exit;
    settings.target = *found;
    const Result<RigBackend> backend = pick_rig_backend(jacobi);
    if (!backend) return complain(backend.error(), kExitMachine);
    settings.rig_device = backend->device.get();

    int worst = kExitGood;
    for (const std::string& path : settings.replays) {
        const VerifiedReplay replay = verify_replay(path, settings);
        worst = std::max(worst, verify_exit_code(replay, settings));
        std::FILE* out = json || proved(replay.report) ? stdout : stderr;
        std::fputs((json ? verify_json(replay, settings) : verify_text(replay, settings)).c_str(), out);
        std::fflush(out);
    }
    return worst;
}

}  // namespace orrery::server
