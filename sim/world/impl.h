// What a World holds, for the files that implement the public class.
#pragma once

#include "sim/world/core.h"
#include "sim/world/history.h"

namespace orrery::sim {

struct World::Impl {
    Impl(std::shared_ptr<const Definition> definition, Target target) : core(std::move(definition), target) {}

    Core core;
    History history;
};

}  // namespace orrery::sim
