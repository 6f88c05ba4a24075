// The JSON Schema of scenes, for editors. It is generated from scene.fbs, so that it agrees with the loader.
#pragma once

#include <string>

#include "sim/base/result.h"

namespace orrery::protocol {

// Returns JSON text, draft 07. Types, words, defaults and required fields are those of scene.fbs. Descriptions are its
// comments. Unknown keys are errors. The schema is stricter than the loader for forms that people do not write: null, a
// number for a word, a table as a list.
Result<std::string> scene_json_schema();

}  // namespace orrery::protocol
