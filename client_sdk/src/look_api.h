// From what was looked at to the arrays of the C face.
#pragma once

#include "client_sdk/src/c_face.h"
#include "client_sdk/src/world_look.h"

namespace orrery::client {

// Whether the arrays can be filled; sets their counts.
template <class Arrays>
bool begin_arrays(Arrays* out, std::size_t available) {
    if (!out || out->struct_size < sizeof(Arrays)) return false;
    out->available = static_cast<std::uint32_t>(available);
    out->count = out->available < out->capacity ? out->available : out->capacity;
    return true;
}

// Of any world, a mirror's or a replay's. Null: there is none.
orrery_status give_contacts(const sim::World* world, orrery_body_id body, Seen& seen, orrery_contacts* out);
orrery_status give_joints(const sim::World* world, orrery_body_id body, Seen& seen, orrery_joints* out);
orrery_status give_marks(const sim::World* world, Seen& seen, orrery_marks* out);
orrery_body_state state_of(const SeenBody& body);
orrery_status give_step_times(const StepClock& clock, orrery_step_times* out);
orrery_status give_shape(const sim::ShapeDef& def, orrery_shape* out);

}  // namespace orrery::client
