// The scene's schema as data: which fields each table of scene.fbs has. From the binary form of the schema, which the
// build embeds.
//
// What is written once for all tables reads scenes by it: the hash, and the conversion of constraints. Scenes alone:
// they are files, and are verified as any FlatBuffer is before they are read by it. No message from the network is.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection_generated.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery::protocol::scene {

struct SchemaTable;

struct SchemaField {
    std::string_view name;
    flatbuffers::voffset_t offset = 0;  // in a table's vtable; bytes from the beginning of a struct
    reflection::BaseType type = reflection::None;
    reflection::BaseType element = reflection::None;  // where `type` is Vector
    std::uint32_t bytes = 0;                          // of a number, and of each in a vector of numbers
    const SchemaTable* table = nullptr;               // of an object, and of a vector of objects
    double default_real = 0.0;                        // the default of a number with a point, and of all others
    std::int64_t default_integer = 0;
    bool optional = false;  // a number that has no default: absent is a value of its own
    // Attributes of scene.fbs:
    bool hashed = true;
    bool centre_of_b = false;
    std::string_view in_scene;
};

struct SchemaTable {
    std::string_view name;  // without its namespace
    bool is_struct = false;
    std::uint32_t bytes = 0;          // of a struct
    std::vector<SchemaField> fields;  // a table's in order of names, a struct's in order of storage; no deprecated ones

    const SchemaField* find(std::string_view field) const;  // of a table; null: no such field
};

// The schema of the root table. It is made at the first call.
const SchemaTable& scene_schema();

}  // namespace orrery::protocol::scene
