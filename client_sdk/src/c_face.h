// What the files of the C face share: structs that both sides size, ids, arrays, and the end of exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "orrery/client.h"
#include "orrery/sim.hpp"
#include "protocol/session/client_session.h"

namespace orrery::client {

template <class Struct>
bool takes(const Struct* out) {
    return out && out->struct_size >= sizeof out->struct_size;
}

// Copies as many bytes as both sides know; the size field stays the caller's.
template <class Struct>
orrery_status give(Struct& mine, Struct* out) {
    if (!takes(out)) return ORRERY_INVALID_ARGUMENT;
    mine.struct_size = out->struct_size;
    std::memcpy(out, &mine, out->struct_size < sizeof mine ? out->struct_size : sizeof mine);
    return ORRERY_OK;
}

inline sim::BodyId body_of(orrery_body_id id) {
    return {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32)};
}
template <class Id>
std::uint64_t id_of(Id id) {
    static_assert(ORRERY_NO_BODY == UINT64_MAX && ORRERY_NO_JOINT == UINT64_MAX);
    return id.valid() ? (static_cast<std::uint64_t>(id.generation) << 32) | id.index : UINT64_MAX;
}

inline void give_bytes(protocol::Bytes value, const uint8_t** bytes, size_t* size) {
    if (bytes) *bytes = value.data();
    if (size) *size = value.size();
}

// No exception crosses the C interface: the standard library throws only where memory is out. In WebAssembly, which is
// built without exceptions, that ends the module.
template <class Function>
orrery_status guarded(Function function) {
#if defined(__cpp_exceptions)
    try {
        return function();
    } catch (...) {
        return ORRERY_OUT_OF_MEMORY;
    }
#else
    return function();
#endif
}

inline void write3(float* to, std::uint32_t i, const sim::Vec3& v) {
    if (!to) return;
    to[3 * i] = v.x;
    to[3 * i + 1] = v.y;
    to[3 * i + 2] = v.z;
}

inline void write4(float* to, std::uint32_t i, const sim::Quat& q) {
    if (!to) return;
    to[4 * i] = q.x;
    to[4 * i + 1] = q.y;
    to[4 * i + 2] = q.z;
    to[4 * i + 3] = q.w;
}

// Fills in one body, as far as there is room.
inline void give_sample(orrery_samples& samples, sim::BodyId id, const protocol::Motion& motion) {
    const std::uint32_t i = samples.count;
    ++samples.available;
    if (i >= samples.capacity) return;
    if (samples.ids) samples.ids[i] = id_of(id);
    write3(samples.positions, i, motion.pose.position);
    write4(samples.orientations, i, motion.pose.orientation);
    write3(samples.linear_velocities, i, motion.linear_velocity);
    write3(samples.angular_velocities, i, motion.angular_velocity);
    ++samples.count;
}

}  // namespace orrery::client
