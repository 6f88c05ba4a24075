// The first difference between the state of a world and the bytes of another's World::save(), by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orrery/state_fields.hpp"

namespace orrery::protocol::replay {

struct StateDifference {
    // As in sim::StateField. Of the bytes before the fields: the list "header", with the place of the byte as index.
    sim::Subsystem subsystem = sim::Subsystem::clock;
    std::string list;
    std::uint32_t index = 0;
    std::string field;
    sim::FieldType type = sim::FieldType::u8;
    std::uint32_t number = 0, count = 1;  // the first of the field's numbers that differs; how many it has
    std::uint64_t here = 0;               // bits of that number in the world
    std::optional<std::uint64_t> there;   // bits of the number in the bytes; nothing: they end before it
    std::vector<std::uint32_t> bodies;    // indices of the bodies that the element is of, as far as its fields say
    std::optional<std::uint64_t> ulps() const;  // distance, of two floats that are numbers

    // "position.y", "impulse[4]", "slow_ticks"
    std::string name() const;
};

// Nothing: `save` is what world.save() gives. It need not be a state that restores: up to the first difference it has
// the form of the world's own state.
std::optional<StateDifference> first_difference(const sim::World& world, std::span<const std::uint8_t> save);

}  // namespace orrery::protocol::replay
