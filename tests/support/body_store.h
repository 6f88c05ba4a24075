// Bodies that are of no definition, for tests of what works on the body store alone.
#pragma once

#include <cstdint>

#include "sim/bodies/bodies.h"

namespace orrery::sim {  // where calls find it by their arguments

// Of a kind of its own.
inline std::uint32_t push_body(Bodies& bodies, std::uint8_t flags) {
    const auto index = bodies.size();
    bodies.velocity.emplace_back();
    bodies.pose.emplace_back();
    bodies.delta.emplace_back();
    bodies.inertia.emplace_back();
    bodies.kinds.info.emplace_back();
    bodies.kinds.mass.emplace_back();
    bodies.kinds.count = index + 1;
    bodies.kind_of.push_back(index);
    bodies.mass_of.push_back(static_cast<std::uint32_t>(bodies.kinds.mass.size() - 1));
    bodies.slot.push_back(0xffff);
    bodies.flags.push_back(flags);
    bodies.thin.push_back(0);
    bodies.generation.push_back(0);
    return index;
}
inline BodyInfo& body_info(Bodies& bodies, std::uint32_t i) { return bodies.kinds.info[i]; }
inline const BodyInfo& body_info(const Bodies& bodies, std::uint32_t i) { return bodies.info(i); }
inline MassRecord& mass_record(Bodies& bodies, std::uint32_t i) { return bodies.kinds.mass[bodies.mass_of[i]]; }
inline const MassRecord& mass_record(const Bodies& bodies, std::uint32_t i) { return bodies.mass(i); }

}  // namespace orrery::sim
