// Parses untrusted JSON with FlatBuffers' parser. Errors name the line. Internal to protocol.
#pragma once

#include <flatbuffers/idl.h>

#include <string_view>

#include "sim/base/result.h"

namespace orrery::protocol::scene {

// The binary form is in parser.builder_ afterwards. Unknown keys, deep nesting and computed values are errors.
Result<Ok> parse_json_text(flatbuffers::Parser& parser, const char* schema, std::string_view text,
                           std::string_view file_name);

}  // namespace orrery::protocol::scene
