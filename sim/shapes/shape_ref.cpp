// The checks that shapes share, in the reference namespace.
#include "sim/shapes/checks.h"

namespace orrery::sim::ref {

Result<Ok> check_size(float value, float min, float max, std::string_view place, std::string_view field,
                      std::string_view zero_mend) {
    if (value >= min && value <= max) return Ok{};  // false for NaN
    Error error{ErrorCode::invalid_argument, std::string(place) + "." + std::string(field), {}};
    const std::string range = " between " + std::to_string(min) + " and " + std::to_string(max) + " m";
    if (value != value) {
        error.message = "is not a number; give a length" + range;
    } else if (value < 0.0f) {
        error.message = "is negative; give a length" + range;
    } else if (value < min) {
        error.message = "is too small; give a length" + range;
        if (!zero_mend.empty()) error.message += std::string(zero_mend);
    } else {
        error.message =
            "is too large for single precision; give a length" + range + ", or use a plane for unbounded ground";
    }
    return error;
}

}  // namespace orrery::sim::ref
