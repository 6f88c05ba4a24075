#include "protocol/replay/stretch.h"

#include <algorithm>

#include "protocol/replay/recorded.h"
#include "protocol/replay/sign.h"

namespace orrery::protocol::replay {

namespace {

using sim::World;

void diverge(StretchRun& run, Stretch& stretch, std::uint64_t tick, std::string subsystem) {
    stretch.divergent_tick = tick;
    stretch.subsystem = std::move(subsystem);
    std::uint64_t known = run.first_bad.load();
    while (tick < known && !run.first_bad.compare_exchange_weak(known, tick)) {
    }
}

// At the reader's tick, which differs. Its parts may be recorded at a later tick alone.
void diverge_from_record(StretchRun& run, Stretch& stretch, ReplayReader& reader, World& world) {
    const std::uint64_t tick = reader.tick().tick;
    while (!reader.tick().has_leaves) {
        if (reader.next() != ReplayReader::Kind::tick ||
            world.step(reader.tick().commands, run.executor) != sim::StepStatus::ok)
            return diverge(run, stretch, tick, "root");
    }
    stretch.subsystem_tick = reader.tick().tick;
    diverge(run, stretch, tick, std::string(differing_part(world.hash(), reader.tick().hash)));
}

// True if the keyframe agrees with the world.
bool compare_keyframe(const World& world, const KeyframeRecord& keyframe, std::vector<std::uint8_t>& scratch) {
    scratch.clear();
    world.save(scratch);
    return std::equal(scratch.begin(), scratch.end(), keyframe.state.begin(), keyframe.state.end());
}

// Steps through the records of a stretch until the first that disagrees.
void follow(StretchRun& run, Stretch& stretch, ReplayReader& reader, World& world) {
    std::vector<std::uint8_t> scratch;
    for (;;) {
        const auto kind = reader.next();
        if (kind == ReplayReader::Kind::stop) return;
        if (kind == ReplayReader::Kind::keyframe) {
            const std::uint64_t tick = reader.keyframe().tick;
            if (!compare_keyframe(world, reader.keyframe(), scratch)) return diverge(run, stretch, tick, "keyframe");
            if (stretch.until == tick) return;
            continue;
        }
        const TickRecord& record = reader.tick();
        if (run.first_bad.load() < record.tick) return;
        const auto status = world.step(record.commands, run.executor);
        if (status != sim::StepStatus::ok) {
            // No world can have taken this tick, so that there is nothing to compare.
            stretch.error = sim::step_error(status, record.tick);
            return;
        }
        if (!agrees(world.hash(), record)) return diverge_from_record(run, stretch, reader, world);
        stretch.equal_until = record.tick;
        if (run.options.progress) run.options.progress->done.fetch_add(1, std::memory_order_relaxed);
    }
}

void verify_stretch(StretchRun& run, Stretch& stretch) {
    stretch.equal_until = stretch.from.tick;
    if (run.first_bad.load() < stretch.from.tick) return;  // behind a divergence nothing counts: not even worth a world
    auto made = World::create(run.definition, {.target = run.options.target, .rig_device = run.options.rig_device});
    if (!made) {
        stretch.error = made.error();
        return;
    }
    World& world = **made;
    ReplayReader reader(run.source, stretch.from);
    if (stretch.from.keyframe) {
        const auto kind = reader.next();
        if (kind != ReplayReader::Kind::keyframe || !world.restore(reader.keyframe().state) ||
            world.tick() != stretch.from.tick)
            return diverge(run, stretch, stretch.from.tick, "keyframe");
    }
    follow(run, stretch, reader, world);
    // The survey read these bytes before: only a file that changes or cannot be read any more ends here.
    const bool ended = reader.status() != ReadStatus::corrupt && reader.status() != ReadStatus::unreadable;
    if (!ended && !stretch.divergent_tick) stretch.error = reader.error();
}

// Says of the first signature that is not valid where it is.
bool signatures_hold(Survey& seen, VerifyReport& report) {
    for (SignedPlace& place : seen.signs) {
        const std::optional<SignedExtent> extent = signed_extent(place.record, seen.header.run, place.before);
        place.whole = place.before_end && extent == SignedExtent::whole;
        if (extent) continue;
        report.corrupt_at_byte = place.offset;
        report.error = Error{ErrorCode::corrupt, "byte " + std::to_string(place.offset),
                             "a signature is not of this recording up to here; use an undamaged copy"};
        return false;
    }
    return true;
}

}  // namespace

bool check_survey(Survey& seen, std::uint64_t size, VerifyReport& report) {
    report.status = seen.status;
    report.complete = seen.status == ReadStatus::closed;
    report.error = seen.error;
    if (seen.status == ReadStatus::corrupt) report.corrupt_at_byte = seen.error_offset;
    report.ancillary = seen.ancillary;
    report.last_tick = seen.ticks;
    if (!seen.usable() || !signatures_hold(seen, report)) return false;
    report.signs = seen.signs;
    if (seen.status == ReadStatus::open)
        report.error = Error{ErrorCode::corrupt, "byte " + std::to_string(size), "the recording was not closed"};
    return true;
}

std::vector<Stretch> stretches_of(std::span<const Mark> marks, bool at_keyframes, std::optional<std::uint64_t> until) {
    std::vector<Stretch> stretches;
    for (const Mark& mark : marks) {
        if (!stretches.empty() && !at_keyframes) break;
        if (!stretches.empty() && stretches.back().from.tick == mark.tick) continue;  // two keyframes of one tick
        if (!stretches.empty()) stretches.back().until = mark.tick;
        Stretch stretch;
        stretch.from = mark;
        stretches.push_back(std::move(stretch));
    }
    if (!stretches.empty()) stretches.back().until = until;
    return stretches;
}

void verify_stretches(StretchRun& run) {
    if (!run.options.stretches) {
        for (Stretch& stretch : run.stretches) verify_stretch(run, stretch);
        return;
    }
    const auto task = [](void* context, std::uint32_t index) {
        StretchRun& shared = *static_cast<StretchRun*>(context);
        verify_stretch(shared, shared.stretches[index]);
    };
    run.options.stretches->run(static_cast<std::uint32_t>(run.stretches.size()), task, &run);
}

void conclude(std::span<const Stretch> stretches, VerifyReport& report) {
    report.verdict = Verdict::same;
    for (const Stretch& stretch : stretches) {
        if (stretch.error) {
            report.verdict = Verdict::unreadable;
            report.error = *stretch.error;
            return;
        }
        report.ticks = std::max(report.ticks, stretch.equal_until);
        if (!stretch.divergent_tick) continue;
        report.verdict = Verdict::diverged;
        report.first_divergent_tick = stretch.divergent_tick;
        report.subsystem = stretch.subsystem;
        report.subsystem_tick = stretch.subsystem_tick;
        return;
    }
}

}  // namespace orrery::protocol::replay
