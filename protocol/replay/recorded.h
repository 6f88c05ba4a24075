// What a recording was made of: its scene, if this engine can simulate it again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "orrery/sim.hpp"
#include "protocol/replay/records.h"

namespace orrery::protocol::replay {

// Makes the definition of the recorded scene, and compares its hash with the one in the header.
using SceneLoader = std::function<Result<sim::WorldDef>(const FileHeader& header)>;

// An error if another engine version recorded it.
Result<Ok> recorded_by_this_engine(const FileHeader& header);

// The definition of a recording, if this engine can simulate it again: of this engine version, and with a scene that
// loads and has the tick rate of the header. Else the error says what to do.
Result<std::shared_ptr<const sim::Definition>> recorded_definition(const FileHeader& header, const SceneLoader& load);

// A SceneLoader of the scene in the header, which may have so many bodies.
Result<sim::WorldDef> load_recorded_scene(const FileHeader& header, std::uint64_t max_bodies);

// Whether the state with these hashes is that of the record, as far as it has them: the root, and the leaves.
bool agrees(const sim::HashTree& found, const TickRecord& record);

// Steps a world by a recorded tick. Errors: the tick cannot be taken; corrupt: the state then differs from the record.
Result<Ok> take(sim::World& world, const TickRecord& record, sim::Executor* executor = nullptr);

// The first part of the state whose hashes differ; nothing, and "root": only those of the whole do.
std::optional<sim::Subsystem> differing_leaf(const sim::HashTree& a, const sim::HashTree& b);
std::string_view differing_part(const sim::HashTree& a, const sim::HashTree& b);

}  // namespace orrery::protocol::replay
