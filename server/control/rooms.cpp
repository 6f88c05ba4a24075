#include "server/control/rooms.h"

#include <algorithm>

namespace orrery::server {

std::string_view name_of(RoomPhase phase) {
    switch (phase) {
        case RoomPhase::open:
            return "open";
        case RoomPhase::draining:
            return "draining";
        case RoomPhase::ending:
            break;
    }
    return "ending";
}

void Histogram::note(double seconds) {
    const auto* const at = std::lower_bound(kBounds_s.begin(), kBounds_s.end(), seconds);
    ++counts[static_cast<std::size_t>(at - kBounds_s.begin())];
    sum_s += seconds;
}

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum_s += other.sum_s;
}

}  // namespace orrery::server
