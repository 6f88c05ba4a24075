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

// Empties a list that is about to be filled anew with about as much: its memory stays, unless it is far more than was
// needed.
template <class T>
void clear_sparingly(std::vector<T>& list, std::size_t spare) {
    if (list.capacity() > list.size() + list.size() / 4 + spare) give_back(list);
    list.clear();
}

// Room for that many and a 32nd more, not for twice as many: these lists make up most of a world's memory.
constexpr std::size_t with_room_to_grow(std::size_t size) { return size + size / 32; }

// As std::vector::resize.
template <class T>
void resize_sparingly(std::vector<T>& list, std::size_t size) {
    if (size > list.capacity()) list.reserve(with_room_to_grow(size));
    list.resize(size);
}

}  // namespace orrery::sim
