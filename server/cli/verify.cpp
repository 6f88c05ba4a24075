#include "server/cli/verify.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "protocol/scene/scene.h"
#include "server/room/replay_source.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

using protocol::replay::Verdict;
using protocol::replay::VerifyReport;

constexpr std::uint32_t kMaxVerifyThreads = 256;
constexpr int kExitGood = 0, kExitFalse = 1, kExitInput = 2, kExitMachine = 3, kExitUsage = 64;

Result<sim::WorldDef> load_recorded_scene(const protocol::replay::FileHeader& header) {
    auto scene = protocol::load_scene(header.scene, "the recorded scene");
    if (!scene) return scene.error();
    if (scene->scene_hash != header.scene_hash)
        return Error{ErrorCode::corrupt, "file header", "the recorded scene has another hash than the file header says"};
    return std::move(scene->world);
}

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') out += '\\';
        if (byte >= 0x20) {
            out += c;
            continue;
        }
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", byte);
        out += escape;
    }
    return out + "\"";
}

template <class T>
std::string number_or_null(const std::optional<T>& value) {
    return value ? std::to_string(*value) : "null";
}

std::string decimal(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

bool proved(const VerifyReport& report) { return report.verdict != Verdict::unreadable; }

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
    options.load_scene = load_recorded_scene;

    const auto begin = std::chrono::steady_clock::now();
    result.report = protocol::replay::verify(**source, options);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    if (proved(result.report) && result.report.ticks > 0 && wall.count() > 0.0)
        result.realtime_factor =
            static_cast<double>(result.report.ticks) / static_cast<double>(result.report.header.tick_rate_hz) / wall.count();
    return result;
}

int verify_exit_code(const VerifiedReplay& replay, const VerifySettings& settings) {
    const VerifyReport& report = replay.report;
    switch (report.verdict) {
        case Verdict::same: return settings.require_complete && !report.complete ? kExitFalse : kExitGood;
        case Verdict::diverged: return kExitFalse;
        case Verdict::unreadable: break;
    }
    return report.error.code == ErrorCode::unsupported_target ? kExitMachine : kExitInput;
}

std::string verify_text(const VerifiedReplay& replay, const VerifySettings& settings) {
    const VerifyReport& report = replay.report;
    std::string text = replay.path + ": " + std::string(verdict_name(report.verdict));
    if (!proved(report)) return text + ": " + report.error.to_string() + "\n";

    if (report.verdict == Verdict::diverged)
        text += " at tick " + std::to_string(*report.first_divergent_tick) + " in " + report.subsystem;
    const double seconds = static_cast<double>(report.ticks) / static_cast<double>(report.header.tick_rate_hz);
    text += ": " + std::to_string(report.ticks) + " ticks (" + decimal(seconds, 1) + " s) re-simulated and equal, at " +
            decimal(replay.realtime_factor, 1) + " x real time, target " + std::string(target_name(report.target)) +
            ", threads " + std::to_string(std::max(settings.threads, settings.parallel)) + "\n";
    if (!report.complete) text += replay.path + ": not complete: " + report.error.to_string() + "\n";
    return text;
}

std::string verify_json(const VerifiedReplay& replay, const VerifySettings& settings) {
    const VerifyReport& report = replay.report;
    std::string json = "{\"replay\": " + json_string(replay.path);
    json += ", \"ticks\": " + std::to_string(report.ticks);
    json += ", \"result\": " + json_string(verdict_name(report.verdict));
    json += std::string(", \"complete\": ") + (report.complete ? "true" : "false");
    json += ", \"corrupt_at_byte\": " + number_or_null(report.corrupt_at_byte);
    json += ", \"first_divergent_tick\": " + number_or_null(report.first_divergent_tick);
    json += ", \"subsystem\": " + (report.subsystem.empty() ? "null" : json_string(report.subsystem));
    json += ", \"realtime_factor\": " + (replay.realtime_factor > 0.0 ? decimal(replay.realtime_factor, 3) : "null");
    json += ", \"target\": " + json_string(target_name(report.target));
    json += ", \"threads\": " + std::to_string(std::max(settings.threads, settings.parallel));
    if (!report.error.message.empty()) json += ", \"error\": " + json_string(report.error.to_string());
    return json + "}\n";
}

int verify_command(const std::vector<std::string>& arguments) {
    VerifySettings settings;
    std::string target = "auto", jacobi = "cpu";
    bool json = false;
    CLI::App app("Re-simulates replays and compares the hash of every tick.\n"
                 "Exit codes: 0 all the same; 1 one diverged (or is not complete, with --require-complete); 2 one is "
                 "unreadable, corrupt or of another engine version; 3 this machine lacks what was asked; 64 usage.",
                 "orrery verify");
    app.add_option("REPLAY", settings.replays, "replay files")->required();
    app.add_option("--target", target, "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon, wasm");
    auto* threads = app.add_option("--threads", settings.threads, "workers inside a tick")
                        ->check(CLI::Range(1u, kMaxVerifyThreads));
    app.add_option("--parallel", settings.parallel, "stretches between keyframes that are verified at a time")
        ->check(CLI::Range(1u, kMaxVerifyThreads))->excludes(threads);
    app.add_option("--jacobi", jacobi, "backend of large rigs")->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_flag("--require-complete", settings.require_complete, "fail on a recording that was not closed");
    app.add_flag("--json", json, "one JSON object a replay");
    try {
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kExitGood : kExitUsage;
    }
    const auto refuse = [](int code, const std::string& why) {
        std::fprintf(stderr, "orrery verify: %s\n", why.c_str());
        return code;
    };
    const auto found = sim::target_from_name(target);
    if (!found)
        return refuse(found.error().code == ErrorCode::unsupported_target ? kExitMachine : kExitUsage,
                      found.error().to_string());
    settings.target = *found;
    if (jacobi == "cuda") return refuse(kExitMachine, "--jacobi cuda: this program has no CUDA backend; use cpu, the bits are the same");

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
