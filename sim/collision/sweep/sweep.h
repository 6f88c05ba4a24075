// Continuous bodies: what keeps a thin and fast body from passing a fixed one within a tick.
//
// Speculative contacts reach as far as a body flies and, of passive and continuous bodies, as it turns: they stop what
// comes straight, and of what turns what does not turn by much. They miss what arrives by the rest of a turn, such as
// the end of a rod that spins fast, and what is pushed aside by another contact in the same tick. So when the solver is
// done, the way of a continuous body from the tick's first pose to its last is walked again, and the body is left where
// it would begin to pass: it loses the rest of its tick, but no velocity, and in the next tick it stands near enough
// for an ordinary contact. It goes on turning about its own axes as it did (turn_along): of a stick whose pose alone is
// set back, a part of a fast spin about its length, which has hardly any energy, would become one across it. Where it
// has been left so more than once, nearer each time, and again comes nowhere (kStuckPart), half of its velocity goes
// too: what contacts make of a turn of a radian, taken to be straight, may let a body turn into the wall that they keep
// it from, and it would stand there for ever.
//
// To pass means that the shapes overlap by more than a skin, a part of their thickness (kSkinPart). Both are made
// smaller by theirs for the walk, so that bodies that rest, slide or roll on each other are none of its business. Of
// compounds every child has its own; triangles of meshes have none, and are passed from behind. Nothing passes a plane,
// which has no other side.
#pragma once

#include <span>

#include "sim/bodies/bodies.h"
#include "sim/collision/queries/query_tree.h"
#include "sim/shapes/shape.h"

namespace orrery::sim {

inline constexpr double kSkinPart = 0.25;         // of each shape's inner radius
inline constexpr int kMaxSweepIterations = 128;   // a way that needs more ends where it has come to
inline constexpr double kStuckPart = 1.0 / 16.0;  // of the way

namespace ref {

struct FreeWay {
    double part = 1.0;  // of the way, 1 if all of it is free
    bool stuck =
        false;  // less than kStuckPart, of a body that began nearer to what it meets than it would be left at first
};
// How far a body may go from `start` to `end` before it passes one of the fixed bodies that its filter meets. The way
// is straight, the turn even and the shorter one. Bodies that overlap by more than the skin at `start` are not looked
// at.
FreeWay free_way(const Shape& shape, const BodyInfo& info, const PoseRecord& start, const PoseRecord& end,
                 const BodyTree& fixed, std::span<const Shape> shapes);
// The pose on that way.
PoseRecord pose_between(const PoseRecord& start, const PoseRecord& end, double part);
// Of a body that is set from one pose back to another: it turns about its own axes as before, so that it keeps its
// energy. `lock`: per world axis 0 where it may not turn, else 1.
void turn_along(VelocityRecord& velocity, const PoseRecord& from, const PoseRecord& to, const float (&lock)[3]);
void halve(VelocityRecord& velocity);

}  // namespace ref

}  // namespace orrery::sim
