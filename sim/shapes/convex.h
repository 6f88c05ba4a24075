// Convex shapes as views, in double precision: what the pairs, queries and sweeps of convex shapes ask of a shape.
#pragma once

#include <cstdint>

#include "sim/shapes/double3.h"
#include "sim/shapes/hull.h"
#include "sim/shapes/polytope.h"
#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

enum class ConvexKind : std::uint8_t { point, segment, cylinder, polytope };

// A convex shape where its frame has it: a view of its shape, which must outlive it. Polytopes stay in their own
// frames, and only what is asked for is turned.
struct Convex {
    Convex() {}
    Convex(const Convex&) = delete;
    Convex& operator=(const Convex&) = delete;

    D3 local_vertex(std::uint32_t i) const { return {row[0][i], row[1][i], row[2][i]}; }
    D3 vertex(std::uint32_t i) const { return outward(pose, local_vertex(i)); }
    D3 normal(std::uint32_t face) const { return outward(pose.axes, local_normal[face]); }
    double offset(std::uint32_t face) const { return local_offset[face] + dot(normal(face), pose.position); }

    ConvexKind kind = ConvexKind::point;
    double radius = 0.0;                 // around a point or a segment
    double rim = 0.0;                    // cylinder: the caps' radius
    double half_height = 0.0;            // segment, cylinder
    DPose pose;                          // its position lies inside; segment and cylinder run along its y
    const Topology* topology = nullptr;  // polytope, as what follows
    double extent = 0.0;                 // no vertex is farther from the frame's origin
    const float* row[3] = {};            // x, y, z of the vertices; some repeated up to a multiple of kSupportLanes
    const D3* local_normal = nullptr;
    const double* local_offset = nullptr;  // of each face's plane along its normal
    const float* face_row[4] = {};         // as Hull's

  private:
    friend void place_convex(const Shape& shape, const DPose& pose, Convex& out);
    friend void place_triangle(const D3 corner[3], D3 normal, Convex& out);
    // A box's or a triangle's, written by those alone.
    float own_row_[3][8];
    float own_face_row_[4][8];
    double own_offset_[6];
    union {
        D3 own_normal_[2];
    };
};

// `shape` must be convex: a sphere, capsule, box, cylinder or hull.
void place_convex(const Shape& shape, const DPose& pose, Convex& out);
// Counter-clockwise seen from the front, face 0. Its corners are kept in single precision from their mean: to 3e-8 of
// its size.
void place_triangle(const D3 corner[3], D3 normal, Convex& out);

// How far a convex shape, or the box around a mesh or compound, reaches along a unit vector, from the frame's origin;
// and its box along the frame's axes, `around` larger.
double reach_of(const Shape& shape, const DPose& pose, D3 unit);
struct ShapeBox {
    D3 low, high;
};
ShapeBox box_of(const Shape& shape, const DPose& pose, double around);

// The face that looks most along a direction: of a polytope, or a cylinder's cap: 0 above, 1 below.
std::uint32_t facing(const Convex& c, D3 direction);
// How far the face parts its shape from another.
double separation_along(const Convex& c, std::uint32_t face, const Convex& other);

}  // namespace orrery::sim::ref
