// The JSON Schema of scenes, for editors. It is made from scene.fbs.
#pragma once

#include <string>

#include "sim/base/result.h"

namespace orrery::protocol {

// JSON text, draft 07. Types, words, defaults and required fields are those of scene.fbs; its comments are the
// descriptions. Unknown keys are refused. The schema is stricter than the loader about null, numbers for words, and
// tables as lists.
Result<std::string> scene_json_schema();

}  // namespace orrery::protocol
