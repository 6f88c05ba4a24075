#include "protocol/replay/verify.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "protocol/replay/sign.h"

namespace orrery::protocol::replay {

namespace {

using sim::World;

// The ticks from one mark up to the next, its keyframe included, or up to the end of the file.
struct Stretch {
    Mark from;
    std::optional<std::uint64_t> until;  // tick of the keyframe that ends it
    std::uint64_t equal_until = 0;       // the last tick that agreed
    std::optional<std::uint64_t> divergent_tick;
    std::string subsystem;
    std::optional<std::uint64_t> subsystem_tick;
    std::optional<Error> error;  // the stretch could not be simulated at all
};

struct Run {
    const Source& source;
    const VerifyOptions& options;
    const std::shared_ptr<const sim::Definition>& definition;  // of all stretches' worlds
    sim::Executor* executor;
    std::vector<Stretch> stretches;
    std::atomic<std::uint64_t> first_bad{~std::uint64_t{0}};  // later stretches need not be finished
};

void diverge(Run& run, Stretch& stretch, std::uint64_t tick, std::string subsystem) {
    stretch.divergent_tick = tick;
    stretch.subsystem = std::move(subsystem);
    std::uint64_t known = run.first_bad.load();
    while (tick < known && !run.first_bad.compare_exchange_weak(known, tick)) {
    }
}

// At the reader's tick, which differs. Its parts may be recorded at a later tick alone.
void diverge_from_record(Run& run, Stretch& stretch, ReplayReader& reader, World& world) {
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
void follow(Run& run, Stretch& stretch, ReplayReader& reader, World& world) {
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

void verify_stretch(Run& run, Stretch& stretch) {
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

std::vector<Stretch> cut(const Survey& survey, bool at_keyframes) {
    std::vector<Stretch> stretches;
    for (const Mark& mark : survey.marks) {
        if (!stretches.empty() && !at_keyframes) break;
        if (!stretches.empty() && stretches.back().from.tick == mark.tick) continue;  // two keyframes of one tick
        if (!stretches.empty()) stretches.back().until = mark.tick;
        Stretch stretch;
        stretch.from = mark;
        stretches.push_back(std::move(stretch));
    }
    return stretches;
}

// Stretches follow each other, so the proof reaches as far as the first that did not agree to its end.
void conclude(Run& run, VerifyReport& report) {
    report.verdict = Verdict::same;
    for (Stretch& stretch : run.stretches) {
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

void run_all(Run& run) {
    if (!run.options.stretches) {
        for (Stretch& stretch : run.stretches) verify_stretch(run, stretch);
        return;
    }
    const auto task = [](void* context, std::uint32_t index) {
        Run& shared = *static_cast<Run*>(context);
        verify_stretch(shared, shared.stretches[index]);
    };
    run.options.stretches->run(static_cast<std::uint32_t>(run.stretches.size()), task, &run);
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

std::string_view verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::same:
            return "same";
        case Verdict::diverged:
            return "diverged";
        case Verdict::unreadable:
            break;
    }
    return "unreadable";
}

VerifyReport verify(const Source& source, const VerifyOptions& options) {
    VerifyReport report;
    report.target = options.target == sim::Target::automatic ? sim::best_target() : options.target;
    Survey seen = survey(source);
    report.status = seen.status;
    report.complete = seen.status == ReadStatus::closed;
    report.error = seen.error;
    if (seen.status == ReadStatus::corrupt) report.corrupt_at_byte = seen.error_offset;
    if (seen.has_header) report.header = seen.header;
    report.ancillary = seen.ancillary;
    report.last_tick = seen.ticks;
    if (!seen.usable() || !signatures_hold(seen, report)) return report;
    report.signs = std::move(seen.signs);
    if (seen.status == ReadStatus::open)
        report.error =
            Error{ErrorCode::corrupt, "byte " + std::to_string(source.size()), "the recording was not closed"};

    const auto made = recorded_definition(seen.header, options.load_scene);
    if (!made) {
        report.error = made.error();
        return report;
    }
    Run run{source, options, *made, options.stretches ? nullptr : options.executor,
            cut(seen, options.stretches != nullptr)};
    if (options.progress) options.progress->ticks = seen.ticks - seen.header.first_tick;
    run_all(run);
    report.ticks = seen.header.first_tick;
    conclude(run, report);
    report.ticks -= seen.header.first_tick;
    return report;
}

}  // namespace orrery::protocol::replay
