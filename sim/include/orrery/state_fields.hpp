// The state of a world as fields with names, for dumps and for finding where two states differ first.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "orrery/world.hpp"

namespace orrery::sim {

// Of the numbers of a field; f32 is a float.
enum class FieldType : std::uint8_t { u8, u16, u32, u64, f32 };

// A field, or a vector of numbers that belong together.
struct StateField {
    Subsystem subsystem = Subsystem::clock;
    // Where the field is: "world", or an element of "bodies", "changed", "joints", "rig_forces", "contacts",
    // "sleeping_contacts", "sensor_overlaps", "rolling", "mean_motions", "slots", "actuators" or "events". `index`: of
    // bodies and joints that of their id, of slots that of WorldDef::slots, else the place in the list. rig_forces have
    // joint index + 1.
    std::string_view list;
    std::uint32_t index = 0;
    std::string_view name;  // "position"; units and frames as in the public headers
    FieldType type = FieldType::u8;
    std::uint32_t count = 0;              // numbers: 3 for a vector; quaternions are x, y, z, w
    std::span<const std::uint8_t> bytes;  // little endian, valid during the visit

    // Number i of a field of any type, as its bits.
    std::uint64_t integer(std::uint32_t i) const {
        constexpr std::uint32_t kBytes[] = {1, 2, 4, 8, 4};
        const std::uint32_t size = kBytes[static_cast<std::size_t>(type)];
        std::uint64_t value = 0;
        for (std::uint32_t k = size; k > 0; --k) value = value << 8 | bytes[i * size + k - 1];
        return value;
    }
    // Number i of a field of type f32.
    float number(std::uint32_t i) const { return std::bit_cast<float>(static_cast<std::uint32_t>(integer(i))); }
};

// Gets the fields of World::visit_fields, one by one.
class StateFieldVisitor {
  public:
    virtual ~StateFieldVisitor() = default;
    virtual void field(const StateField& field) = 0;  // `field` is valid during the call
};

}  // namespace orrery::sim
