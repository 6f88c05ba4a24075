#include "server/cli/bisect.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>

#include "protocol/replay/recorded.h"
#include "server/cli/body_lines.h"
#include "server/cli/command_line.h"
#include "server/cli/executions.h"
#include "server/cli/progress.h"
#include "server/cli/verify.h"
#include "server/room/rig_backend.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

namespace rp = protocol::replay;

// How far the simulation is.
class TickProgress {
  public:
    void operator()(std::uint64_t tick) { tick_ = tick; }

  private:
    std::atomic<std::uint64_t> tick_{0};
    Progress shown_{[this] { return "orrery bisect: tick " + std::to_string(tick_); }};
};

std::string target_text(sim::Target target) {
    return "target " + std::string(sim::target_name(target == sim::Target::automatic ? sim::best_target() : target));
}

std::string first_name(const BisectSettings& settings) {
    std::string name = (settings.with.empty() ? "" : "this program, ") + target_text(settings.target);
    if (settings.threads > 1) name += ", " + std::to_string(settings.threads) + " threads";
    if (settings.rig_device) name += ", rigs on a GPU";
    return name;
}

std::string second_name(const BisectSettings& settings) {
    if (settings.against_record()) return "the recording";
    if (settings.with.empty()) return target_text(*settings.against);
    return settings.with + ", " + target_text(settings.against.value_or(settings.target));
}

// The tick of the keyframe whose chunk has this byte.
std::optional<std::uint64_t> keyframe_at(const rp::Source& source, std::uint64_t byte) {
    rp::ReplayReader reader(source);
    const Result<rp::FileHeader> header = reader.begin();
    if (!header) return std::nullopt;
    rp::ChunkReader chunks(source, reader.position());
    std::uint64_t tick = header.value().first_tick;
    rp::ChunkHeader chunk;
    while (chunks.position().offset <= byte && chunks.skip(chunk) == rp::ReadStatus::chunk) {
        tick += chunk.kind == rp::ChunkKind::tick ? 1 : chunk.kind == rp::ChunkKind::ticks ? chunk.number : 0;
        if (chunk.kind == rp::ChunkKind::keyframe && byte < chunks.position().offset) return tick;
    }
    return std::nullopt;
}

void fail(BisectReport& report, Error error) { report.error = std::move(error); }

// Of a file that a survey found fault with.
void tell_damage(BisectReport& report, const std::string& path, std::uint64_t byte) {
    report.corrupt_at_byte = byte;
    if (const auto source = ReplaySource::open(path)) report.keyframe_at_byte = keyframe_at(**source, byte);
}

std::unique_ptr<Recording> open_recording(const std::string& path, BisectReport& report) {
    auto recording = Recording::open(path);
    if (recording) return std::move(*recording);
    fail(report, recording.error());
    const auto source = ReplaySource::open(path);
    if (!source) return nullptr;
    const rp::Survey seen = rp::survey(**source);
    if (seen.status == rp::ReadStatus::corrupt) tell_damage(report, path, seen.error_offset);
    return nullptr;
}

Result<std::shared_ptr<const sim::Definition>> definition_of(const Recording& recording,
                                                             const BisectSettings& settings) {
    return rp::recorded_definition(recording.survey().header, [&settings](const rp::FileHeader& header) {
        return rp::load_recorded_scene(header, settings.max_bodies);
    });
}

std::string joint_name(const sim::World& world, std::uint32_t index) {
    for (const sim::JointDef& joint : world.definition().joints)
        if (!joint.name.empty() && world.find_joint(joint.name).index == index) return joint.name;
    return {};
}

NamedDifference with_names(const sim::World& world, rp::StateDifference where, bool keyframe) {
    NamedDifference named;
    named.tick = world.tick(), named.keyframe = keyframe, named.where = std::move(where);
    const rp::StateDifference& d = named.where;
    std::vector<sim::BodyState> all;
    world.read_bodies(all);
    std::map<std::uint32_t, std::string> names;
    for (const sim::BodyState& body : all) {
        std::string name = body_name(world.definition(), body);
        const bool number = name.starts_with("bodies[") || name.starts_with("body ");  // it has no name
        names[body.id.index] = number ? std::string() : name;
    }
    std::vector<std::uint32_t> of = d.bodies;
    const bool force = d.list == "rig_forces";  // of the joint before
    if (d.list == "joints" || (force && d.index > 0)) {
        const std::uint32_t index = d.index - (force ? 1 : 0);
        named.called = joint_name(world, index);
        std::vector<sim::JointState> joints;
        world.read_joints(joints);
        for (const sim::JointState& joint : joints)
            if (joint.id.index == index) of = {joint.a.index, joint.b.index};
    }
    if (d.list == "slots" && d.index < world.definition().slots.size())
        named.called = world.definition().slots[d.index].name;
    for (const std::uint32_t body : of) {
        const auto name = names.find(body);
        if (name != names.end()) named.bodies.emplace_back(body, name->second);
    }
    if (d.list == "bodies" && !named.bodies.empty()) named.called = named.bodies.front().second;
    return named;
}

// What is known of the record's state from the first keyframe behind the divergence.
void look_at_keyframe(const BisectSettings& settings, sim::Executor* executor, BisectReport& report) {
    const std::uint64_t tick = *report.first_divergent_tick;
    const auto recording = open_recording(settings.replay, report);
    if (!recording) return;
    const auto definition = definition_of(*recording, settings);
    if (!definition) return fail(report, definition.error());
    const auto world = sim::World::create(*definition, {.target = settings.target, .rig_device = settings.rig_device});
    if (!world) return fail(report, world.error());
    TickProgress progress;
    const auto found = compare_next_keyframe(*recording, **world, tick, executor, std::ref(progress));
    if (!found) return fail(report, found.error());
    if (!*found && tick == recording->survey().header.first_tick) {
        report.note = "the recording begins with this keyframe, and it cannot be restored: there is no state beside it";
    } else if (!*found) {
        report.note =
            "the recording has hashes alone of this tick and no keyframe at or after it, so that the body is not "
            "known: --with a program that gives the recorded hashes names it";
    } else if ((*found)->difference) {
        report.difference = with_names(**world, *(*found)->difference, true);
        if ((*found)->tick > tick)
            report.note = "this is the recorded state nearest behind tick " + std::to_string(tick) +
                          ", of which the recording has hashes alone";
    } else {
        report.note = "the keyframe of tick " + std::to_string((*found)->tick) +
                      " is that of this simulation: only the recorded hash of tick " + std::to_string(tick) +
                      " is known to be another";
    }
}

void bisect_against_record(const BisectSettings& settings, sim::Executor* executor, BisectReport& report) {
    VerifySettings verify;
    verify.target = settings.target, verify.threads = settings.threads;
    verify.rig_device = settings.rig_device, verify.max_bodies = settings.max_bodies;
    const rp::VerifyReport found = verify_replay(settings.replay, verify).report;
    report.ticks = found.ticks;
    if (found.corrupt_at_byte) tell_damage(report, settings.replay, *found.corrupt_at_byte);
    if (found.verdict == rp::Verdict::unreadable) return fail(report, found.error);
    if (found.verdict == rp::Verdict::same) {
        if (!found.complete) report.note = "not complete: " + found.error.to_string();
        return;
    }
    report.first_divergent_tick = found.first_divergent_tick;
    report.subsystem_tick = found.subsystem_tick;
    report.subsystems = {found.subsystem};
    look_at_keyframe(settings, executor, report);
}

// Which of two executions that differ, or whether both that are equal, agree with the recording.
std::string beside_record(const Comparison& found, const BisectReport& report) {
    const auto differs = [&](const std::optional<std::uint64_t>& tick) {
        return tick && (!found.divergence || *tick <= found.divergence->tick);
    };
    const bool here = differs(found.here_not_recorded), there = differs(found.there_not_recorded);
    if (here && there)
        return "both differ from the recording, from tick " +
               std::to_string(std::min(*found.here_not_recorded, *found.there_not_recorded)) + " on";
    if (!found.divergence) return {};
    return "the recording agrees with " + (here ? report.there : report.here);
}

void bisect_two(const BisectSettings& settings, sim::Executor* executor, BisectReport& report) {
    const auto recording = open_recording(settings.replay, report);
    if (!recording) return;
    const auto definition = definition_of(*recording, settings);
    if (!definition) return fail(report, definition.error());
    const auto here =
        WorldExecution::create(report.here, *recording, *definition,
                               {.target = settings.target, .executor = executor, .rig_device = settings.rig_device});
    if (!here) return fail(report, here.error());
    std::unique_ptr<Execution> there;
    if (settings.with.empty()) {
        auto made = WorldExecution::create(report.there, *recording, *definition, {.target = *settings.against});
        if (!made) return fail(report, made.error());
        there = std::move(*made);
    } else {
        const sim::Target target = settings.against.value_or(settings.target);
        auto made = ProgramExecution::create(
            settings.with, settings.replay,
            {"--target", target == sim::Target::automatic ? "auto" : std::string(sim::target_name(target)),
             "--max-bodies", std::to_string(settings.max_bodies)});
        if (!made) return fail(report, made.error());
        there = std::move(*made);
    }
    TickProgress progress;
    const auto found = compare_executions(*recording, **here, *there, std::ref(progress));
    if (!found) return fail(report, found.error());
    report.ticks = found.value().ticks;
    report.note = beside_record(found.value(), report);
    if (!found.value().divergence) return;
    const StateDivergence& divergence = *found.value().divergence;
    report.first_divergent_tick = divergence.tick;
    for (const sim::Subsystem subsystem : divergence.subsystems)
        report.subsystems.emplace_back(sim::subsystem_name(subsystem));
    if (divergence.difference) {
        report.difference = with_names((*here)->world(), *divergence.difference, false);
    } else {
        report.note += "; the hashes differ, but the state that " + report.there +
                       " gives when it is asked again is the same: its executions differ from each other";
    }
}

}  // namespace

BisectReport bisect(const BisectSettings& settings) {
    BisectReport report;
    report.here = first_name(settings), report.there = second_name(settings);
    std::unique_ptr<ThreadPool> pool;
    if (settings.threads > 1) pool = std::make_unique<ThreadPool>(settings.threads);
    settings.against_record() ? bisect_against_record(settings, pool.get(), report)
                              : bisect_two(settings, pool.get(), report);
    return report;
}

int bisect_command(const std::vector<std::string>& arguments) {
    BisectSettings settings;
    std::string target = "auto", against, jacobi = "auto";
    bool json = false;
    CLI::App app(
        "Names the first difference between two executions of a recording: tick, subsystem, body, field, both values, "
        "and their distance in ulp (units in the last place). The first execution is that of this program. The second "
        "is given by --against or --with. Without these, the execution is compared with the recording itself: that has "
        "hashes alone of most ticks, so that body and field are those of its first keyframe at or after the "
        "difference.",
        "orrery bisect");
    app.footer(
        "Examples:\n"
        "  orrery bisect REPLAY                                  this program and the recording\n"
        "  orrery bisect REPLAY --target avx2 --against scalar   two SIMD targets\n"
        "  orrery bisect REPLAY --threads 4 --against auto       four threads and one\n"
        "  orrery bisect REPLAY --with other/bin/orrery          two programs of the same engine version\n\n"
        "Exit code 0: they are the same; 1: they differ.");
    app.add_option("REPLAY", settings.replay, "replay file")->required();
    app.add_option("--target", target, "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon");
    app.add_option("--against", against,
                   "SIMD target of the second execution, which has one thread and no GPU; with --with its default is "
                   "--target");
    app.add_option("--with", settings.with,
                   "path of another orrery program of the same engine version: it is run, and makes the second "
                   "execution with one thread and no GPU");
    app.add_option("--threads", settings.threads, "threads inside a tick of the first execution")
        ->check(whole_number(1, kMaxThreads))
        ->capture_default_str();
    add_jacobi_option(app, jacobi);
    add_max_bodies_option(app, settings.max_bodies);
    app.add_flag("--json", json, "print one JSON object instead of text");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    int exit = kExitUsage;
    const std::optional<sim::Target> found = parse_target(target, exit);
    if (!found) return exit;
    settings.target = *found;
    if (!against.empty() && !(settings.against = parse_target(against, exit))) return exit;
    const Result<RigBackend> backend = pick_rig_backend(jacobi);
    if (!backend) return complain(backend.error(), kExitMachine);
    settings.rig_device = backend->device.get();

    const BisectReport report = bisect(settings);
    std::FILE* out = json || !report.error ? stdout : stderr;
    std::fputs((json ? bisect_json(settings.replay, report) : bisect_text(settings.replay, report)).c_str(), out);
    return bisect_exit_code(report);
}

}  // namespace orrery::server
