// The text of scene.fbs, from which the JSON parser knows the fields.
#pragma once

namespace orrery::protocol::scene {

const char* schema_text();

}  // namespace orrery::protocol::scene
