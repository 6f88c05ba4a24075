// Suggestions for names that a table of the schema does not have. Internal to protocol/scene.
#pragma once

#include <flatbuffers/idl.h>

#include <string>
#include <string_view>

namespace orrery::protocol::scene {

// The text for an unknown field `name`: a suggestion, and the fields of the table.
std::string unknown_field(const flatbuffers::StructDef& table, std::string_view name);

// The same for a word that an enumeration does not have.
std::string unknown_word(const flatbuffers::EnumDef& words, std::string_view word);

// True for a field that the schema keeps for old binary scenes only. Loading a scene that sets it is an error.
bool is_removed(const flatbuffers::FieldDef& field);

}  // namespace orrery::protocol::scene
