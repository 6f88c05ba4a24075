#include "protocol/replay/recorded.h"

#include <bit>
#include <string>
#include <utility>

#include "protocol/scene/scene.h"

namespace orrery::protocol::replay {

Result<Ok> recorded_by_this_engine(const FileHeader& header) {
    const std::string version = std::to_string(header.engine_version);
    if (header.engine_version == sim::kEngineVersion) return Ok{};
    return Error{ErrorCode::version_mismatch, "file header",
                 "recorded by engine version " + version + ", this is engine version " +
                     std::to_string(sim::kEngineVersion) +
                     ": verify it with the version that recorded it, the image orrery:" + version};
}

Result<std::shared_ptr<const sim::Definition>> recorded_definition(const FileHeader& header, const SceneLoader& load) {
    if (const Result<Ok> own = recorded_by_this_engine(header); !own) return own.error();
    if (header.leaves != sim::kSubsystemCount)
        return Error{ErrorCode::corrupt, "file header",
                     "its hash trees have another number of leaves than this engine's: verify it with the version that "
                     "recorded it"};
    auto def = load(header);
    if (!def) return def.error();
    if (std::bit_cast<std::uint32_t>(def->tick_rate_hz) != std::bit_cast<std::uint32_t>(header.tick_rate_hz))
        return Error{ErrorCode::corrupt, "file header",
                     "the recorded tick rate differs from that of the recorded scene; use an undamaged copy"};
    return sim::Definition::create(std::move(def).value());
}

Result<sim::WorldDef> load_recorded_scene(const FileHeader& header, std::uint64_t max_bodies) {
    SceneCaps caps;
    caps.max_bodies = max_bodies;
    auto scene = load_scene(header.scene, "the recorded scene", {}, caps);
    if (!scene) return scene.error();
    if (scene->scene_hash != header.scene_hash)
        return Error{ErrorCode::corrupt, "file header",
                     "the recorded scene has another hash than the file header states; use an undamaged copy"};
    return std::move(scene->world);
}

bool agrees(const sim::HashTree& found, const TickRecord& record) {
    return record.has_leaves ? found == record.hash : found.root == record.hash.root;
}

Result<Ok> take(sim::World& world, const TickRecord& record, sim::Executor* executor) {
    if (const sim::StepStatus status = world.step(record.commands, executor); status != sim::StepStatus::ok)
        return sim::step_error(status, record.tick);
    if (!agrees(world.hash(), record))
        return Error{ErrorCode::corrupt, "tick " + std::to_string(record.tick),
                     "the simulation differs from the recording from here on (see orrery verify)"};
    return Ok{};
}

std::optional<sim::Subsystem> differing_leaf(const sim::HashTree& a, const sim::HashTree& b) {
    for (std::size_t i = 0; i < sim::kSubsystemCount; ++i)
        if (a.leaves[i] != b.leaves[i]) return static_cast<sim::Subsystem>(i);
    return std::nullopt;
}

std::string_view differing_part(const sim::HashTree& a, const sim::HashTree& b) {
    const auto leaf = differing_leaf(a, b);
    return leaf ? sim::subsystem_name(*leaf) : "root";
}

}  // namespace orrery::protocol::replay
