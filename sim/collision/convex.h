// The general pair of convex shapes: any two of point, segment, cylinder, polytope, points and segments with a radius around
// them. It serves every pair that has no function over the lanes. Scalar, double precision, compiled once in namespace ref: the
// same bits whatever the world's SIMD target.
//
//   1. find_axis: along which direction are they farthest apart, or do they overlap least? Two polytopes: separating axes,
//   edges pruned
//      by their Gauss maps. Else: the faces, and the distance of the cores (GJK) or where those overlap the least translation
//      that parts them (EPA). A face counts as the better axis until another beats it by a tolerance, so that rounding does not
//      make resting bodies change their mind; the choice is a function of the two poses alone.
//   2. collide_convex: the face turned to the other shape is clipped against the reference face; of the places found at most
//   four are
//      kept. Without a reference face: the point midway between the two features, or two where edges run side by side.
//
// Everything is in one frame of the caller's choice, normals point from A to B, a contact's point lies midway between the
// surfaces.
#pragma once

#include <cstdint>

#include "sim/collision/manifold.h"
#include "sim/shapes/double3.h"
#include "sim/shapes/hull.h"
#include "sim/shapes/polytope.h"
#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

enum class ConvexKind : std::uint8_t { point, segment, cylinder, polytope };

// A convex shape where its frame has it.
struct Convex {
    ConvexKind kind = ConvexKind::point;
    double radius = 0.0;       // around a point or a segment
    double rim = 0.0;          // cylinder: the caps' radius
    double half_height = 0.0;  // segment, cylinder
    DPose pose;                // segment and cylinder run along its y
    const Topology* topology = nullptr;
    D3 vertex[kMaxHullVertices];  // polytope
    D3 normal[kMaxHullFaces];
    double offset[kMaxHullFaces];  // of each face's plane along its normal
};

// `shape` must be convex: a sphere, capsule, box, cylinder or hull.
void place_convex(const Shape& shape, const DPose& pose, Convex& out);
// Counter-clockwise seen from the front, face 0.
void place_triangle(const D3 corner[3], D3 normal, Convex& out);

// The farthest point of the core along a direction; the radius comes on top of it.
D3 support(const Convex& c, D3 direction);
// How far the core reaches along a direction, radius included if it is a unit vector.
inline double reach_along(const Convex& c, D3 unit) { return dot(support(c, unit), unit) + c.radius; }

// How much better a less preferred axis has to be: metres, and a part of the separation.
inline constexpr double kFaceBias_m = 0.0005, kFaceBiasRelative = 0.05;
inline double preferred_to(double separation) { return separation + (kFaceBias_m + absolute(separation) * kFaceBiasRelative); }

// ---- convex_distance_ref.cpp: cores, without the radii around them

struct ConvexGap {
    double distance = 0.0;  // negative: overlap
    D3 normal;              // unit, from A to B
    D3 on_a, on_b;          // nearest points; where the cores overlap, the points that part last
    bool sound = false;     // false where the cores overlap and no direction was found: both are flat
};
// Where the cores overlap and `overlap_enough` is given, the search ends there with sound = false.
ConvexGap convex_gap(const Convex& a, const Convex& b, bool overlap_enough);

// ---- convex_axes_ref.cpp

struct ConvexAxis {
    enum class Kind : std::uint8_t { none, face_a, face_b, between };
    Kind kind = Kind::none;
    D3 normal;
    double separation = -1e300;
    std::uint32_t face = 0;  // face_*: of a polytope, or a cylinder's cap: 0 above, 1 below
    bool of_edges = false;   // between two edges of polytopes, else between points of the surfaces
    std::uint32_t edge_a = 0, edge_b = 0;
    D3 on_a, on_b;
};

// The axis of largest separation along the faces of `c` against `other`: the normal points out of `c`.
ConvexAxis best_face(const Convex& c, const Convex& other);
// Of two polytopes, the pair of edges whose product parts them farthest; kind none where no two edges meet.
ConvexAxis best_edges(const Convex& a, const Convex& b);
// The best axis that is no face; kind none where there is none.
ConvexAxis between_axis(const Convex& a, const Convex& b);
// By the distance of shapes that are apart; `otherwise` where they overlap.
ConvexAxis apart_axis(const Convex& a, const Convex& b, const ConvexAxis& otherwise);
// kind none: they are farther apart than `limit`, which is not negative.
ConvexAxis find_axis(const Convex& a, const Convex& b, double limit);

// ---- convex_contacts_ref.cpp

struct ConvexPoint {
    D3 point;
    double depth = 0.0;
    std::uint32_t feature = 0;
};
struct ConvexContacts {
    D3 normal;
    std::uint32_t count = 0;
    ConvexPoint point[kMaxManifoldPoints];
};

// The other shape as a surface seen along a normal meets it: a point, a segment, or a polygon that goes round counter-clockwise
// about the feature's own outward direction. Numbers are stable: a point is named by what it is of the shape.
inline constexpr std::uint32_t kCapPoints = 8;
struct Outline {
    std::uint32_t count = 0;
    D3 point[kMaxHullVertices];
    std::uint8_t number[kMaxHullVertices];
    std::uint32_t name = 0;  // of the face
};
// Of the feature of `c` that looks most along `direction`.
void outline_along(const Convex& c, D3 direction, Outline& out);
// The direction in which the outline's face looks; `direction` where it is no face.
D3 outline_normal(const Convex& c, const Outline& outline, D3 direction);

// A place where two faces meet: x, y on the reference plane, height above it.
struct Place {
    double x = 0.0, y = 0.0, height = 0.0;
    std::uint32_t feature = 0;
};
// Keeps at most four of `count` places, at the front of the array: the farthest in a fixed direction, the farthest from it, the
// one that makes the largest triangle with those, the farthest outside that triangle; and the deepest in place of its
// neighbour.
std::uint32_t keep_four(Place* places, std::uint32_t count);

// Where shapes within `margin` of each other touch, or will within a tick in which A moves by `motion` relative to B. False:
// nowhere.
bool collide_convex(const Convex& a, const Convex& b, D3 motion, double margin, ConvexContacts& out);
// The same along an axis that find_axis gave; where its face does not hold what is deepest, along another.
bool contacts_along(const Convex& a, const Convex& b, ConvexAxis axis, D3 motion, double margin, ConvexContacts& out);
// The same against the half space below a plane through `origin`; the shape is A.
bool collide_half_space(const Convex& a, D3 origin, D3 plane_normal, D3 motion, double margin, ConvexContacts& out);

}  // namespace orrery::sim::ref
