// What a World holds, for the files that implement the public class.
#pragma once

#include "sim/world/core.h"
#include "sim/world/history.h"

namespace orrery::sim {

struct World::Impl {
    Core core;
    History history;
};

}  // namespace orrery::sim
