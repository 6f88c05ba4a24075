#include "server/cli/trace.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "server/base/json_line.h"
#include "server/base/scene_file.h"
#include "server/cli/body_lines.h"
#include "server/cli/command_line.h"
#include "server/cli/incidents.h"
#include "server/cli/recording.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

using sim::EventKind;

constexpr std::array<std::string_view, sim::kEventKinds> kEventNames = {
    "contact_begin",    "contact_end", "contact_hit",  "joint_broken", "joint_created",    "spawned",      "despawned",
    "command_rejected", "quarantined", "sensor_begin", "sensor_end",   "joint_overloaded", "speed_limited"};

struct TraceOptions {
    std::string replay, target = "auto";
    std::vector<std::string> bodies, kinds;
    std::uint64_t from = 1, to = kMaxRunTicks, every = 1, max_bodies = protocol::kDefaultMaxSceneBodies;
    std::uint32_t threads = 1;
    bool events = false, json = false;
};

void describe(CLI::App& app, TraceOptions& options) {
    app.add_option("REPLAY", options.replay, "replay file")->required();
    app.add_option("--bodies", options.bodies,
                   "print position (m), orientation (x y z w), velocity (m/s) and angular velocity (rad/s) of these "
                   "bodies, with commas between: NAME of a body of the scene, SLOT/NAME of a player's body, "
                   "TEMPLATE/NAME of bodies that were spawned otherwise")
        ->delimiter(',');
    app.add_flag("--events", options.events,
                 "print what happened: contacts, sensors, joints, spawns, rejected commands");
    app.add_option("--kinds", options.kinds, "of the events only these kinds, with commas between; includes --events")
        ->delimiter(',')
        ->check(CLI::IsMember(std::vector<std::string>(kEventNames.begin(), kEventNames.end())));
    app.add_option("--from", options.from, "first tick that is printed; the last keyframe before it is the start")
        ->check(whole_number(1, kMaxRunTicks))
        ->capture_default_str();
    app.add_option("--to", options.to, "last tick; without it, the end of the recording")
        ->check(whole_number(1, kMaxRunTicks));
    app.add_option("--every", options.every, "ticks between lines of a body")
        ->check(whole_number(1, kMaxRunTicks))
        ->capture_default_str();
    app.add_option("--target", options.target, "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon");
    app.add_option("--threads", options.threads, "threads inside a tick (no bit depends on it)")
        ->check(whole_number(1, kMaxThreads))
        ->capture_default_str();
    add_max_bodies_option(app, options.max_bodies);
    app.add_flag("--json", options.json, "print one JSON object for each line instead of text");
}

// The bodies and joints of a world by name. Names outlive their bodies, since events tell of bodies that are gone.
class Names {
  public:
    explicit Names(const sim::World& world) : def_(world.definition()) {
        std::vector<sim::BodyState> bodies;
        world.read_bodies(bodies);
        for (const sim::BodyState& body : bodies) add(body);
        for (const sim::JointDef& joint : def_.joints) {
            const sim::JointId id = joint.name.empty() ? sim::JointId{} : world.find_joint(joint.name);
            if (id.valid()) joints_[id] = joint.name;
        }
    }

    void note_spawned(const sim::World& world) {
        for (const sim::Event& event : world.events()) {
            if (event.kind == EventKind::spawned && world.alive(event.a)) add(world.body(event.a));
        }
    }

    std::string of(sim::BodyId id) const {
        const auto found = bodies_.find(id);
        if (found != bodies_.end()) return found->second;
        sim::BodyState gone;
        gone.id = id;
        return body_name(def_, gone);
    }
    std::string of(sim::JointId id) const {
        const auto found = joints_.find(id);
        if (found != joints_.end()) return found->second;
        return "joint " + std::to_string(id.index) + ":" + std::to_string(id.generation);
    }
    const std::map<sim::BodyId, std::string>& bodies() const { return bodies_; }

  private:
    void add(const sim::BodyState& body) { bodies_[body.id] = body_name(def_, body); }

    const sim::WorldDef& def_;
    std::map<sim::BodyId, std::string> bodies_;
    std::map<sim::JointId, std::string> joints_;
};

// Every name that body_name() may give for a body of this definition.
std::set<std::string> possible_names(const sim::WorldDef& def) {
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < def.bodies.size(); ++i) {
        sim::BodyState body;
        body.id = {i + 1, 0};
        names.insert(body_name(def, body));
    }
    const auto add_prefab = [&](std::uint32_t prefab, std::uint16_t slot) {
        if (prefab >= def.prefabs.size()) return;
        for (std::uint32_t i = 0; i < def.prefabs[prefab].bodies.size(); ++i) {
            sim::BodyState body;
            body.prefab = prefab;
            body.member = i;
            body.slot = slot;
            names.insert(body_name(def, body));
        }
    };
    for (std::uint32_t i = 0; i < def.prefabs.size(); ++i) add_prefab(i, 0xffff);
    for (std::uint16_t i = 0; i < def.slots.size(); ++i) add_prefab(def.slots[i].prefab, i);
    return names;
}

Result<Ok> check_names(const std::vector<std::string>& wanted, const sim::WorldDef& def) {
    const std::set<std::string> names = possible_names(def);
    for (const std::string& name : wanted) {
        if (names.count(name)) continue;
        std::string list;
        std::size_t left = 20;
        for (const std::string& known : names) {
            if (left-- == 0) break;
            list.append(list.empty() ? "" : ", ").append(known);
        }
        if (names.size() > 20) list += ", and " + std::to_string(names.size() - 20) + " more";
        return Error{ErrorCode::not_found, "--bodies",
                     "the recording can have no body called \"" + name + "\"; it can have " + list};
    }
    return Ok{};
}

bool touches(EventKind kind) {
    return kind == EventKind::contact_begin || kind == EventKind::contact_end || kind == EventKind::contact_hit;
}
bool has_joint(EventKind kind) {
    return kind == EventKind::joint_broken || kind == EventKind::joint_created || kind == EventKind::joint_overloaded;
}

std::string event_json(std::uint64_t tick, const sim::Event& event, const Names& names) {
    JsonLine line;
    line.number("tick", tick).text("event", kEventNames[static_cast<std::size_t>(event.kind)]);
    if (event.a.valid()) line.text("a", names.of(event.a));
    if (event.b.valid()) line.text("b", names.of(event.b));
    if (touches(event.kind)) line.number("child_a", event.child_a).number("child_b", event.child_b);
    if (event.kind == EventKind::contact_begin || event.kind == EventKind::contact_hit) {
        line.numbers("point", std::array{event.point.x, event.point.y, event.point.z});
        line.numbers("normal", std::array{event.normal.x, event.normal.y, event.normal.z});
        line.number("impulse", std::optional(static_cast<double>(event.impulse)));
    }
    if (has_joint(event.kind)) {
        line.text("joint", names.of(event.joint));
        if (event.kind != EventKind::joint_created)
            line.number("force", std::optional(static_cast<double>(event.impulse)));
    }
    if (event.tag != 0) line.number("tag", event.tag);
    if (event.kind == EventKind::command_rejected) {
        line.text("command", command_name(event.command)).number("slot", event.slot);
        line.text("cause", rejection_text(event.command, event.cause));
    }
    return line.str();
}

std::string event_text(std::uint64_t tick, const sim::Event& event, const Names& names) {
    std::string line =
        "tick " + std::to_string(tick) + " " + std::string(kEventNames[static_cast<std::size_t>(event.kind)]);
    if (event.a.valid()) line += " " + names.of(event.a);
    if (event.b.valid()) line += " " + names.of(event.b);
    if (has_joint(event.kind)) line += " " + names.of(event.joint);
    const auto number = [](float x) { return static_cast<double>(x); };
    char text[200] = "";
    if (event.kind == EventKind::contact_begin || event.kind == EventKind::contact_hit) {
        std::snprintf(text, sizeof text, " impulse %.4g N s at %.4f %.4f %.4f normal %.4f %.4f %.4f",
                      number(event.impulse), number(event.point.x), number(event.point.y), number(event.point.z),
                      number(event.normal.x), number(event.normal.y), number(event.normal.z));
    } else if (event.kind == EventKind::joint_broken || event.kind == EventKind::joint_overloaded) {
        std::snprintf(text, sizeof text, " force %.4g N", number(event.impulse));
    }
    line += text;
    if (event.tag != 0) line += " tag " + std::to_string(event.tag);
    if (event.kind == EventKind::command_rejected)
        line += " " + std::string(command_name(event.command)) + ": " + rejection_text(event.command, event.cause);
    return line;
}

class Tracer {
  public:
    Tracer(const TraceOptions& options, const sim::World& world)
        : options_(options), world_(world), names_(world), wanted_(options.bodies.begin(), options.bodies.end()) {
        for (const auto& [id, name] : names_.bodies()) note(id, name);
        for (std::size_t i = 0; i < kEventNames.size(); ++i) {
            const bool named = std::count(options.kinds.begin(), options.kinds.end(), kEventNames[i]) > 0;
            shown_[i] = named || (options.events && options.kinds.empty());
        }
    }

    void after_tick() {
        names_.note_spawned(world_);
        for (const sim::Event& event : world_.events()) {
            if (event.kind == EventKind::spawned) note(event.a, names_.of(event.a));
        }
        const std::uint64_t tick = world_.tick();
        if (tick < options_.from) return;
        for (const sim::Event& event : world_.events()) {
            if (!shown_[static_cast<std::size_t>(event.kind)]) continue;
            print(options_.json ? event_json(tick, event, names_) : event_text(tick, event, names_));
        }
        if ((tick - options_.from) % options_.every != 0) return;
        for (const auto& [id, name] : watched_) {
            if (world_.alive(id)) print(body_line(tick, name, world_.body(id), options_.json));
        }
    }

  private:
    static void print(const std::string& line) { std::printf("%s\n", line.c_str()); }
    void note(sim::BodyId id, const std::string& name) {
        if (wanted_.count(name)) watched_[id] = name;
    }

    const TraceOptions& options_;
    const sim::World& world_;
    Names names_;
    std::set<std::string> wanted_;
    std::map<sim::BodyId, std::string> watched_;
    std::array<bool, sim::kEventKinds> shown_{};
};

int finish(const TraceOptions& options, std::uint64_t ticks, const Error& divergence, const Error& incomplete) {
    const bool same = divergence.message.empty();
    if (options.json) {
        JsonLine line;
        line.number("last_tick", ticks).text("result", same ? "same" : "diverged");
        line.boolean("complete", incomplete.message.empty());
        if (!same || !incomplete.message.empty())
            line.text("error", same ? incomplete.to_string() : divergence.to_string());
        std::printf("%s\n", line.str().c_str());
    }
    if (!incomplete.message.empty())
        static_cast<void>(complain(options.replay + ": not complete: " + incomplete.to_string(), kExitGood));
    return same ? kExitGood : complain(options.replay + ": " + divergence.to_string(), kExitFalse);
}

// Why a recording ends where it does; nothing if it was closed.
Error incomplete(const Recording& recording) {
    const protocol::replay::Survey& seen = recording.survey();
    if (seen.status == protocol::replay::ReadStatus::closed) return {};
    if (seen.status != protocol::replay::ReadStatus::open) return seen.error;
    return Error{ErrorCode::corrupt, "byte " + std::to_string(recording.source().size()), "it was not closed"};
}

// From the first to the last tick that is wanted.
int trace_ticks(const TraceOptions& options, Recording& recording, sim::World& world, sim::Executor* executor) {
    const std::uint64_t start = std::max(options.from - 1, recording.survey().header.first_tick);
    Result<Ok> there = recording.go_to(start, world, executor);
    Tracer tracer(options, world);
    while (there && world.tick() < options.to) {
        const Result<bool> stepped = recording.step(world, executor);
        if (!stepped) there = stepped.error();
        if (!stepped || !*stepped) break;
        tracer.after_tick();
    }
    if (there) return finish(options, world.tick(), {}, world.tick() < options.to ? incomplete(recording) : Error{});
    if (there.error().code == ErrorCode::corrupt) return finish(options, world.tick() - 1, there.error(), {});
    return complain(options.replay + ": " + there.error().to_string(), exit_code_of(there.error()));
}

int trace(const TraceOptions& options, sim::Target target) {
    const auto recording = Recording::open(options.replay);
    if (!recording) return complain(options.replay + ": " + recording.error().to_string(), kExitInput);
    if (const std::uint64_t last = (*recording)->survey().ticks; options.from > last)
        return complain(options.replay + ": it ends at tick " + std::to_string(last) + ", before --from " +
                            std::to_string(options.from),
                        kExitInput);
    const auto world = (*recording)->new_world(options.max_bodies, target);
    if (!world) return complain(options.replay + ": " + world.error().to_string(), exit_code_of(world.error()));
    if (const Result<Ok> known = check_names(options.bodies, (*world)->definition()); !known)
        return complain(known.error(), kExitInput);
    std::unique_ptr<ThreadPool> pool;
    if (options.threads > 1) pool = std::make_unique<ThreadPool>(options.threads);
    return trace_ticks(options, **recording, **world, pool.get());
}

}  // namespace

int trace_command(const std::vector<std::string>& arguments) {
    TraceOptions options;
    CLI::App app(
        "Simulates a recording again and prints where bodies were and what happened, tick by tick. Each tick is "
        "compared with the recording: at the first that differs the trace ends, with exit code 1.",
        "orrery replay trace");
    describe(app, options);
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    int exit = kExitUsage;
    const std::optional<sim::Target> target = parse_target(options.target, exit);
    if (!target) return exit;
    if (options.bodies.empty() && !options.events && options.kinds.empty())
        return complain("nothing to print; give --bodies NAME,... or --events", kExitUsage);
    if (options.from > options.to) return complain("--from is beyond --to", kExitUsage);
    return trace(options, *target);
}

}  // namespace orrery::server
