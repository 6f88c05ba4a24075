// What a shape tells the world's queries, in its own frame and in double precision: one file a shape beside this one,
// each with one table. A convex shape is a core (the hull of what its support function reaches) with a ball of
// Shape::radius rolled over it; overlap and cast of convex shapes are made of that (convex.h), so such a shape writes
// `ray`, `closest` and `support` alone.
//
// For the reference pass: include sim/lanes/ref_pass.h and sim/lanes/double-inl.h first.
#pragma once

#include <cstdint>

#include "sim/lanes/matrix-inl.h"
#include "sim/shapes/shape.h"
#include "sim/trees/tree_kernels.h"

namespace orrery::sim::ref {

using Point = Vec3T<double>;

// A posed frame: world = rotation * local + position.
struct Frame {
    Mat3T<double> rotation;
    Point position;
};
inline Point to_outer(const Frame& f, Point local) { return (f.rotation * local) + f.position; }
inline Point to_local(const Frame& f, Point outer) { return transpose_times(f.rotation, outer - f.position); }
Frame frame_of(const Pose& pose);                              // of a quaternion that is about unit
Frame relative_frame(const Frame& outer, const Frame& inner);  // inner as seen in outer's frame

struct Box3 {
    Point min, max;
};

struct Ray {
    Point origin, direction;  // unit
    double length = 0.0;      // m
    const TreeKernels* kernels =
        &kTreeKernels;  // by which the trees of shapes of many are searched: no bit depends on it
};

// Where something meets a surface, in the shape's frame.
struct SurfacePoint {
    double distance = 0.0;    // m: along a ray or cast; of a closest point to the surface, negative inside
    Point point{}, normal{};  // the normal points out of the shape, and is zero where `inside`
    std::uint32_t child = 0;  // a part of a shape of many
    bool inside = false;      // a ray or cast began inside: distance 0, and the shape gives no point
};

struct ShapeQueries;

// A convex shape that is cast or tested for overlap, posed in the frame of the shape that it is tested against.
struct Probe {
    const Shape& shape;
    const ShapeQueries& queries;
    Frame frame;
    double rounding_m = 0.0;                     // how far single precision may have moved it against the shape
    double wanted_m = 1e300;                     // a cast's first touch beyond it may be left out
    const TreeKernels* kernels = &kTreeKernels;  // see Ray
};

struct ShapeQueries {
    // The first point of the surface on the ray, from outside; strictly inside at its origin counts as a hit there.
    bool (*ray)(const Shape&, const Ray&, SurfacePoint& hit);
    // The point of the surface nearest to a point.
    SurfacePoint (*closest)(const Shape&, Point point);
    // Convex shapes: a farthest point of the core along a direction of any length; null for others, which cannot be
    // probes.
    Point (*support)(const Shape&, Point direction) = nullptr;
    // Null for convex shapes.
    bool (*overlap)(const Shape&, const Probe&, std::uint32_t& child) = nullptr;
    bool (*cast)(const Shape&, const Probe&, Point direction, double length, SurfacePoint& hit) = nullptr;
    // Null for convex shapes. False: no box holds the shape.
    bool (*bounds)(const Shape&, const Frame&, Box3& box) = nullptr;
    // Convex shapes: makes it smaller by so much on all sides, about, less than its inner radius
    // (sim/collision/sweep/sweep.h).
    void (*shrink)(Shape&, float by) = nullptr;
    bool shrinks_radius = false;  // and that changes nothing but Shape::radius
};

extern const ShapeQueries kSphereQueries, kBoxQueries, kCapsuleQueries, kPlaneQueries, kCylinderQueries, kHullQueries,
    kMeshQueries, kCompoundQueries;
const ShapeQueries& shape_queries(ShapeType type);

Point probe_support(const Probe& probe, Point direction);            // of its core, in the frame that it is posed in
bool box_bounds(const Shape& shape, const Frame& frame, Box3& box);  // of its half extents
// For every shape; `bounds` holds the posed shape but for rounding.
bool shape_bounds(const Shape& shape, const Frame& frame, Box3& bounds);
bool shape_overlap(const Shape& shape, const Probe& probe, std::uint32_t& child);
// Of any two posed shapes but two planes: those that cannot be probes are cut into parts that can.
bool shapes_overlap(const Shape& a, const Frame& frame_a, const Shape& b, const Frame& frame_b);
bool shape_cast(const Shape& shape, const Probe& probe, Point direction, double length, SurfacePoint& hit);

}  // namespace orrery::sim::ref
