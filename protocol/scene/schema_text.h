// The text of the schemas, from which the JSON parser knows the fields.
#pragma once

namespace orrery::protocol::scene {

const char* scene_schema_text();   // scene.fbs
const char* script_schema_text();  // command_script.fbs

}  // namespace orrery::protocol::scene
