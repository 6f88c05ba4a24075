// Lists that follow what a world holds from tick to tick.
#pragma once

#include <cstddef>
#include <vector>

namespace orrery::sim {

// As std::vector::resize, but takes an eighth more than is needed, not twice as much: these lists make up most of a world's memory.
template <class T>
void resize_sparingly(std::vector<T>& list, std::size_t size) {
    if (size > list.capacity()) list.reserve(size + size / 8);
    list.resize(size);
}

}  // namespace orrery::sim
