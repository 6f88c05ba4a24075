// What an author may have meant by a name that a table of the schema does not have. Internal to protocol/scene.
#pragma once

#include <flatbuffers/idl.h>

#include <string>
#include <string_view>

namespace orrery::protocol::scene {

// Says that the table has no field `name`, which of its fields may be meant, and which it has.
std::string unknown_field(const flatbuffers::StructDef& table, std::string_view name);

// The same of a word that an enumeration does not have.
std::string unknown_word(const flatbuffers::EnumDef& words, std::string_view word);

// A field that the schema keeps for old binary scenes alone: loading refuses what it says.
bool is_removed(const flatbuffers::FieldDef& field);

}  // namespace orrery::protocol::scene
