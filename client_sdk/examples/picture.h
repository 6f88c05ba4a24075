// What orrery_drive shows: the room from above, and below it four rows of text: numbers, players, marks and keys.
#pragma once

#include <array>
#include <string>

#include "client_sdk/examples/terminal.h"
#include "orrery/client.hpp"

namespace orrery::drive {

// `middle` (m, world) is in the middle of the screen. `speed_mps` is shown as that of the own vehicle.
std::string picture(const client::Client& client, const client::Samples& samples, const std::array<float, 3>& middle,
                    double speed_mps, const Terminal& terminal);

}  // namespace orrery::drive
