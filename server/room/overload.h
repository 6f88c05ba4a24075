// What a room leaves out when it falls behind its clock, in this order: snapshots for spectators, snapshots for
// players, joins.
//
// The first slip of the tick grid starts an overload. It ends kShedSeconds after the last slip. The longer it lasts,
// the more the room leaves out. A machine that was busy for a moment turns no player away.
#pragma once

#include <algorithm>
#include <cstdint>

namespace orrery::server {

inline constexpr double kShedSeconds = 1.0;  // time without slips that ends an overload, s
// Duration of an overload, s, after which players get fewer snapshots; spectators do from the first slip on.
inline constexpr double kShedPlayersAfterSeconds = 1.0;
// Duration of an overload, s, after which joins are refused.
inline constexpr double kShedJoinsAfterSeconds = 5.0;
inline constexpr std::uint64_t kShedSpectatorTicks = 4, kShedPlayerTicks = 2;  // one snapshot in so many ticks

class Overload {
  public:
    explicit Overload(double tick_rate_hz)
        : quiet_(ticks(kShedSeconds, tick_rate_hz)),
          players_after_(ticks(kShedPlayersAfterSeconds, tick_rate_hz)),
          joins_after_(ticks(kShedJoinsAfterSeconds, tick_rate_hz)) {}

    // The grid slipped before the tick after `tick`.
    void slipped(std::uint64_t tick) {
        if (tick >= until_) since_ = tick;
        until_ = tick + quiet_;
    }

    std::uint64_t ticks_per_spectator_snapshot(std::uint64_t tick) const {
        return tick < until_ ? kShedSpectatorTicks : 1;
    }
    std::uint64_t ticks_per_player_snapshot(std::uint64_t tick) const {
        return lasts(tick, players_after_) ? kShedPlayerTicks : 1;
    }
    bool sheds_joins(std::uint64_t tick) const { return lasts(tick, joins_after_); }

  private:
    static std::uint64_t ticks(double seconds, double tick_rate_hz) {
        return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * tick_rate_hz));
    }
    bool lasts(std::uint64_t tick, std::uint64_t after) const { return tick < until_ && tick - since_ >= after; }

    std::uint64_t quiet_, players_after_, joins_after_;
    std::uint64_t since_ = 0, until_ = 0;  // ticks
};

}  // namespace orrery::server
