// The JSON Schema of scenes, for editors: made of scene.fbs, so that it says what the loader takes.
#pragma once

#include <string>

#include "sim/base/result.h"

namespace orrery::protocol {

// JSON text, draft 07. Types, words, defaults and required fields are those of scene.fbs, descriptions its comments; unknown keys are
// refused. It is stricter than the loader in what nobody writes by hand: null, a number for a word, a table as a list.
Result<std::string> scene_json_schema();

}  // namespace orrery::protocol
