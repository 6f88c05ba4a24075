// Two executions of one recording, tick by tick up to the first difference.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/replay/difference.h"
#include "server/base/child_output.h"
#include "server/cli/recording.h"

namespace orrery::server {

// Its errors name it.
class Execution {
  public:
    virtual ~Execution() = default;
    // Takes the recorded tick, which follows the one before. Gives the hash of the state then.
    virtual Result<sim::HashTree> take(const protocol::replay::TickRecord& record) = 0;
    // The bytes of World::save() after a tick that it took, the last one. `start`: a tick at which it had the state of
    // the recording's keyframe, or that of the recording's start.
    virtual Result<std::vector<std::uint8_t>> state(std::uint64_t tick, std::uint64_t start) = 0;
};

// In this process.
class WorldExecution final : public Execution {
  public:
    struct Settings {
        sim::Target target = sim::Target::automatic;
        sim::Executor* executor = nullptr;  // workers inside a tick
        sim::RigDevice* rig_device = nullptr;
    };
    // At the start of the recording.
    static Result<std::unique_ptr<WorldExecution>> create(std::string name, Recording& recording,
                                                          std::shared_ptr<const sim::Definition> definition,
                                                          const Settings& settings);
    Result<sim::HashTree> take(const protocol::replay::TickRecord& record) override;
    Result<std::vector<std::uint8_t>> state(std::uint64_t tick, std::uint64_t start) override;
    const sim::World& world() const { return *world_; }

  private:
    WorldExecution(std::string name, std::unique_ptr<sim::World> world, sim::Executor* executor)
        : name_(std::move(name)), world_(std::move(world)), executor_(executor) {}
    std::string name_;
    std::unique_ptr<sim::World> world_;
    sim::Executor* executor_;
};

// By another `orrery` program, which prints hashes and states (`replay hashes`, `replay state`).
class ProgramExecution final : public Execution {
  public:
    // Errors: the program does not run, or is of another engine version (version_mismatch).
    static Result<std::unique_ptr<ProgramExecution>> create(const std::string& program, const std::string& replay,
                                                            const std::vector<std::string>& options);
    Result<sim::HashTree> take(const protocol::replay::TickRecord& record) override;
    Result<std::vector<std::uint8_t>> state(std::uint64_t tick, std::uint64_t start) override;

  private:
    ProgramExecution(std::string program, std::string replay, std::vector<std::string> options)
        : program_(std::move(program)), replay_(std::move(replay)), options_(std::move(options)) {}
    std::string program_, replay_;
    std::vector<std::string> options_;
    std::unique_ptr<ChildOutput> hashes_;
};

// Where two states differ first.
struct StateDivergence {
    std::uint64_t tick = 0;
    std::vector<sim::Subsystem> subsystems;                       // whose hashes differ
    std::optional<protocol::replay::StateDifference> difference;  // nothing: the states are the same
};

struct Comparison {
    std::uint64_t ticks = 0;  // equal, from the first of the recording on
    std::optional<StateDivergence> divergence;
    // The first tick at which the execution differs from the recording.
    std::optional<std::uint64_t> here_not_recorded, there_not_recorded;
};

// Both are at the start of the recording. `progress` gets every tick. An error: one of them could not go on.
Result<Comparison> compare_executions(Recording& recording, WorldExecution& here, Execution& there,
                                      const std::function<void(std::uint64_t tick)>& progress);

// A keyframe of the recording beside the state that this machine finds for its tick.
struct KeyframeComparison {
    std::uint64_t tick = 0;
    std::optional<protocol::replay::StateDifference> difference;  // nothing: they are the same
};

// Goes on from the last keyframe before `tick`, at which the execution differs from the recording, up to the first one
// at or after it. Nothing: the recording has none. `world`: a new one; then that of the keyframe's tick.
Result<std::optional<KeyframeComparison>> compare_next_keyframe(
    Recording& recording, sim::World& world, std::uint64_t tick, sim::Executor* executor,
    const std::function<void(std::uint64_t tick)>& progress);

}  // namespace orrery::server
