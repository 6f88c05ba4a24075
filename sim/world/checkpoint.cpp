#include "sim/lanes/fp_environment.h"
#include "sim/world/impl.h"

namespace orrery::sim {

struct Checkpoint::Impl {
    State state;
    std::uint64_t definition_hash = 0;
    bool taken = false;
};

Checkpoint::Checkpoint() : impl_(std::make_unique<Impl>()) {}
Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;

bool Checkpoint::taken() const { return impl_ && impl_->taken; }
std::uint64_t Checkpoint::tick() const { return taken() ? impl_->state.tick : 0; }

void World::checkpoint(Checkpoint& out) const {
    if (!out.impl_) out.impl_ = std::make_unique<Checkpoint::Impl>();
    out.impl_->state = impl_->core.state;
    out.impl_->definition_hash = impl_->core.definition_hash;
    out.impl_->taken = true;
}

Result<Ok> World::roll_back(const Checkpoint& to) {
    if (!to.taken())
        return Error{ErrorCode::invalid_argument, "checkpoint", "is empty; let World::checkpoint fill it first"};
    Core& core = impl_->core;
    if (to.impl_->definition_hash != core.definition_hash)
        return Error{ErrorCode::version_mismatch, "checkpoint",
                     "is from a world of another definition; make the world from the same scene first"};
    const FpEnvironment environment;
    core.state = to.impl_->state;
    settle_state(core);
    impl_->history.restart(core);
    return Ok{};
}

}  // namespace orrery::sim
