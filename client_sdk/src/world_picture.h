// The bodies of a world at its last two ticks, and between them.
#pragma once

#include <cstdint>
#include <vector>

#include "client_sdk/src/mirror_seam.h"
#include "orrery/sim.hpp"

namespace orrery::client {

class WorldPicture {
  public:
    void clear();
    // The world has made a step, or stands where it did not stand before: then `jumped`, and nothing lies between.
    void take(const sim::World& world, bool jumped);
    std::uint64_t tick() const { return tick_; }
    const std::vector<sim::BodyMotion>& bodies() const { return now_; }
    // At `part` of the way from the tick before the last to the last, 0 to 1, which is exactly the last.
    void at(double part, std::vector<ShownBody>& out) const;

    static void read(const sim::World& world, std::vector<sim::BodyMotion>& out);  // all bodies

  private:
    std::uint64_t tick_ = 0;
    std::vector<sim::BodyMotion> before_, now_;  // in order of index
};

}  // namespace orrery::client
