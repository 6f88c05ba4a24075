#include "server/cli/verify.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "server/cli/command_line.h"
#include "server/cli/progress.h"
#include "server/cli/verify_execution.h"
#include "server/cli/verify_folder.h"
#include "server/cli/verify_plan.h"
#include "server/room/replay_source.h"

namespace orrery::server {

VerifiedReplay verify_replay(const std::string& path, const VerifySettings& settings) {
    VerifiedReplay result{.path = path, .report = {}};
    auto source = ReplaySource::open(path);
    if (!source) {
        result.report.error = source.error();
        result.report.error.place.clear();  // the path is printed anyway
        return result;
    }
    const VerifyRun run(settings);
    const auto begin = std::chrono::steady_clock::now();
    result.report = protocol::replay::verify(**source, run.options);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(path, failed);
    result.grew = !failed && size > (*source)->size();
    if (proved(result.report) && result.report.ticks > 0 && wall.count() > 0.0)
        result.realtime_factor = static_cast<double>(result.report.ticks) /
                                 static_cast<double>(result.report.header.tick_rate_hz) / wall.count();
    return result;
}

namespace {

// Results go to stdout. Those of a folder end in a table there, and without --json each is told on stderr.
int verify_all(const ReplayList& list, VerifySettings& settings, bool json) {
    const auto begin = std::chrono::steady_clock::now();
    VerifyMeter meter(list.replays);
    VerifyTable table(settings);
    settings.progress = &meter.of_file();
    int worst = kExitGood;
    {
        Progress progress([&meter] { return meter.text(); });
        for (const ListedReplay& listed : list.replays) {
            meter.begin(listed);
            VerifiedReplay replay{.path = listed.path, .report = {}};
            if (listed.fault.empty())
                replay = verify_replay(listed.path, settings);
            else
                replay.report.error = Error{ErrorCode::io, "", listed.fault};
            meter.end(listed, proved(replay.report));
            worst = std::max(worst, verify_exit_code(replay, settings));
            table.add(replay);
            std::FILE* out = json || (proved(replay.report) && !list.has_folder) ? stdout : stderr;
            progress.print([&] {
                std::fputs((json ? verify_json(replay, settings) : verify_text(replay, settings)).c_str(), out);
                std::fflush(out);
            });
        }
    }
    settings.progress = nullptr;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    if (list.has_folder) std::fputs((json ? table.json(worst, wall.count()) : table.text()).c_str(), stdout);
    return worst;
}

}  // namespace

int verify_command(const std::vector<std::string>& arguments) {
    if (is_plan_command(arguments)) return plan_command(arguments);
    VerifySettings settings;
    ExecutionOptions execution;
    std::string trust;
    bool json = false;
    CLI::App app(
        "Re-simulates replays and compares the hash of every tick, and every keyframe. Of a folder all files *.orr in "
        "it and in its folders are verified, in order of names; a table of the results follows, and the recordings of "
        "other engine versions by the image that can verify them. A recording that is being written is verified as far "
        "as it goes. The exit code is the largest of all recordings.",
        "orrery verify");
    app.add_option("REPLAY", settings.replays, "replay files and folders")->required();
    execution.add_to(app, settings);
    app.footer(plan_help());
    app.add_option(
        "--trust", trust,
        "file with the public keys that are trusted, a line NAME KEY each (see orrery replay key): exit code "
        "1 for a recording that none of them signed whole");
    app.add_flag("--require-complete", settings.require_complete, "exit code 1 for a recording that was not closed");
    app.add_flag("--json", json, "print one JSON object for each replay instead of text; of folders also a summary");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (const std::optional<int> exit = execution.apply(settings)) return *exit;
    if (!trust.empty()) {
        Result<TrustFile> keys = TrustFile::read(trust);
        if (!keys) return complain(keys.error(), kExitInput);
        settings.trust = std::move(keys).value();
    }

    const Result<ReplayList> list = list_replays(settings.replays);
    if (!list) return complain(list.error(), kExitInput);
    return verify_all(*list, settings, json);
}

}  // namespace orrery::server
