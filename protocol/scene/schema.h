// The scene's schema as data: the fields of each table of scene.fbs. It is read from the schema's binary form, which
// the build embeds.
//
// Code that serves all tables reads scenes by this schema: the hash, and the conversion of constraints. Only scenes are
// read so. They are files, and are verified as FlatBuffers first. Messages from the network are not read so.
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
    flatbuffers::voffset_t offset = 0;  // position in a table's vtable, or in bytes from the beginning of a struct
    reflection::BaseType type = reflection::None;
    reflection::BaseType element = reflection::None;  // if `type` is Vector
    const SchemaTable* table = nullptr;           // of an object, or of a vector of objects
    double default_real = 0.0;                    // the default of a number with a point, and of all others
    std::int64_t default_integer = 0;
    bool optional = false;                        // a number without a default: absence is a value of its own
    // Attributes of scene.fbs:
    bool hashed = true;
    bool centre_of_b = false;
    std::string_view in_scene;
};

struct SchemaTable {
    std::string_view name;            // without the namespace
    bool is_struct = false;
    std::uint32_t bytes = 0;          // of a struct
    std::vector<SchemaField> fields;  // a table's in order of names, a struct's in order of storage; no deprecated ones

    const SchemaField* find(std::string_view field) const;  // of a table; null: no such field
};

// The schema of the root table. It is made at the first call.
const SchemaTable& scene_schema();

}  // namespace orrery::protocol::scene
