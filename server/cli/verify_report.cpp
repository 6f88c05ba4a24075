// What `orrery verify` says of a recording.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "server/base/hex.h"
#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/cli/signed_part.h"
#include "server/cli/verify.h"

namespace orrery::server {

namespace {

using protocol::replay::Verdict;
using protocol::replay::VerifyReport;

std::string decimal(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

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

const TrustFile* trust_of(const VerifySettings& settings) { return settings.trust ? &*settings.trust : nullptr; }

// Whether a trusted key signed all of it.
bool signed_whole(const VerifyReport& report, const VerifySettings& settings) {
    const std::optional<SignedPart> part = signed_part(report, trust_of(settings));
    return part && part->whole;
}

// Who signed what, a sentence; with the keys that are trusted, what they signed.
std::string signed_text(const VerifyReport& report, const VerifySettings& settings) {
    const std::optional<SignedPart> part = signed_part(report, trust_of(settings));
    if (settings.trust) {
        if (part && part->whole) return "signed whole by " + part->name;
        const std::optional<SignedPart> other = signed_part(report);
        return "not signed whole by a trusted key: " +
               (part    ? "signed up to tick " + std::to_string(part->tick) + " by " + part->name
                : other ? "signed by the key " + other->name + " alone"
                        : "not signed");
    }
    if (!part) return "not signed";
    return (part->whole ? "signed whole" : "signed up to tick " + std::to_string(part->tick)) + " by the key " +
           part->name + " (--trust tells whether it is trusted)";
}

JsonLine signed_json(const std::optional<SignedPart>& part) {
    JsonLine line;
    line.boolean("whole", part->whole).number("up_to_tick", part->tick).text("key", to_hex(part->key));
    if (part->name != to_hex(part->key)) line.text("name", part->name);
    return line;
}

JsonLine counts_of(const protocol::replay::AncillaryCounts& counts) {
    JsonLine line;
    line.number("players", counts.players).number("resumes", counts.resumes).number("hosts", counts.hosts);
    line.number("notes", counts.notes).number("signs", counts.signs).number("unknown", counts.unknown);
    return line;
}

}  // namespace

std::string_view end_name(const VerifiedReplay& replay) {
    switch (replay.report.status) {
        case protocol::replay::ReadStatus::closed:
            return "closed";
        case protocol::replay::ReadStatus::open:
            return "open";
        case protocol::replay::ReadStatus::torn:
            return replay.grew ? "open" : "cut off";
        default:
            return "";
    }
}

bool is_of_other_version(const VerifyReport& report) {
    return report.error.code == ErrorCode::version_mismatch && report.header.engine_version != sim::kEngineVersion;
}

bool proved(const VerifyReport& report) { return report.verdict != Verdict::unreadable; }

int verify_exit_code(const VerifiedReplay& replay, const VerifySettings& settings) {
    const VerifyReport& report = replay.report;
    switch (report.verdict) {
        case Verdict::same:
            if (settings.require_complete && !report.complete) return kExitFalse;
            return settings.trust && !signed_whole(report, settings) ? kExitFalse : kExitGood;
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
    if (!report.complete)
        text += replay.path + ": not complete: " + report.error.to_string() +
                (replay.grew ? "; it is being written" : "") + "\n";
    if (settings.trust || !report.signs.empty()) text += replay.path + ": " + signed_text(report, settings) + "\n";
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
    line.text("end", end_name(replay)).number("engine_version", report.header.engine_version);
    if (is_of_other_version(report)) line.text("image", "orrery:" + std::to_string(report.header.engine_version));
    const auto signature = [&](std::string_view name, const std::optional<SignedPart>& part) {
        part ? line.object(name, signed_json(part)) : line.number(name, null);
    };
    signature("signed", signed_part(report));
    if (settings.trust) signature("trusted", signed_part(report, trust_of(settings)));
    if (!report.error.message.empty()) line.text("error", report.error.to_string());
    return line.str() + "\n";
}

}  // namespace orrery::server
