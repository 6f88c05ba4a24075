#include "server/cli/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "protocol/scene/bounds.h"
#include "protocol/scene/command_script.h"
#include "server/base/build_info.h"
#include "server/base/json_line.h"
#include "server/base/left_out.h"
#include "server/base/scene_file.h"
#include "server/cli/body_lines.h"
#include "server/cli/command_line.h"
#include "server/cli/incidents.h"
#include "server/cli/simulate.h"
#include "server/room/recorder.h"
#include "server/room/rig_backend.h"
#include "server/room/thread_pool.h"

namespace orrery::server {

namespace {

struct RunOptions {
    std::string scene, record, commands, target = "auto", jacobi = "auto", hash_tree, bodies;
    std::uint64_t ticks = 0, hash_every = 0, bodies_every = 1;
    std::uint64_t max_bodies = protocol::kDefaultMaxSceneBodies;
    std::uint32_t threads = 1;
    std::optional<std::uint32_t> substeps;
    std::optional<float> tick_rate_hz;
    bool json = false, profile = false;
};

void describe(CLI::App& app, RunOptions& options) {
    app.add_option("SCENE", options.scene, "scene file, JSON or binary")->required();
    app.add_option("--ticks", options.ticks, "ticks to simulate")->required()->check(whole_number(0, kMaxRunTicks));
    app.add_option("--record", options.record, "write a replay to this folder")->check([](const std::string& folder) {
        return folder.empty() ? std::string("the name of the folder is empty; name one") : std::string();
    });
    app.add_option(
        "--commands", options.commands,
        "JSON file of commands by tick: {\"commands\": [{\"tick\": 1, \"kind\": \"join\", \"slot\": \"player_1\"}, "
        "{\"tick\": 2, \"kind\": \"control\", \"slot\": \"player_1\", \"channels\": [1, 0]}]}; kinds are join, leave, "
        "spawn, "
        "despawn, impulse, teleport, motor_target, grab, move_grab, remove_joint, control, create_joint, set_joint, "
        "wake, set_filter, set_body_type, set_gravity_scale, set_material, set_damping, force, kinematic_target, "
        "teleport_group, respawn, occupy, drive, vacate; "
        "fields as in "
        "protocol/scene/command_script.fbs. What a join, spawn, grab (\"name\") or create_joint (\"name\" of its "
        "order) makes can be named in "
        "commands of later ticks. Rejected commands are printed on stderr and counted; they do not change the exit "
        "code");
    app.add_option("--target", options.target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon (no bit depends on it)")
        ->capture_default_str();
    app.add_option("--threads", options.threads, "threads inside a tick (no bit depends on it)")
        ->check(whole_number(1, kMaxThreads))
        ->capture_default_str();
    add_jacobi_option(app, options.jacobi);
    app.add_option("--tick-rate", options.tick_rate_hz, "ticks for each second, instead of the scene's, Hz")
        ->check(CLI::Range(1.0, static_cast<double>(protocol::kMaxTickRate_hz)));
    app.add_option("--substeps", options.substeps, "substeps for each tick, instead of the scene's")
        ->check(whole_number(1, sim::kMaxSubsteps));
    add_max_bodies_option(app, options.max_bodies);
    app.add_option("--hash-every", options.hash_every, "ticks between printed hashes (0: only at the end)")
        ->check(whole_number(0, kMaxRunTicks));
    app.add_option("--hash-tree", options.hash_tree,
                   "write the hash of every subsystem after every tick to this file, one JSON object for each line");
    app.add_option("--bodies", options.bodies,
                   "print position (m), orientation (x y z w), velocity (m/s) and angular velocity (rad/s) of these "
                   "bodies after every "
                   "tick: names of bodies of the scene, and of bodies that commands make, with commas between");
    app.add_option("--bodies-every", options.bodies_every, "and not after every tick, but once in so many")
        ->check(whole_number(1, kMaxRunTicks))
        ->capture_default_str();
    app.add_flag("--profile", options.profile, "measure the stages of a tick");
    app.add_flag("--json", options.json, "print one JSON object for each line instead of text");
}

// What happens after each tick of a run: hashes printed and written, the replay appended.
class TickWriter {
  public:
    TickWriter(const RunOptions& options, const protocol::SharedScene& scene) : options_(options), scene_(scene) {}

    Result<Ok> open(sim::Target target) {
        if (!options_.hash_tree.empty()) {
            tree_file_.reset(std::fopen(options_.hash_tree.c_str(), "w"));
            if (!tree_file_)
                return Error{ErrorCode::io, options_.hash_tree, "cannot be written; name a file in an existing folder"};
        }
        if (options_.record.empty()) return Ok{};
        RecorderSettings settings;
        settings.directory = options_.record;
        settings.room = "run";
        settings.about = about_build(target);
        Result<std::unique_ptr<Recorder>> recorder = Recorder::open(
            settings, {scene_.name, scene_.binary, scene_.scene_hash, scene_.definition->def().tick_rate_hz});
        if (!recorder) return recorder.error();
        recorder_ = std::move(*recorder);
        return Ok{};
    }

    // `script` may be null, and outlives this.
    Result<Ok> find_bodies(const sim::World& world, const protocol::CommandScript* script) {
        script_ = script;
        for (std::size_t begin = 0; begin < options_.bodies.size();) {
            const std::size_t end = std::min(options_.bodies.find(',', begin), options_.bodies.size());
            const std::string name = options_.bodies.substr(begin, end - begin);
            const sim::BodyId id = world.find_body(name);
            const bool made = !id.valid() && script && script->body_named(name);
            if (!id.valid() && !made) {
                return Error{
                    ErrorCode::not_found, "--bodies",
                    "no body of the scene is called \"" + name + "\"" + (script ? ", and no command makes one" : "")};
            }
            bodies_.push_back({name, id, made});
            begin = end + 1;
        }
        return Ok{};
    }

    Result<Ok> after_tick(const sim::World& world, std::span<const sim::Command> commands) {
        if (!bodies_.empty() && world.tick() % options_.bodies_every == 0) print_bodies(world);
        const bool print = options_.hash_every > 0 && world.tick() % options_.hash_every == 0;
        if (!print && !tree_file_ && !recorder_) return Ok{};
        const sim::HashTree hash = world.hash();
        if (print && options_.json)
            std::printf("%s\n", JsonLine().number("tick", world.tick()).text("hash", hex16(hash.root)).str().c_str());
        if (print && !options_.json)
            std::printf("tick %llu hash %s\n", static_cast<unsigned long long>(world.tick()), hex16(hash.root).c_str());
        if (tree_file_) write_tree(world.tick(), hash);
        if (!recorder_) return Ok{};
        if (const Result<Ok> appended = recorder_->append_tick(world.tick(), commands, hash); !appended)
            return appended.error();
        if (!recorder_->keyframe_due()) return Ok{};
        state_.clear();
        world.save(state_);
        const Result<Ok> kept = recorder_->append_keyframe(state_);
        if (!kept && kept.error().code != ErrorCode::limit_reached)
            return kept.error();  // the recording goes on without it
        return Ok{};
    }

    Result<Ok> close() {
        if (tree_file_ && std::fflush(tree_file_.get()) != 0)
            return Error{ErrorCode::io, options_.hash_tree, "could not be written completely; make room for it"};
        return recorder_ ? recorder_->close() : Result<Ok>(Ok{});
    }

    std::string replay_path() const { return recorder_ ? recorder_->path() : ""; }

  private:
    // A body that is gone, or not made yet, has no line.
    void print_bodies(const sim::World& world) const {
        for (const auto& [name, defined, made] : bodies_) {
            const sim::BodyId id = made ? *script_->body_named(name) : defined;
            if (!world.alive(id)) continue;
            std::printf("%s\n", body_line(world.tick(), name, world.body(id), options_.json).c_str());
        }
    }
    void write_tree(std::uint64_t tick, const sim::HashTree& hash) {
        JsonLine line;
        line.number("tick", tick).text("root", hex16(hash.root));
        for (std::size_t i = 0; i < sim::kSubsystemCount; ++i) {
            line.text(sim::subsystem_name(static_cast<sim::Subsystem>(i)), hex16(hash.leaves[i]));
        }
        std::fprintf(tree_file_.get(), "%s\n", line.str().c_str());
    }

    const RunOptions& options_;
    const protocol::SharedScene& scene_;
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> tree_file_;
    std::unique_ptr<Recorder> recorder_;
    std::vector<std::uint8_t> state_;
    const protocol::CommandScript* script_ = nullptr;
    struct Watched {
        std::string name;
        sim::BodyId defined;
        bool made = false;  // by a command
    };
    std::vector<Watched> bodies_;  // to print
};

int run_scene(const RunOptions& options, sim::Target target, const protocol::SharedScene& scene) {
    const Result<RigBackend> rigs = pick_rig_backend(options.jacobi, scene.definition->def());
    if (!rigs) return complain(rigs.error(), kExitMachine);
    Result<std::unique_ptr<sim::World>> world =
        sim::World::create(scene.definition, {.target = target, .rig_device = rigs->device.get()});
    if (!world) return complain(options.scene + ": " + world.error().to_string(), exit_code_of(world.error()));
    std::optional<protocol::CommandScript> script;
    if (!options.commands.empty()) {
        const Result<std::vector<std::uint8_t>> bytes =
            read_file(options.commands, protocol::kMaxScriptBytes, "kMaxScriptBytes");
        if (!bytes) return complain(bytes.error(), kExitInput);
        Result<protocol::CommandScript> loaded = protocol::CommandScript::load(*bytes, options.commands, **world);
        if (!loaded) return complain(loaded.error(), kExitInput);
        if (const std::optional<std::uint64_t> beyond = loaded->first_after(options.ticks)) {
            return complain(options.commands + ": has a command at tick " + std::to_string(*beyond) +
                                ", but --ticks is " + std::to_string(options.ticks) +
                                ": simulate more ticks, or remove the command",
                            kExitInput);
        }
        script = std::move(*loaded);
    }
    TickWriter writer(options, scene);
    Incidents incidents(options.scene, script ? &*script : nullptr, options.commands);
    if (const Result<Ok> found = writer.find_bodies(**world, script ? &*script : nullptr); !found)
        return complain(found.error(), kExitInput);
    if (const Result<Ok> opened = writer.open(target); !opened) return complain(opened.error(), kExitMachine);

    protocol::BoundsWatch bounds(scene.bounds, **world);
    SimulateSettings settings;
    settings.scene = scene.name;
    settings.threads = options.threads;
    settings.ticks = options.ticks;
    settings.profile = options.profile;
    if (script) settings.commands = [&](std::uint64_t tick) { return script->at(tick); };
    settings.after_tick = [&](const sim::World& now, std::span<const sim::Command> commands) {
        if (script) script->note_made(now);
        incidents.after_tick(now, commands);
        bounds.look();
        return writer.after_tick(now, commands);
    };
    Result<SimulateReport> report = simulate(**world, settings);
    incidents.finish();
    if (!report) return complain(report.error(), report.error().code == ErrorCode::io ? kExitMachine : kExitInput);
    if (const Result<Ok> closed = writer.close(); !closed) return complain(closed.error(), kExitMachine);

    for (std::size_t i = 0; i < scene.bounds.size(); ++i) {
        if (bounds.kept()[i].broken_at != 0)
            static_cast<void>(complain(options.scene + ": " + bounds.text(i), kExitFalse));
    }
    report->bounds = static_cast<std::uint32_t>(scene.bounds.size());
    report->bounds_broken = bounds.broken();
    report->bounds_not_reached = bounds.not_reached();
    const ReportHead head{scene.name, options.threads, scene.definition->def().substeps, options.profile, rigs->text};
    std::printf("%s\n", (options.json ? report_json(head, *report) : report_text(head, *report)).c_str());
    if (!options.json && !options.record.empty()) std::printf("replay %s\n", writer.replay_path().c_str());
    if (options.json && !options.record.empty())
        std::printf("%s\n", JsonLine().text("replay", writer.replay_path()).str().c_str());
    return report->bounds_broken == 0 ? kExitGood : kExitFalse;
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
    CLI::App app(
        "Simulates a scene without a network, as fast as the machine can, and prints hash, times and quality. If a "
        "body leaves a bound "
        "that the scene states, it prints which one, when and how, and the exit code is 1.",
        "orrery run");
    RunOptions options;
    describe(app, options);
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    int exit = kExitGood;
    const std::optional<sim::Target> target = parse_target(options.target, exit);
    if (!target) return exit;
    protocol::SceneOverrides overrides;
    overrides.tick_rate_hz = options.tick_rate_hz;
    overrides.substeps = options.substeps;
    protocol::SceneCaps caps;
    caps.max_bodies = options.max_bodies;
    Result<protocol::LoadedScene> loaded = load_scene_file(options.scene, overrides, caps);
    if (!loaded) return complain(loaded.error(), kExitInput);
    const Result<protocol::SharedScene> scene = share_scene_file(std::move(loaded).value(), options.scene);
    if (!scene) return complain(scene.error(), exit_code_of(scene.error()));
    for (const std::string& text : left_out_texts(*scene->definition))
        static_cast<void>(complain(options.scene + ": warning: " + text, kExitGood));
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file size is met like a full disk
    return run_scene(options, *target, *scene);
}

}  // namespace orrery::server
