// Error texts for names that a table of the schema does not have. Internal to protocol/scene.
#pragma once

#include <flatbuffers/idl.h>

#include <string>
#include <string_view>

namespace orrery::protocol::scene {

// The text names the unknown field, the field of the table that is probably meant, and all fields of the table.
std::string unknown_field(const flatbuffers::StructDef& table, std::string_view name);

// The same for a word that an enumeration does not have.
std::string unknown_word(const flatbuffers::EnumDef& words, std::string_view word);

// True for a field that exists only in the binary form of old scenes. The loader refuses a scene that sets it.
bool is_removed(const flatbuffers::FieldDef& field);

}  // namespace orrery::protocol::scene
