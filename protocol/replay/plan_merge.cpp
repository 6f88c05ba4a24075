#include <algorithm>

#include "protocol/replay/plan.h"
#include "protocol/replay/stretch.h"

namespace orrery::protocol::replay {

namespace {

Error refused(std::string place, std::string message) {
    return {ErrorCode::corrupt, std::move(place), std::move(message)};
}

std::string segment_name(std::uint32_t segment) { return "segment " + std::to_string(segment); }

// What a result says by itself.
Result<Ok> check_one(const Plan& plan, const NamedResult& named, const std::optional<std::vector<PublicKey>>& trusted) {
    const SegmentResult& result = named.result;
    const auto bad = [&](std::string message) { return refused(named.name, std::move(message)); };
    if (result.recording != plan.recording)
        return bad("it is the result of another recording than that of the plan; name the results of this one");
    if (result.engine_version != plan.recording.engine_version)
        return bad("it was simulated by engine version " + std::to_string(result.engine_version) +
                   ", and recorded by version " + std::to_string(plan.recording.engine_version) +
                   "; verify the segment with the version that recorded it");
    if (result.segments != plan.segments() || result.segment >= plan.segments())
        return bad("it is of another plan, which has " + std::to_string(result.segments) + " segments and not " +
                   std::to_string(plan.segments()) + "; verify the segments of this plan");
    if (result.worker && !is_valid(result))
        return bad("its signature is not valid: it was changed after it was signed; verify the segment again");
    if (!trusted) return Ok{};
    if (!result.worker) return bad("it is not signed; verify the segment with --worker-key");
    if (std::find(trusted->begin(), trusted->end(), *result.worker) == trusted->end())
        return bad("it is signed by a worker that is not trusted; add its key to the trusted workers, if it is one");
    return Ok{};
}

// What one that is checked says of its own ends and its ticks.
Result<Ok> check_verdict(const Plan& plan, const NamedResult& named) {
    const SegmentResult& result = named.result;
    const VerifyReport& report = result.report;
    const std::uint64_t first = result.begin.tick, last = result.end.tick;
    const bool ends =
        result.ending == ReadStatus::closed || result.ending == ReadStatus::open || result.ending == ReadStatus::torn;
    bool good =
        first <= result.equal_until && result.equal_until <= last && ends == (result.segment + 1 == plan.segments());
    if (report.verdict == Verdict::same) good = good && result.equal_until == last && !report.first_divergent_tick;
    if (report.verdict == Verdict::diverged)
        good = good && report.first_divergent_tick && *report.first_divergent_tick >= first &&
               *report.first_divergent_tick <= last && result.equal_until <= *report.first_divergent_tick;
    if (good) return Ok{};
    return refused(named.name, "its verdict contradicts its ticks; verify the segment again");
}

// Each begins where the one before it ends, and where the plan says.
Result<Ok> check_borders(const Plan& plan, const std::vector<const NamedResult*>& results) {
    for (std::uint32_t i = 0; i < results.size(); ++i) {
        const SegmentResult& result = results[i]->result;
        if (!result.checked) continue;
        if (i > 0 && results[i - 1]->result.checked && results[i - 1]->result.end != result.begin)
            return refused(results[i]->name, segment_name(i) +
                                                 " does not begin at the chain hash and keyframe at which " +
                                                 segment_name(i - 1) + " ends; verify both again");
        if (result.begin != plan.borders[i] || result.end != plan.borders[i + 1])
            return refused(results[i]->name, segment_name(i) +
                                                 " does not begin and end where the plan says; verify it " +
                                                 "again, or make the plan again");
        if (const Result<Ok> good = check_verdict(plan, *results[i]); !good) return good;
    }
    return Ok{};
}

// One result for each segment, in order.
Result<std::vector<const NamedResult*>> in_order(const Plan& plan, const std::vector<NamedResult>& results,
                                                 const std::optional<std::vector<PublicKey>>& trusted) {
    std::vector<const NamedResult*> all(plan.segments(), nullptr);
    for (const NamedResult& named : results) {
        if (const Result<Ok> good = check_one(plan, named, trusted); !good) return good.error();
        const NamedResult*& place = all[named.result.segment];
        if (place)
            return refused(named.name, segment_name(named.result.segment) + " is in " + place->name +
                                           " too; name each result once");
        place = &named;
    }
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        if (!all[i])
            return refused("the results",
                           segment_name(i) + " of " + std::to_string(all.size()) + " is missing; verify it");
    }
    return all;
}

void add(const AncillaryCounts& counts, AncillaryCounts& to) {
    to.players += counts.players;
    to.resumes += counts.resumes;
    to.hosts += counts.hosts;
    to.notes += counts.notes;
    to.signs += counts.signs;
    to.unknown += counts.unknown;
}

}  // namespace

Merged merge(const Plan& plan, const std::vector<NamedResult>& results,
             const std::optional<std::vector<PublicKey>>& trusted) {
    Merged merged;
    VerifyReport& report = merged.report;
    report.header.engine_version = plan.recording.engine_version;
    report.header.run = plan.recording.run;
    report.header.scene_hash = plan.recording.scene_hash;
    report.header.tick_rate_hz = plan.recording.tick_rate_hz;
    report.header.first_tick = plan.recording.first_tick;
    const auto ordered = in_order(plan, results, trusted);
    if (!ordered) {
        report.error = ordered.error();
        return merged;
    }
    if (const Result<Ok> meet = check_borders(plan, *ordered); !meet) {
        report.error = meet.error();
        return merged;
    }
    report.target = ordered->front()->result.report.target;
    std::vector<Stretch> stretches;
    for (const NamedResult* named : *ordered) {
        const SegmentResult& result = named->result;
        merged.seconds += static_cast<double>(result.microseconds) * 1e-6;
        add(result.report.ancillary, report.ancillary);
        if (!result.checked) {  // as a straight verification, which checks all bytes before it simulates
            report.error = result.report.error;
            report.corrupt_at_byte = result.report.corrupt_at_byte;
            return merged;
        }
        merged.signs.insert(merged.signs.end(), result.signs.begin(), result.signs.end());
        Stretch& stretch = stretches.emplace_back();
        stretch.equal_until = result.equal_until;
        stretch.divergent_tick = result.report.first_divergent_tick;
        stretch.subsystem = result.report.subsystem;
        stretch.subsystem_tick = result.report.subsystem_tick;
        if (result.report.verdict == Verdict::unreadable) stretch.error = result.report.error;
    }
    keep_last_of_each_key(merged.signs);
    const SegmentResult& last = ordered->back()->result;
    report.status = last.ending;
    report.last_tick = last.end.tick;
    report.complete = last.ending == ReadStatus::closed;
    if (!report.complete) report.error = last.report.error;  // how the file ends
    report.ticks = plan.recording.first_tick;
    conclude(stretches, report);
    report.ticks -= plan.recording.first_tick;
    return merged;
}

}  // namespace orrery::protocol::replay
