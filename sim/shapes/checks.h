// Checks that the shapes share. Cold code in the reference namespace, where float arithmetic may stand.
#pragma once

#include "sim/shapes/shape.h"

namespace orrery::sim::ref {

inline constexpr float kPi = 3.14159265358979323846f;

// An error that names place.field unless min <= value <= max.
Result<Ok> check_size(float value, float min, float max, std::string_view place, std::string_view field,
                      std::string_view zero_mend = {});

}  // namespace orrery::sim::ref
