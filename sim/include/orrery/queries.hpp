// Queries of positions: rays, shape casts, overlaps and closest points, now or some ticks ago.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orrery/definition.hpp"
#include "orrery/types.hpp"

namespace orrery::sim {

// ---------------------------------------------------------------- queries of positions

// An answer is a function of the query and of the state at the tick that it names. It has the same bits on every target
// and thread count, and in a restored world. Queries change nothing. Several threads may ask at once, as long as no
// other thread steps, restores or destroys the world. Queries are computed in double precision and their results
// rounded to single.
//
// Bodies are solid: a query that begins inside a body hits it there. Bodies without a shape are never found.

inline constexpr std::uint64_t kPresentTick = ~std::uint64_t(0);  // World::tick(), whatever it is

// How a query ended.
enum class QueryStatus : std::uint8_t {
    miss,  // carried out; nothing was found
    hit,   // at least one hit
    // The query was not carried out. A number is not finite, a position is beyond kMaxQueryCoordinate_m, an orientation
    // is not of unit length, a maximum distance is negative, or a shape is unbounded, out of its range or missing.
    invalid_query,
    tick_not_kept,  // not within [oldest_tick(), tick()]
};

// Which hits a query returns.
enum class HitMode : std::uint8_t {
    closest,  // one hit: the smallest distance, and the lowest body index of equal ones
    any,      // one hit, the first that the search meets: the cheapest; also a function of the state
    all,      // one hit for each body, in order of (distance, body index)
};

// Bits of QueryFilter::types.
enum QueryTypes : std::uint8_t {
    kQueryFixed = 1,      // fixed bodies
    kQueryKinematic = 2,  // kinematic bodies
    kQueryDynamic = 4,    // dynamic bodies
    kQueryAllTypes = 7,   // all three
    kQuerySensors = 8,    // also sensors, of the types given beside it
};

// Which bodies a query finds.
struct QueryFilter {
    // As between two bodies: a body is found if its category shares a bit with this mask and this category with its
    // mask.
    std::uint32_t category = 0xffff'ffffu, mask = 0xffff'ffffu;
    std::uint8_t types = kQueryAllTypes;  // QueryTypes bits
    BodyId ignore;                        // this body is never found
};

// The shape that a query moves or places: a shape of the definition, or a sphere, box, capsule or cylinder of its own,
// with the ranges of ShapeDef. It must be convex and bounded.
struct QueryShape {
    std::uint32_t index = kNone;  // into WorldDef::shapes; kNone: the fields below
    ShapeType type = ShapeType::sphere;
    float radius = 0.5f, half_height = 0.5f;  // m
    Vec3 half_extents{0.5f, 0.5f, 0.5f};      // m
};

// `tick` of this and the other queries: the tick whose state is asked, from World::oldest_tick() on, or kPresentTick.
//
// A ray from origin to origin + translation. A ray of length 0 hits only bodies around the origin.
struct RayCast {
    Vec3 origin, translation;  // world, m
    QueryFilter filter;
    HitMode mode = HitMode::closest;
    std::uint64_t tick = kPresentTick;  // see above
};

// The shape goes from `pose` by `translation` without turning. It stops where it touches: never beyond that point by
// more than rounding, and before it by at most 0.1 um along the normal; it passes nothing, however thin and however far
// the way.
//
// Two surfaces are flush where their gap or their depth is at most 0.1 um plus the rounding of single precision. This
// rounding is 2^-23 of the largest coordinate of the two positions, plus 2^-23 of the bounding radius of the cast
// shape. The whole is at most an eighth of the shape's inner radius.
// - A cast that begins flush and goes into the surface hits it at distance 0, with the normal of the surface.
// - A cast that begins flush and goes away from the surface or along it (to within 2^-21 of the way) does not hit it.
// - A cast that begins deeper hits at distance 0 with `inside` set and without a normal, in whatever direction it goes.
// A cast that would sink in by rounding alone grazes the surface, and this is no hit. So a shape that slides on a floor
// of tiles or triangles does not hit the edges between them. Here the rounding is twice the flush distance plus 2^-23
// of the way, of which at most 64 m count; it is at most a quarter of the inner radius.
struct ShapeCast {
    QueryShape shape;
    Pose pose;         // of the shape's frame at the start, world
    Vec3 translation;  // world, m
    QueryFilter filter;
    HitMode mode = HitMode::closest;
    std::uint64_t tick = kPresentTick;  // see RayCast
};

// The bodies that the shape at `pose` overlaps, or touches within 0.1 um. All distances are 0, so that `closest` is the
// lowest index.
struct Overlap {
    QueryShape shape;
    Pose pose;  // of the shape's frame, world
    QueryFilter filter;
    HitMode mode = HitMode::all;
    std::uint64_t tick = kPresentTick;  // see RayCast
};

// The points of the bodies' surfaces that are nearest to a point.
struct ClosestPoint {
    Vec3 point;                     // world, m
    float max_distance = kNoLimit;  // m; bodies that are farther away are not found
    QueryFilter filter;
    HitMode mode = HitMode::closest;
    std::uint64_t tick = kPresentTick;  // see RayCast
};

// One body that a query found.
struct QueryHit {
    BodyId body;
    std::uint32_t child =
        0;  // index of the compound's child, or of the triangle of a mesh or height field; otherwise 0
    // The point was inside, or the cast began inside: a ray strictly, a shape deeper than flush (see ShapeCast). A cast
    // that begins on a surface and goes in hits it at distance 0 without `inside`.
    bool inside = false;
    bool despawned = false;  // true: the body existed at the asked tick and has been removed since
    // Of a cast: the distance travelled (m), and the same as a fraction of the translation; 0 if the cast began inside.
    // Of a closest point: the distance to the surface, negative inside.
    float distance = 0.0f, fraction = 0.0f;
    // The point of the body's surface (m, world), and the unit normal there (world), which points out of the body. Of a
    // cast that began inside: its start, and a zero normal. Of an overlap: both zero.
    Vec3 point, normal;
};

// The answer to one query of a batch.
struct QueryAnswer {
    QueryStatus status = QueryStatus::miss;
    std::size_t first = 0, count = 0;  // range in QueryAnswers::hits
};
struct QueryAnswers {                  // of a batch: one answer for each query, in order
    std::vector<QueryAnswer> answers;  // in the order of the queries
    std::vector<QueryHit> hits;        // of all of them
    // The hits of a query, by its index below answers.size(); valid until `hits` changes.
    std::span<const QueryHit> of(std::size_t query) const {
        return std::span(hits).subspan(answers[query].first, answers[query].count);
    }
};

}  // namespace orrery::sim
