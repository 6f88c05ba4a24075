// Sensors: at the end of a tick, which dynamic and kinematic bodies stand in which sensors; what is new of it is an
// event. An overlap is that of the poses alone, so that a restored world goes on with the same events.

#include <algorithm>

#include "sim/collision/queries/queries.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

void report(Core& core, EventKind kind, SensorOverlap overlap) {
    Event event;
    event.kind = kind;
    event.a = body_id(core.state, overlap.sensor);
    event.b = body_id(core.state, overlap.visitor);
    core.state.events.push_back(event);
}

// The visitors of one sensor, by index.
void find_visitors(Core& core, std::uint32_t sensor, const BodyTree& moving, std::vector<SensorOverlap>& out) {
    const Bodies& bodies = core.state.bodies;
    const BodyInfo& info = bodies.info(sensor);
    Overlap query;
    query.pose = pose_of(bodies.pose[sensor]);
    query.filter.category = info.category;
    query.filter.mask = info.mask;
    core.sensor_hits.clear();
    ref::find_overlaps(query, core.shapes[info.shape], moving, core.shapes, core.sensor_hits);
    for (const QueryHit& hit : core.sensor_hits) {
        const std::uint32_t visitor = hit.body.index;
        const Pair pair{std::min(sensor, visitor), std::max(sensor, visitor)};
        if (!std::binary_search(core.excluded.begin(), core.excluded.end(), pair)) out.push_back({sensor, visitor});
    }
}

}  // namespace

void update_sensors(Core& core, const BodyTree& moving) {
    std::vector<SensorOverlap>&before = core.state.sensor_overlaps, &now = core.next_sensor_overlaps;
    now.clear();
    for (const std::uint32_t sensor : core.sensors) find_visitors(core, sensor, moving, now);
    auto old = before.begin();
    for (const SensorOverlap overlap : now) {
        for (; old != before.end() && *old < overlap; ++old) report(core, EventKind::sensor_end, *old);
        if (old != before.end() && *old == overlap)
            ++old;
        else
            report(core, EventKind::sensor_begin, overlap);
    }
    for (; old != before.end(); ++old) report(core, EventKind::sensor_end, *old);
    before.swap(now);
}

}  // namespace orrery::sim
