// Runs a callable over fixed-size chunks of a range on an Executor. Chunks are a function of the range alone, so what
// they leave in their own places does not depend on the workers.
#pragma once

#include <cstdint>

#include "sim/base/executor.h"

namespace orrery::sim {

constexpr std::uint32_t chunk_count(std::uint32_t count, std::uint32_t chunk) { return (count + chunk - 1) / chunk; }

// body(index, begin, end) for every chunk of [0, count).
template <class Body>
void for_chunks(Executor& executor, std::uint32_t count, std::uint32_t chunk, const Body& body) {
    struct Context {
        const Body& body;
        std::uint32_t count, chunk;
    } context{body, count, chunk};
    const auto task = [](void* raw, std::uint32_t index) {
        const auto& c = *static_cast<const Context*>(raw);
        const std::uint32_t begin = index * c.chunk;
        c.body(index, begin, c.count - begin < c.chunk ? c.count : begin + c.chunk);
    };
    const std::uint32_t chunks = chunk_count(count, chunk);
    if (chunks == 1) {
        task(&context, 0);
    } else if (chunks > 1) {
        executor.run(chunks, task, &context);
    }
}

}  // namespace orrery::sim
