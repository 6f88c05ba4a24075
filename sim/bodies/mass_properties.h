// What the mass of a body is made from.
#pragma once

namespace orrery::sim {

struct MassProperties {  // for a density of 1 kg/m^3, about the centre of mass
    float mass = 0.0f;
    float inertia[6] = {};  // xx, xy, xz, yy, yz, zz in the shape's frame
};

}  // namespace orrery::sim
