#include "server/cli/swarm_plan.h"

#include <algorithm>
#include <limits>

namespace orrery::server {

namespace {

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;  // of splitmix64

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

}  // namespace

BotPlan::BotPlan(std::uint64_t seed, std::uint32_t bot, const SwarmPace& pace) : seed_(seed), bot_(bot), pace_(pace) {}

std::uint64_t BotPlan::bits(Draw draw, std::uint32_t session) const {
    const std::uint64_t bot = mixed(mixed(seed_ + kStep) + (std::uint64_t{bot_} + 1) * kStep);
    return mixed(bot ^ mixed((std::uint64_t{session} << 8 | static_cast<std::uint64_t>(draw)) + kStep));
}

double BotPlan::unit(Draw draw, std::uint32_t session) const {
    return static_cast<double>(bits(draw, session) >> 11) * 0x1.0p-53;
}

std::uint64_t BotPlan::client_id() const { return bits(Draw::id, 0); }
double BotPlan::first_join_s() const { return pace_.join_within_s * unit(Draw::join, 0); }

double BotPlan::stay_s(std::uint32_t session) const {
    if (pace_.stay_s <= 0.0) return std::numeric_limits<double>::infinity();
    return pace_.stay_s * (0.5 + unit(Draw::stay, session));
}

double BotPlan::away_s(std::uint32_t session) const { return pace_.away_s * (0.5 + unit(Draw::away, session)); }
std::uint64_t BotPlan::walk_seed(std::uint32_t session) const { return bits(Draw::walk, session); }

ControlWalk::ControlWalk(std::uint64_t seed, std::size_t channels)
    : state_(seed), channels_(std::min(channels, kBotChannels)) {
    for (std::size_t i = 0; i < channels_; ++i) values_[i] = draw();
}

float ControlWalk::draw() {
    state_ += kStep;
    return static_cast<float>(mixed(state_) >> 40) * 0x1.0p-23f - 1.0f;
}

const std::array<float, kBotChannels>& ControlWalk::at(double own_s) {
    const auto wanted = static_cast<std::uint64_t>(std::max(own_s, 0.0) / kWalkStep_s);
    for (; steps_ < wanted; ++steps_) {
        for (std::size_t i = 0; i < channels_; ++i)
            values_[i] = std::clamp(values_[i] + kWalkStep * draw(), -1.0f, 1.0f);
    }
    return values_;
}

}  // namespace orrery::server
