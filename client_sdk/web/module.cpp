// What JavaScript needs beside orrery/client.h: which layout the module has, and the calls of each frame with the time
// as a number (nanoseconds in a uint64_t would be a BigInt, which is allocated anew each time).
#include <cstddef>
#include <cstdint>

#include "orrery/client.h"

namespace {

std::uint64_t ns_of(double ms) { return ms > 0.0 ? static_cast<std::uint64_t>(ms * 1e6) : 0; }

}  // namespace

extern "C" {

// The layout of the structs, as the generated layout.ts has it.
std::uint32_t orrery_web_layout() { return ORRERY_WEB_LAYOUT; }

orrery_status orrery_web_poll(orrery_client* client, double now_ms) {
    return orrery_client_poll(client, ns_of(now_ms));
}

orrery_status orrery_web_sample(orrery_client* client, double now_ms, orrery_samples* samples) {
    return orrery_client_sample(client, ns_of(now_ms), samples);
}

orrery_status orrery_web_received(orrery_client* client, const std::uint8_t* bytes, std::size_t size, double now_ms) {
    return orrery_client_stream_received(client, bytes, size, ns_of(now_ms));
}
}
