// What the bots of `orrery swarm` saw, and how it is printed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace orrery::server {

// Times, in bins that are 2.2 % wide: quantiles of any number of them in fixed memory.
class Spread {
  public:
    void add(double seconds);
    std::uint64_t count() const { return count_; }
    double max_s() const { return max_s_; }
    double quantile_s(double share) const;  // not below the true one, and at most a bin above; 0 without a time

  private:
    static constexpr std::size_t kPerOctave = 32, kOctaves = 32;
    static constexpr double kLeast_s = 1e-6;
    std::array<std::uint64_t, kPerOctave * kOctaves> bins_{};
    std::uint64_t count_ = 0;
    double max_s_ = 0.0;
};

// How often each reason was given. A server may word them as it likes: those after the first kMaxReasons are one.
class Reasons {
  public:
    static constexpr std::size_t kMaxReasons = 64;
    void add(const std::string& reason);
    std::uint64_t count() const { return count_; }
    const std::map<std::string, std::uint64_t>& all() const { return all_; }

  private:
    std::map<std::string, std::uint64_t> all_;
    std::uint64_t count_ = 0;
};

struct SwarmTraffic {
    std::uint64_t snapshots = 0, lost = 0, late = 0;
    std::uint64_t bytes_in = 0, bytes_out = 0;  // of datagrams or of the stream, without headers of UDP, TCP and IP
};

struct SwarmTotals {
    std::uint64_t tried = 0, joined = 0, left = 0, given_up = 0;  // left, given up: by the bots themselves
    Reasons refused, disconnected;
    SwarmTraffic traffic;
    Spread join, gap, round_trip;
};

// Of one interval.
struct SwarmStatus {
    double at_s = 0.0;      // since the start
    double length_s = 0.0;  // of the interval, or since the last line
    std::uint32_t trying = 0, connected = 0, playing = 0, seated = 0;
    SwarmTraffic traffic;
    Spread round_trip;
    double cpu_share = 0.0;  // of one core, by this program
    double lag_max_s = 0.0;  // by which a bot was called too late
    bool may_lose = true;    // a stream loses nothing: `lost` has no meaning
};

struct SwarmSummary {
    const SwarmTotals& totals;
    std::uint32_t clients = 0;
    double seconds = 0.0, cpu_s = 0.0, lag_max_s = 0.0;
    std::vector<SwarmTraffic> by_client{};
    bool may_lose = true;
};

std::string swarm_status_text(const SwarmStatus& status);
std::string swarm_status_json(const SwarmStatus& status);
// Lines, without a newline at the end. The last one begins with "summary".
std::string swarm_summary_text(const SwarmSummary& summary);
std::string swarm_summary_json(const SwarmSummary& summary);

}  // namespace orrery::server
