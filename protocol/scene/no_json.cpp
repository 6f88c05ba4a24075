// In the place of protocol/scene/json.cpp where FlatBuffers' parser is not built: scenes come in their binary form.
#include "protocol/scene/json.h"

namespace orrery::protocol::scene {

Result<Ok> parse_json_text(flatbuffers::Parser&, const char*, std::string_view, std::string_view file_name) {
    return Error{ErrorCode::parse, std::string(file_name), "is no binary scene, and this build reads no JSON"};
}

}  // namespace orrery::protocol::scene
