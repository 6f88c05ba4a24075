#include "server/cli/verify_plan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "protocol/replay/plan_file.h"
#include "server/base/key_file.h"
#include "server/base/scene_file.h"
#include "server/base/trust_file.h"
#include "server/cli/command_line.h"
#include "server/cli/verify.h"
#include "server/cli/verify_execution.h"
#include "server/room/replay_source.h"

namespace orrery::server {

namespace {

namespace replay = protocol::replay;

std::string_view text_of(const std::vector<std::uint8_t>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Prints a verdict as `orrery verify` does; gives its exit code.
int tell(const VerifiedReplay& verified, const VerifySettings& settings, bool json) {
    std::FILE* out = json || verified.report.verdict != replay::Verdict::unreadable ? stdout : stderr;
    std::fputs((json ? verify_json(verified, settings) : verify_text(verified, settings)).c_str(), out);
    return verify_exit_code(verified, settings);
}

double realtime_factor(const replay::VerifyReport& report, float tick_rate_hz, double seconds) {
    if (report.ticks == 0 || !(seconds > 0.0)) return 0.0;
    return static_cast<double>(report.ticks) / static_cast<double>(tick_rate_hz) / seconds;
}

Result<replay::Plan> read_plan_file(const std::string& path) {
    const auto bytes = read_file(path, replay::kMaxPlanBytes, "kMaxPlanBytes");
    if (!bytes) return bytes.error();
    return replay::read_plan(text_of(*bytes), path);
}

// --plan

int make_plan(const std::vector<std::string>& arguments) {
    std::uint32_t segments = 1;
    std::string path;
    bool json = false;
    CLI::App app(
        "Surveys a recording (bytes, chain, signatures), cuts it at keyframes into segments of about as many ticks, "
        "and "
        "prints the plan, a JSON file.",
        "orrery verify");
    app.add_option("--plan", segments, "number of segments; there are fewer if there are too few keyframes")
        ->check(whole_number(1, replay::kMaxSegments))
        ->required();
    app.add_option("REPLAY", path, "replay file; the plan has its name as it is written here")->required();
    app.add_flag("--json", json, "print the verdict on a recording that has no plan as one JSON object");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    VerifiedReplay verified{.path = path, .report = {}};
    const auto unreadable = [&](Error error) {
        verified.report.error = std::move(error);
        return tell(verified, {}, json);
    };
    const auto source = ReplaySource::open(path);
    if (!source) return unreadable({source.error().code, "", source.error().message});
    replay::Survey seen;
    if (!replay::check_bytes(**source, seen, verified.report)) return tell(verified, {}, json);
    const Result<replay::Plan> plan = replay::make_plan(**source, seen, path, segments);
    if (!plan) return unreadable(plan.error());
    const Result<std::string> text = replay::plan_text(*plan);
    if (!text) return complain(text.error(), kExitInput);
    std::fputs(text->c_str(), stdout);
    std::uint64_t longest = 0;
    for (std::size_t i = 1; i < plan->borders.size(); ++i)
        longest = std::max(longest, plan->borders[i].tick - plan->borders[i - 1].tick);
    std::fprintf(stderr, "%s: segments 0 to %u, the longest of %llu ticks\n", path.c_str(), plan->segments() - 1,
                 static_cast<unsigned long long>(longest));
    return kExitGood;
}

// --segment

struct SegmentOptions {
    std::string plan, file, out = ".", worker_key;
    std::uint32_t segment = 0;
    VerifySettings settings;
};

std::string result_name(std::uint32_t segment) {
    char name[32];
    std::snprintf(name, sizeof name, "segment-%03u.json", segment);
    return name;
}

// A file under a name of its own until it is whole: whoever reads `name` finds this one, one of another run, or none.
Result<Ok> write_by_rename(const std::string& folder, const std::string& name, std::string_view text) {
    const std::string path = folder + "/" + name;
    std::string part = folder + "/." + name + ".XXXXXX";
    const auto failed = [&](const char* call) {
        const Error error{ErrorCode::io, path,
                          std::string(call) + ": " + std::strerror(errno) + ": name a folder that can be written"};
        if (!part.ends_with("XXXXXX")) ::unlink(part.c_str());
        return error;
    };
    std::error_code made;
    std::filesystem::create_directories(folder, made);  // a failure shows in the file
    const int file = ::mkostemp(part.data(), O_CLOEXEC);
    if (file < 0) return failed("mkstemp");
    bool good = ::fchmod(file, 0644) == 0;
    while (good && !text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        good = written > 0;
        if (good) text.remove_prefix(static_cast<std::size_t>(written));
    }
    good = good && ::fsync(file) == 0;
    const int fault = errno;
    ::close(file);
    errno = fault;
    if (!good) return failed("write");
    if (::rename(part.c_str(), path.c_str()) != 0) return failed("rename");
    return Ok{};
}

Result<replay::SegmentResult> simulate_segment(const SegmentOptions& options, const replay::Plan& plan,
                                               const std::string& path) {
    const auto source = ReplaySource::open(path);
    if (!source) return source.error();
    const VerifyRun run(options.settings);
    const auto begin = std::chrono::steady_clock::now();
    Result<replay::SegmentResult> result = replay::verify_segment(**source, plan, options.segment, run.options);
    const auto wall = std::chrono::steady_clock::now() - begin;
    if (!result)
        return Error{result.error().code, path + (result.error().place.empty() ? "" : ": " + result.error().place),
                     result.error().message};
    result->microseconds =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(wall).count());
    return result;
}

int verify_one_segment(const SegmentOptions& options, bool json) {
    const Result<replay::Plan> plan = read_plan_file(options.plan);
    if (!plan) return complain(plan.error(), kExitInput);
    const std::uint32_t segment = options.segment;
    if (segment >= plan->segments())
        return complain("--segment " + std::to_string(segment) + ": the segments of " + options.plan + " are 0 to " +
                            std::to_string(plan->segments() - 1),
                        kExitUsage);
    std::optional<replay::SigningKey> key;
    if (!options.worker_key.empty()) {
        Result<protocol::Key> seed = read_key_file(options.worker_key);
        if (!seed) return complain(seed.error(), kExitInput);
        forbid_core_files();
        key = replay::make_signing_key(*seed);
        protocol::wipe(*seed);
    }
    const std::string path = options.file.empty() ? plan->file : options.file;
    Result<replay::SegmentResult> result = simulate_segment(options, *plan, path);
    if (!result) return complain(result.error(), kExitInput);
    if (key) replay::sign(*result, *key);
    const std::string text = replay::result_text(*result);
    if (const Result<Ok> written = write_by_rename(options.out, result_name(segment), text); !written)
        return complain(written.error(), kExitMachine);
    const double seconds = static_cast<double>(result->microseconds) * 1e-6;
    const VerifiedReplay verified{
        .path = path + " segment " + std::to_string(segment) + " of " + std::to_string(plan->segments()),
        .report = result->report,
        .realtime_factor = realtime_factor(result->report, plan->recording.tick_rate_hz, seconds)};
    return tell(verified, options.settings, json);
}

int verify_segment(const std::vector<std::string>& arguments) {
    SegmentOptions options;
    VerifySettings& settings = options.settings;
    ExecutionOptions execution;
    bool json = false;
    CLI::App app(
        "Verifies one segment of a plan: reads the file header and the bytes of the segment alone, simulates it, "
        "compares "
        "the keyframe that the next one begins with, and writes the result. The exit code is that of the verdict.",
        "orrery verify");
    app.add_option("--segment", options.segment, "the segment, from 0; its result is segment-III.json")
        ->check(whole_number(0, replay::kMaxSegments - 1))
        ->required();
    app.add_option("PLAN", options.plan, "file that `orrery verify --plan` printed")->required();
    app.add_option("--file", options.file, "the recording, if it is not where the plan says");
    app.add_option("--out", options.out, "folder of the result, which replaces that of a run before")
        ->capture_default_str();
    app.add_option("--worker-key", options.worker_key,
                   "sign the result: file of a secret key, 64 hex digits, mode 0600");
    execution.add_to(app, settings);
    app.add_flag("--json", json, "print one JSON object instead of text");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (const std::optional<int> exit = execution.apply(settings)) return *exit;
    return verify_one_segment(options, json);
}

// --merge

int merge_results(const std::vector<std::string>& arguments) {
    std::string plan_path, trust, workers;
    std::vector<std::string> paths;
    VerifySettings settings;
    bool merge = false, json = false;
    CLI::App app(
        "Says what `orrery verify` says of the recording of a plan, from the results of its segments: all of one file "
        "and "
        "one engine version, each segment once, each ending where the next begins.",
        "orrery verify");
    app.add_flag("--merge", merge, "merge the results of the segments of a plan")->required();
    app.add_option("PLAN", plan_path, "file that `orrery verify --plan` printed")->required();
    app.add_option("RESULT", paths, "files that `orrery verify --segment` wrote, in any order");
    app.add_option("--trust-workers", workers,
                   "each result must be signed by one of the public keys in this file, a line NAME KEY each");
    app.add_option("--trust", trust, "the recording must be signed whole by one of the keys, as of `orrery verify`");
    app.add_flag("--require-complete", settings.require_complete, "exit code 1 for a recording that was not closed");
    app.add_flag("--json", json, "print one JSON object instead of text");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    const Result<replay::Plan> plan = read_plan_file(plan_path);
    if (!plan) return complain(plan.error(), kExitInput);
    std::optional<std::vector<replay::PublicKey>> trusted;
    if (!workers.empty()) {
        const Result<TrustFile> keys = TrustFile::read(workers);
        if (!keys) return complain(keys.error(), kExitInput);
        trusted.emplace();
        for (const TrustedKey& key : keys->keys()) trusted->push_back(key.key);
    }
    if (!trust.empty()) {
        Result<TrustFile> keys = TrustFile::read(trust);
        if (!keys) return complain(keys.error(), kExitInput);
        settings.trust = std::move(keys).value();
    }
    std::vector<replay::NamedResult> results;
    for (const std::string& path : paths) {
        const auto bytes = read_file(path, replay::kMaxResultBytes, "kMaxResultBytes");
        if (!bytes) return complain(bytes.error(), kExitInput);
        const auto result = replay::read_result(text_of(*bytes), path);
        if (!result) return complain(result.error(), kExitInput);
        results.push_back({path, *result});
    }
    replay::Merged merged = replay::merge(*plan, results, trusted);
    for (const replay::SegmentSign& sign : merged.signs) {
        replay::SignedPlace& place = merged.report.signs.emplace_back();
        place.offset = sign.offset;
        place.record.tick = sign.tick;
        place.record.key = sign.key;
        place.before_end = place.whole = sign.whole;
    }
    const VerifiedReplay verified{
        .path = plan->file,
        .report = merged.report,
        .realtime_factor = realtime_factor(merged.report, plan->recording.tick_rate_hz, merged.seconds)};
    return tell(verified, settings, json);
}

constexpr std::string_view kCommands[] = {"--plan", "--segment", "--merge"};

// The command among the arguments; null: none.
const std::string_view* command_of(const std::vector<std::string>& arguments) {
    for (const std::string_view& command : kCommands) {
        for (const std::string& argument : arguments)
            if (argument == command || argument.starts_with(std::string(command) + "=")) return &command;
    }
    return nullptr;
}

}  // namespace

bool is_plan_command(const std::vector<std::string>& arguments) { return command_of(arguments) != nullptr; }

int plan_command(const std::vector<std::string>& arguments) {
    const std::string_view* command = command_of(arguments);
    if (command == &kCommands[0]) return make_plan(arguments);
    if (command == &kCommands[1]) return verify_segment(arguments);
    return merge_results(arguments);
}

const char* plan_help() {
    return "One recording on several machines (each of the three has --help):\n"
           "  orrery verify --plan K REPLAY > plan.json      cut it into K segments\n"
           "  orrery verify --segment I plan.json            verify one of them, write segment-III.json\n"
           "  orrery verify --merge plan.json RESULT...      the verdict of the whole";
}

}  // namespace orrery::server
