#include "server/net/late_tick_log.h"

#include <spdlog/fmt/fmt.h>

namespace orrery::server {

void LateTickLog::late(std::uint64_t tick, std::uint64_t late_ns) {
    ++count_;
    last_tick_ = tick;
    late_ns_ += late_ns;
}

std::optional<std::string> LateTickLog::line(protocol::TimeNs now) {
    if (count_ == 0 || (last_line_ && now - *last_line_ < kLateTickLogEvery)) return std::nullopt;
    const double late_ms = static_cast<double>(late_ns_) * 1e-6;
    std::string text;
    if (count_ == 1) {
        text = fmt::format("tick {} came late once, by {:.1f} ms", last_tick_, late_ms);
    } else {
        text = fmt::format(
            "{} ticks came late since the last line of this kind, by {:.1f} ms in total; the last was tick {}", count_,
            late_ms, last_tick_);
        if (count_ >= kLateTicksOfSlowMachine) text += ": this machine is too slow for the scene";
    }
    count_ = late_ns_ = 0;
    last_line_ = now;
    return text;
}

}  // namespace orrery::server
