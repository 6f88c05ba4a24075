#include "sim/collision/general_phase.h"

#include "sim/collision/parallel.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kPairsPerChunk = 16;

}  // namespace

void GeneralPhase::collide(const GeneralInput& input, Executor& executor) {
    const auto count = static_cast<std::uint32_t>(input.which.size());
    if (chunks_.size() < chunk_count(count, kPairsPerChunk)) chunks_.resize(chunk_count(count, kPairsPerChunk));
    for_chunks(executor, count, kPairsPerChunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Chunk& chunk = chunks_[index];
        chunk.manifolds.clear();
        chunk.end.clear();
        for (std::uint32_t i = begin; i < end; ++i) {
            ref::collide_general(input, input.pairs[input.which[i]], chunk.manifolds);
            chunk.end.push_back(static_cast<std::uint32_t>(chunk.manifolds.size()));
        }
    });
}

std::span<const Manifold> GeneralPhase::of(std::uint32_t i) const {
    const Chunk& chunk = chunks_[i / kPairsPerChunk];
    const std::uint32_t k = i % kPairsPerChunk, begin = k == 0 ? 0 : chunk.end[k - 1];
    return {chunk.manifolds.data() + begin, chunk.end[k] - begin};
}

}  // namespace orrery::sim
