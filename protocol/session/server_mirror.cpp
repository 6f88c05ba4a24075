// The part of ServerSession for clients that mirror the room.
#include <algorithm>

#include "protocol/session/server_session.h"

namespace orrery::protocol {

bool ServerSession::needs_mirror_state(TimeNs now) const {
    if (!mirrors() || !welcome()) return false;
    if (key_frame_tick_ == kNoTick) return true;
    // A state is large: what was sent before has to be with the client, and some time has to pass.
    return begin_again_ && now >= mirror_state_at_ + kMirrorStateInterval &&
           channel_.unacknowledged_bytes() <= kMaxSceneAheadBytes;
}

void ServerSession::send_mirror_state(std::span<const SharedBytes> state, std::uint64_t tick, TimeNs now) {
    if (state.empty()) return close(GoodbyeReason::world_too_large, now);
    for (const SharedBytes& message : state) send(message);
    mirror_.begin(tick);
    begin_again_ = report_open_ = false;
    mirror_state_at_ = now;
    if (key_frame_tick_ == kNoTick) key_frame_tick_ = tick;
}

bool ServerSession::handle_mirror_report(Bytes message, TimeNs now) {
    MirrorReport report;
    // A client reports once for each state that it got.
    if (!mirrors() || key_frame_tick_ == kNoTick || report_open_ || !read_message(message, report)) return false;
    if (mirror_reports_recent_ == 0 || now >= mirror_reports_from_ + kMirrorReportTime) {
        mirror_reports_from_ = now;
        mirror_reports_recent_ = 0;
    }
    if (++mirror_reports_recent_ > kMaxMirrorReports) {
        close(GoodbyeReason::message_limits, now);
        return true;
    }
    mirror_report_ = report.tick;
    report_open_ = begin_again_ = true;
    ++mirror_reports_;
    return true;
}

void ServerSession::send_tick_commands(const MirrorLog& log, bool takes_more) {
    if (!mirrors() || !welcome() || !mirror_.begun()) return;
    if (mirror_report_) {
        MirrorLeaves leaves{*mirror_report_, std::nullopt};
        if (const MirrorLog::Tick* tick = log.find(leaves.tick)) leaves.leaves = tick->hash.leaves;
        mirror_message_.clear();
        write_message(leaves, mirror_message_);
        send(mirror_message_);
        mirror_report_.reset();
    }
    mirror_.acknowledge(input_.mirror_tick, log);
    while (mirror_.next_stream_message(log, mirror_message_)) send(mirror_message_);
    begin_again_ = begin_again_ || mirror_.lost();
    if (quiet_ || !takes_more || mirror_.lost()) return;
    mirror_.datagram(log,
                     {inputs_.newest_tick(), inputs_.slack_us(), static_cast<std::uint32_t>(inputs_.counters().late)},
                     mirror_message_);
    channel_.send_unreliable(mirror_message_);
}

}  // namespace orrery::protocol
