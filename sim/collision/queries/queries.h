// The four queries against a snapshot, and against one body of it: what the tree must not change.
#pragma once

#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/collision/queries/query_tree.h"
#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

// A query's input is checked before anything is looked up in a tree.
bool query_holds(const RayCast& query);
bool query_holds(const ShapeCast& query);
bool query_holds(const Overlap& query);
bool query_holds(const ClosestPoint& query);

// Whether the filter lets the query see the body.
bool query_sees(const QueryFilter& filter, const QueryBody& body);

// The body alone, without its filter; `probe` is the shape that the query names. True: it is hit.
bool ask_body(const RayCast& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit);
bool ask_body(const ShapeCast& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit);
bool ask_body(const Overlap& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit);
bool ask_body(const ClosestPoint& query, const Shape* probe, const QueryBody& body, const Shape& shape, QueryHit& hit);

// Appends the hits as the mode asks, in order.
void ask(const RayCast& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits);
void ask(const ShapeCast& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits);
void ask(const Overlap& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits);
void ask(const ClosestPoint& query, const Shape* probe, const Snapshot& snapshot, std::span<const Shape> shapes,
         std::vector<QueryHit>& hits);

// All overlaps of a shape of any type with bodies of any shape, into an empty list, by index.
void find_overlaps(const Overlap& query, const Shape& shape, const BodyTree& tree, std::span<const Shape> shapes,
                   std::vector<QueryHit>& hits);

// Whether the shape can be cast and tested for overlap: whether it is convex and bounded.
bool can_probe(const Shape& shape);

}  // namespace orrery::sim::ref
