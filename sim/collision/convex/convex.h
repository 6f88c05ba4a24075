// The general pair of convex shapes: any two of point, segment, cylinder, polytope, points and segments with a radius
// around them. It serves every pair that has no function over the lanes. Scalar, double precision, compiled once in
// namespace ref: the same bits whatever the world's SIMD target.
//
//   1. convex_gap: the distance of the cores (GJK), no further than it takes to know that they are beyond each other's
//   reach. Of two
//      polytopes faces and edges are asked first: most that overlap, are beyond reach, or have a corner above a face
//      need no more.
//   2. find_axis: along which direction are they farthest apart, or do they overlap least? That of the distance, a
//   face, or
//      where the cores overlap two edges of polytopes, else the least translation that parts them (EPA). A face counts
//      as the better axis until another beats it by a tolerance, so that rounding does not make resting bodies change
//      their mind; the choice is a function of the two poses alone. Points that were met bound what a face or an edge
//      can be worth: only those that may be the best are looked at. Which face of a polytope that is, single precision
//      says (polytope_kernels.h), so that of faces that differ by a millionth of the shapes' size either may be taken;
//      what it is worth, double precision.
//   3. collide_convex: the face turned to the other shape is clipped against the reference face; of the places found at
//   most
//      four are kept. Without a reference face: the point midway between the two features, or two where edges run side
//      by side.
//
// Everything is in one frame of the caller's choice, normals point from A to B, a contact's point lies midway between
// the surfaces.
#pragma once

#include <cstdint>

#include "sim/collision/lanes/polytope_kernels.h"
#include "sim/collision/manifold.h"
#include "sim/shapes/convex.h"

namespace orrery::sim::ref {

// How much better a less preferred axis has to be: metres, and a part of the separation.
inline constexpr double kFaceBias_m = 0.0005, kFaceBiasRelative = 0.05;
inline double preferred_to(double separation) {
    return separation + (kFaceBias_m + absolute(separation) * kFaceBiasRelative);
}
// The separation of a face from which on it is preferred to this.
inline double least_preferred(double separation) {
    const double rest = separation - kFaceBias_m;
    return rest > 0.0 ? rest * (1.0 / (1.0 + kFaceBiasRelative)) : rest * (1.0 / (1.0 - kFaceBiasRelative));
}

// ---- convex_distance_ref.cpp: cores, without the radii around them

struct ConvexGap {
    enum class State : std::uint8_t { beyond, apart, overlap };
    State state = State::beyond;
    double distance =
        0.0;        // where they are `apart`, as what follows; below 0 where the sides of cylinders overlap a little
    D3 normal;      // unit, from A to B
    D3 on_a, on_b;  // nearest points
    bool rough = false;  // no more than a bound: so near, a face parts them well enough to be preferred
    std::uint32_t count = 0;
    D3 a[4], b[4];  // points of A and of B that are nearest, or hold the place where the cores overlap, between them
    MetVertices met[2];  // of two polytopes, from find_axis: of B's, of A's
};
// `beyond`: farther apart than `limit`. Where `faces_first`, shapes with curved sides may be left at a rough distance.
void convex_gap(const Convex& a, const Convex& b, double limit, bool faces_first, ConvexGap& out);
// The same of two polytopes, of which B lies along `way`, about.
void polytope_gap(const Convex& a, const Convex& b, D3 way, double limit, ConvexGap& out);

// ---- convex_depth_ref.cpp

struct ConvexDepth {
    enum class State : std::uint8_t { found, deeper, flat };
    State state = State::flat;  // flat: no direction was found, both are without volume
    double depth = 0.0;
    D3 normal;      // unit, from A to B
    D3 on_a, on_b;  // the points that part last
};
// The least translation that parts cores that overlap, from what convex_gap met. `deeper`: it is at least `enough`.
void convex_depth(const Convex& a, const Convex& b, const ConvexGap& gap, double enough, ConvexDepth& out);

// ---- convex_axes_ref.cpp

struct ConvexAxis {
    enum class Kind : std::uint8_t { none, face_a, face_b, between };
    Kind kind = Kind::none;
    D3 normal;
    double separation = -1e300;
    std::uint32_t face = 0;    // face_*
    std::uint32_t vertex = 0;  // face_* of two polytopes: the other's that is farthest below or nearest above
    bool of_edges = false;     // between two edges of polytopes, else between points of the surfaces
    std::uint32_t edge_a = 0, edge_b = 0;
    D3 on_a, on_b;
};

// kind none: they are farther apart than `limit`, which is not negative. `gap` is what was found on the way.
ConvexAxis find_axis(const PolytopeKernels& kernels, const Convex& a, const Convex& b, double limit, ConvexGap& gap);
// The same of a triangle's front (face 0) and another polytope, whose centre lies before it: `vertex` is lowest above
// the front, `face` lies farthest below the corners.
ConvexAxis find_axis_of_front(const PolytopeKernels& kernels, const Convex& triangle, const Convex& convex,
                              std::uint32_t vertex, std::uint32_t face, double limit, ConvexGap& gap);
// The best axis that is no face, of what find_axis looked at; kind none where none has a separation above `floor`.
ConvexAxis between_axis(const PolytopeKernels& kernels, const Convex& a, const Convex& b, const ConvexGap& gap,
                        double floor);

// ---- convex_contacts_ref.cpp

struct ConvexPoint {
    D3 point;
    double depth = 0.0;
    std::uint32_t feature = 0;
};
struct ConvexContacts {
    D3 normal;
    enum class Owner : std::uint8_t {
        neither,
        a,
        b
    };  // of the face, edge or surface across which the normal stands, and with which it turns
    Owner owner = Owner::neither;
    std::uint32_t count = 0;
    ConvexPoint point[kMaxManifoldPoints];
};

// The other shape as a surface seen along a normal meets it: a point, a segment, or a polygon that goes round
// counter-clockwise about the feature's own outward direction. Numbers are stable: a point is named by what it is of
// the shape.
inline constexpr std::uint32_t kCapPoints = 8;
inline constexpr double kCapSeen = 0.7;  // cosine: a cylinder shows its cap, else its side
struct Outline {
    Outline() {}
    std::uint32_t count = 0, name = 0;  // name: of the face
    union {
        D3 point[kMaxHullVertices];
    };
    std::uint8_t number[kMaxHullVertices];
};
// Of the feature of `c` that looks most along `direction`.
void outline_along(const Convex& c, D3 direction, Outline& out);
// The direction in which the outline's face looks; `direction` where it is no face.
D3 outline_normal(const Convex& c, const Outline& outline, D3 direction);

// A place where two faces meet: x, y on the reference plane, height above it.
struct Place {
    double x, y, height;
    std::uint32_t feature;
};
// Keeps at most four of `count` places, at the front of the array: the farthest in a fixed direction, the farthest from
// it, the one that makes the largest triangle with those, the farthest outside that triangle; and the deepest in place
// of its neighbour.
std::uint32_t keep_four(Place* places, std::uint32_t count);

// Where shapes within `margin` of each other touch, or will within a tick in which A moves by `motion` relative to B.
// False: nowhere.
bool collide_convex(const PolytopeKernels& kernels, const Convex& a, const Convex& b, D3 motion, double margin,
                    ConvexContacts& out);
// The same along an axis that find_axis gave; where its face does not hold what is deepest, along another.
bool contacts_along(const PolytopeKernels& kernels, const Convex& a, const Convex& b, ConvexAxis axis,
                    const ConvexGap& gap, D3 motion, double margin, ConvexContacts& out);
// The same against the half space below a plane through `origin`; the shape is A.
bool collide_half_space(const Convex& a, D3 origin, D3 plane_normal, D3 motion, double margin, ConvexContacts& out);

}  // namespace orrery::sim::ref
