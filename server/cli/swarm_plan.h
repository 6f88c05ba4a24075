// What a bot of `orrery swarm` does, drawn from the seed. Nothing of it depends on the server or on a clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace orrery::server {

inline constexpr std::size_t kBotChannels = 8;  // the most that a control has
inline constexpr double kWalkStep_s = 0.1;      // time after which a control takes its next value
inline constexpr float kWalkStep = 0.25f;       // the most by which it changes

struct SwarmPace {
    double join_within_s = 2.0;  // all bots first join within this time
    double stay_s = 20.0;        // mean time in the room; 0: a bot stays
    double away_s = 2.0;         // mean time until a bot that has left, or was not let in, tries again
};

// Sessions of a bot count from 0. Times are from 0.5 to 1.5 of their means.
class BotPlan {
  public:
    BotPlan(std::uint64_t seed, std::uint32_t bot, const SwarmPace& pace);

    std::uint32_t number() const { return bot_; }
    std::uint64_t client_id() const;
    double first_join_s() const;
    double stay_s(std::uint32_t session) const;  // from the time that it plays; infinite: it does not leave
    double away_s(std::uint32_t session) const;  // after it, or after a try that has failed
    std::uint64_t walk_seed(std::uint32_t session) const;

  private:
    enum class Draw : std::uint8_t { id, join, stay, away, walk };
    std::uint64_t bits(Draw draw, std::uint32_t session) const;
    double unit(Draw draw, std::uint32_t session) const;  // in [0, 1)

    std::uint64_t seed_;
    std::uint32_t bot_;
    SwarmPace pace_;
};

// A random walk of each channel in [-1, 1], by the bot's own time in the room.
class ControlWalk {
  public:
    ControlWalk(std::uint64_t seed, std::size_t channels);  // at most kBotChannels
    // The control at this time, which never becomes smaller.
    const std::array<float, kBotChannels>& at(double own_s);

  private:
    float draw();  // in [-1, 1)

    std::uint64_t state_;
    std::size_t channels_;
    std::uint64_t steps_ = 0;
    std::array<float, kBotChannels> values_{};
};

}  // namespace orrery::server
