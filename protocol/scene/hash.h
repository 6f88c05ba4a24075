// The scene hash: XXH3-64 of a canonical little-endian walk over the effective scene.
//
// One walk serves all tables: it goes by the schema, so that each field counts with its name. What is hashed of a table
// is, by name, each of its fields that differs from its default: the name, then the value; then an empty name. Names,
// strings and vectors begin with a u32 count; numbers have their own width, floats by their bits, enums by their
// number; a struct is its numbers as they lie.
//
// Hence
// * a field that is added to the schema leaves the hashes of scenes that do not use it as they were;
// * absent and explicitly default are the same, and so are an absent and an empty string or vector, but a table that is
// there
//   differs from one that is absent, however empty;
// * -0 is 0 in a field whose default is 0 and differs from 0 elsewhere;
// * how a buffer is laid out has no effect: values are read through its tables, and no byte of the buffer itself is
// hashed.
//
// Fields that scene.fbs marks `not_hashed`, and deprecated ones, are left out.
#pragma once

#include <cstdint>

namespace orrery::protocol::scene {

struct Scene;

// The hash of the root of a verified buffer.
std::uint64_t hash_scene(const Scene& scene);

}  // namespace orrery::protocol::scene
