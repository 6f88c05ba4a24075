// The order in which the queries of a batch are computed: neighbours one after the other, so that what one of them has
// read is still in the cache for the next. A function of the queries alone; no answer depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/sim.hpp"

namespace orrery::sim::ref {

// Indices of the queries, each once.
std::vector<std::uint32_t> batch_order(std::span<const RayCast> queries);
std::vector<std::uint32_t> batch_order(std::span<const ShapeCast> queries);
std::vector<std::uint32_t> batch_order(std::span<const Overlap> queries);
std::vector<std::uint32_t> batch_order(std::span<const ClosestPoint> queries);

}  // namespace orrery::sim::ref
