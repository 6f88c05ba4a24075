// Continuous bodies at the end of a tick: none has passed a fixed body.

#include "sim/bodies/numbers.h"
#include "sim/collision/sweep/sweep.h"
#include "sim/world/core.h"

namespace orrery::sim {

void hold_back_continuous(Core& core, const BodyTree& fixed) {
    Bodies& bodies = core.state.bodies;
    for (const std::uint32_t i : core.continuous) {
        if (!bodies.dynamic(i) || bodies.asleep(i)) continue;  // or under quarantine since a moment ago
        const PoseRecord start = core.start_pose[i], end = bodies.pose[i];
        const ref::FreeWay way =
            ref::free_way(core.shapes[bodies.info(i).shape], bodies.info(i), start, end, fixed, core.shapes);
        if (way.part == 1.0) continue;
        bodies.pose[i] = ref::pose_between(start, end, way.part);
        ref::turn_along(bodies.velocity[i], end, bodies.pose[i], bodies.mass(i).angular_lock);
        bodies.inertia[i] = ref::world_inertia(bodies.mass(i), bodies.pose[i]);
        if (way.stuck) ref::halve(bodies.velocity[i]);
    }
}

}  // namespace orrery::sim
