// Lists that follow what a world holds from tick to tick.
#pragma once

#include <cstddef>
#include <vector>

namespace orrery::sim {

// libstdc++'s shrink_to_fit does nothing where exceptions are off.
template <class T>
void give_back(std::vector<T>& list) {
    std::vector<T>().swap(list);
}

// Empties a list that is about to be filled anew with about as much: its memory stays, unless it is far more than was needed.
template <class T>
void clear_sparingly(std::vector<T>& list, std::size_t spare) {
    if (list.capacity() > list.size() + list.size() / 4 + spare) give_back(list);
    list.clear();
}

// As std::vector::resize, but takes an eighth more than is needed, not twice as much: these lists make up most of a world's memory.
template <class T>
void resize_sparingly(std::vector<T>& list, std::size_t size) {
    if (size > list.capacity()) list.reserve(size + size / 8);
    list.resize(size);
}

}  // namespace orrery::sim
