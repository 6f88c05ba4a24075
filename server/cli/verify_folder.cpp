#include "server/cli/verify_folder.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "server/base/json_line.h"
#include "server/cli/progress.h"
#include "server/cli/signed_part.h"

namespace orrery::server {

namespace {

namespace fs = std::filesystem;
using protocol::replay::Verdict;

void list_folder(const std::string& folder, std::vector<ListedReplay>& out) {
    std::error_code failed;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
        entries.push_back(*at);
    if (failed) out.push_back({.path = folder, .fault = "the folder cannot be read: " + failed.message()});
    std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().string(); });
    for (const fs::directory_entry& entry : entries) {
        const std::string path = entry.path().string();
        std::error_code ignored;
        if (fs::is_directory(entry.symlink_status(ignored))) {
            list_folder(path, out);
        } else if (entry.path().extension() == ".orr") {
            const std::uintmax_t bytes = fs::file_size(path, failed);
            out.push_back({.path = path, .bytes = failed ? 0 : bytes});
        }
    }
}

std::string tenths(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

}  // namespace

Result<ReplayList> list_replays(const std::vector<std::string>& named) {
    ReplayList list;
    for (const std::string& path : named) {
        std::error_code failed;
        if (!fs::is_directory(path, failed)) {
            const std::uintmax_t bytes = fs::file_size(path, failed);
            list.replays.push_back({.path = path, .bytes = failed ? 0 : bytes});
            continue;
        }
        const std::size_t before = list.replays.size();
        list.has_folder = true;
        list_folder(path, list.replays);
        if (list.replays.size() == before)
            return Error{ErrorCode::not_found, path, "has no recordings; name a folder with files that end in .orr"};
    }
    return list;
}

VerifyMeter::VerifyMeter(const std::vector<ListedReplay>& replays) : count_(replays.size()) {
    for (const ListedReplay& replay : replays) bytes_ += replay.bytes;
}

void VerifyMeter::begin(const ListedReplay& replay) {
    of_file_.done = 0, of_file_.ticks = 0;
    bytes_of_file_ = replay.bytes;
}

void VerifyMeter::end(const ListedReplay& replay, bool simulated) {
    bytes_of_file_ = 0;
    simulated ? bytes_done_ += replay.bytes : bytes_ -= replay.bytes;
    ++done_;
}

std::string VerifyMeter::text() const {
    const auto number = [](const auto& value) { return static_cast<double>(value.load()); };
    const double part = of_file_.ticks > 0 ? number(of_file_.done) / number(of_file_.ticks) : 0.0;
    const double all = number(bytes_), done = number(bytes_done_) + std::min(part, 1.0) * number(bytes_of_file_);
    const double share = all > 0.0 ? done / all : 0.0;
    std::string text = "verify: ";
    if (count_ > 1) text += std::to_string(done_) + " of " + std::to_string(count_) + " recordings, ";
    text += tenths(100.0 * share) + " %";
    const std::string left = time_left(std::chrono::steady_clock::now() - start_, share);
    return left.empty() ? text : text + ", " + left;
}

void VerifyTable::add(const VerifiedReplay& replay) {
    const protocol::replay::VerifyReport& report = replay.report;
    const bool other = is_of_other_version(report);
    std::string result(verdict_name(report.verdict));
    if (other) {
        result = "version " + std::to_string(report.header.engine_version);
        of_version_[report.header.engine_version].push_back(replay.path);
    } else if (report.verdict == Verdict::same) {
        ++same_;
    } else {
        report.verdict == Verdict::diverged ? ++diverged_ : ++unreadable_;
    }
    const std::string_view end = end_name(replay);
    open_ += proved(report) && end == "open", cut_off_ += proved(report) && end == "cut off";
    const std::optional<SignedPart> part = signed_part(report, settings_.trust ? &*settings_.trust : nullptr);
    untrusted_ += settings_.trust && proved(report) && !(part && part->whole);
    std::string who = !part ? "no" : part->whole ? "whole" : "tick " + std::to_string(part->tick);
    if (part && settings_.trust) who += " by " + part->name;
    const double seconds =
        proved(report) ? static_cast<double>(report.ticks) / static_cast<double>(report.header.tick_rate_hz) : 0.0;
    ticks_ += report.ticks, simulated_s_ += seconds;
    rows_.push_back({verify_exit_code(replay, settings_),
                     {result, std::to_string(report.ticks), tenths(seconds), std::string(end), who, replay.path}});
}

std::string VerifyTable::text() const {
    std::vector<Row> rows = rows_;
    std::ranges::stable_sort(rows, std::ranges::greater(), &Row::exit_code);
    const char* const who = settings_.trust ? "signed (trusted)" : "signed";
    rows.insert(rows.begin(), Row{0, {"result", "ticks", "s", "end", who, "replay"}});
    std::vector<std::size_t> width(rows[0].cells.size(), 0);
    for (const Row& row : rows)
        for (std::size_t i = 0; i + 1 < width.size(); ++i) width[i] = std::max(width[i], row.cells[i].size());
    std::string text;
    for (const Row& row : rows) {
        for (std::size_t i = 0; i + 1 < width.size(); ++i) {
            const std::string gap(width[i] - row.cells[i].size(), ' ');
            const bool right = i == 1 || i == 2;
            text += (right ? gap + row.cells[i] : row.cells[i] + gap) + "  ";
        }
        text += row.cells.back() + "\n";
    }
    const auto count = [](std::size_t number, const char* what) { return std::to_string(number) + what; };
    std::size_t others = 0;
    for (const auto& [version, paths] : of_version_) others += paths.size();
    text += count(rows_.size(), rows_.size() == 1 ? " recording: " : " recordings: ") + count(same_, " same, ") +
            count(diverged_, " diverged, ") + count(unreadable_, " unreadable, ") +
            count(others, " of other engine versions; ") + count(open_, " open, ") + count(cut_off_, " cut off; ") +
            std::to_string(ticks_) + " ticks (" + tenths(simulated_s_) + " s) re-simulated and equal\n";
    if (settings_.trust) text += count(untrusted_, " not signed whole by a trusted key\n");
    for (const auto& [version, paths] : of_version_) {
        text += "engine version " + std::to_string(version) + ", which the image orrery:" + std::to_string(version) +
                " verifies:\n";
        for (const std::string& path : paths) text += "  " + path + "\n";
    }
    return text;
}

std::string VerifyTable::json(int exit_code, double wall_s) const {
    JsonLine versions, line;
    for (const auto& [version, paths] : of_version_) versions.texts("orrery:" + std::to_string(version), paths);
    line.number("replays", rows_.size()).number("same", same_).number("diverged", diverged_);
    line.number("unreadable", unreadable_).object("other_versions", versions);
    line.number("open", open_).number("cut_off", cut_off_);
    if (settings_.trust) line.number("untrusted", untrusted_);
    line.number("ticks", ticks_).number("simulated_s", std::optional(simulated_s_));
    line.number("wall_s", std::optional(wall_s)).number("exit_code", exit_code);
    return JsonLine().object("summary", line).str() + "\n";
}

}  // namespace orrery::server
