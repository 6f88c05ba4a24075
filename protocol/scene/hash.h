// The scene hash: XXH3-64 of a canonical little-endian walk over the effective scene.
//
// One walk over the schema serves all tables, so that each field counts with its name. A table is hashed as its fields
// that differ from their defaults, in order of their names: the name, then the value; then an empty name. Names,
// strings and vectors begin with a u32 count. Numbers have their own width; floats are hashed by their bits, enums by
// their number. A struct is hashed as its numbers in their order.
//
// It follows that
// * a new field in the schema does not change the hashes of scenes that do not use it;
// * an absent value and an explicit default are the same, and so are an absent and an empty string or vector; but a
//   table that is present differs from an absent one, even if it is empty;
// * -0 equals 0 in a field whose default is 0, and differs from 0 in others;
// * the layout of the buffer has no effect: values are read through its tables, and no byte of the buffer is hashed.
//
// Fields that scene.fbs marks `not_hashed`, and deprecated ones, are left out.
#pragma once

#include <cstdint>

namespace orrery::protocol::scene {

struct Scene;

// The hash of the root of a verified buffer.
std::uint64_t hash_scene(const Scene& scene);

}  // namespace orrery::protocol::scene
