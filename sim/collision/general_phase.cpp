#include "sim/collision/general_phase.h"

#include <atomic>

#include "sim/collision/general_scratch.h"
#include "sim/collision/parallel.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kPairsPerChunk = 16;

}  // namespace

GeneralPhase::GeneralPhase() = default;
GeneralPhase::~GeneralPhase() = default;
GeneralPhase::Chunk::Chunk() : scratch(std::make_unique<ref::GeneralScratch>()) {}
GeneralPhase::Chunk::Chunk(Chunk&&) noexcept = default;
GeneralPhase::Chunk& GeneralPhase::Chunk::operator=(Chunk&&) noexcept = default;
GeneralPhase::Chunk::~Chunk() = default;

bool GeneralPhase::collide(const GeneralInput& input, Executor& executor, std::vector<std::vector<Manifold>>& out) {
    const auto count = static_cast<std::uint32_t>(input.which.size());
    if (chunks_.size() < chunk_count(count, kPairsPerChunk)) chunks_.resize(chunk_count(count, kPairsPerChunk));
    if (out.size() < chunks_.size()) out.resize(chunks_.size());
    // Whether there are too many depends on their sum, so not on workers.
    std::atomic<std::uint64_t> total{0};
    for_chunks(executor, count, kPairsPerChunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Chunk& chunk = chunks_[index];
        std::vector<Manifold>& manifolds = out[index];
        manifolds.clear();
        chunk.end.clear();
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::size_t before = manifolds.size();
            if (total.load(std::memory_order_relaxed) <= kMaxPairs)
                ref::collide_general(input, input.pairs[input.which[i]], *chunk.scratch, manifolds);
            total.fetch_add(manifolds.size() - before, std::memory_order_relaxed);
            chunk.end.push_back(static_cast<std::uint32_t>(manifolds.size()));
        }
    });
    if (total.load() <= kMaxPairs) return true;
    chunks_.clear();
    out.clear();
    return false;
}

std::span<Manifold> GeneralPhase::of(std::uint32_t i, std::vector<std::vector<Manifold>>& out) const {
    const Chunk& chunk = chunks_[i / kPairsPerChunk];
    const std::uint32_t k = i % kPairsPerChunk, begin = k == 0 ? 0 : chunk.end[k - 1];
    return {out[i / kPairsPerChunk].data() + begin, chunk.end[k] - begin};
}

}  // namespace orrery::sim
