// The texts of the schemas, which give the JSON parser its fields.
#pragma once

namespace orrery::protocol::scene {

const char* scene_schema_text();   // scene.fbs
const char* script_schema_text();  // command_script.fbs

}  // namespace orrery::protocol::scene
