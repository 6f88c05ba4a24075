// Parts of what touches: bodies, or children of their compounds, where they lie, and their faces.
#pragma once

#include <cstdint>
#include <span>

#include "sim/bodies/bodies.h"
#include "sim/shapes/double3.h"
#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

inline constexpr double kAlike = 1.0 - 2e-6;  // cosine of 0.11 degrees: normals nearer to each other are one
inline constexpr double kFlush_m = 0.001;     // heights that differ by no more are one
inline constexpr double kFlushOfBody = 0.01;  // of its bounding radius: the most that kFlush_m and its like are

struct Placed {
    const Shape* shape = nullptr;
    DPose pose;  // world axes, relative to the centre of a body
};
struct Face {
    D3 normal;
    double at = 0.0;  // along it
};

// As `origin` sees it.
Placed placed(const Bodies& bodies, std::span<const Shape> shapes, std::uint32_t body, std::uint32_t origin);
// What is no compound is its own child.
Placed child_of(const Placed& is, std::uint32_t child);
// The face that looks most along a direction. False: it has none.
bool face_along(const Placed& is, D3 direction, Face& face);

}  // namespace orrery::sim::ref
