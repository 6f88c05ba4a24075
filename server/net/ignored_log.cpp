#include "server/net/ignored_log.h"

#include <algorithm>

#include "protocol/netcode/netcode_timing.h"

namespace orrery::server {

using protocol::DenyReason;
using protocol::Ignored;

namespace {

// What whoever runs the server can do about it; empty: nothing, or it is plain.
std::string_view mend(Ignored reason) {
    switch (reason) {
        case Ignored::request_does_not_open:
            return "the token was made with another key, or was changed";
        case Ignored::request_protocol:
            return "the token is for another game or version";
        case Ignored::mint_disabled:
            return "a client asked for a token: see --insecure";
        case Ignored::mint_not_loopback:
            return "a client elsewhere asked for a token: see --insecure-public";
        default:
            return {};
    }
}

std::string_view mend(DenyReason reason) {
    switch (reason) {
        case DenyReason::other_server:
            return "the token has no address of this server: see --public";
        case DenyReason::bad_token_role:
            return "the user data of the token is of a later version: see protocol/session/token_role.h";
        case DenyReason::expired:
            return "if its maker says that it has not: compare the clocks of both machines";
        default:
            return {};
    }
}

void append(std::string& text, std::string_view name, std::uint64_t count, std::string_view note) {
    if (count == 0) return;
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(std::to_string(count));
    if (!note.empty()) text.append(" (").append(note).append(")");
}

}  // namespace

std::optional<std::string> IgnoredLog::line(const protocol::NetcodeCounters& netcode, const NetworkStats& network,
                                            protocol::TimeNs now, const protocol::StreamCounters& streams) {
    // A client that leaves says so kDisconnectRepeats times, of which the first alone is from a known address.
    const std::uint64_t left =
        (netcode.disconnections - netcode.timeouts) - (netcode_.disconnections - netcode_.timeouts);
    const std::uint64_t goodbyes = left * static_cast<std::uint64_t>(protocol::kDisconnectRepeats - 1);
    std::string text;
    for (std::size_t i = 0; i < netcode.ignored.size(); ++i) {
        const auto reason = static_cast<Ignored>(i);
        std::uint64_t count = netcode[reason] - netcode_[reason];
        if (reason == Ignored::unknown_address) count -= std::min(count, goodbyes);
        append(text, ignored_name(reason), count, mend(reason));
    }
    for (std::size_t i = 0; i < netcode.denied.size(); ++i) {
        const auto reason = static_cast<DenyReason>(i);
        append(text, "denied: " + std::string(deny_reason_name(reason)), netcode[reason] - netcode_[reason],
               mend(reason));
    }
    for (std::size_t i = 0; i < streams.denied.size(); ++i) {
        const auto reason = static_cast<DenyReason>(i);
        append(text, "ws denied: " + std::string(deny_reason_name(reason)), streams.denied[i] - streams_.denied[i],
               mend(reason));
    }
    append(text, "ws no_token", streams.no_token - streams_.no_token,
           "their first message was no token of this server");
    append(text, "ws wrong_messages", streams.wrong_messages - streams_.wrong_messages, {});
    append(text, "ws crowded_out", streams.crowded_out - streams_.crowded_out, {});
    append(text, "oversized", network.oversized - network_.oversized, {});
    append(text, "received_dropped", network.received_dropped - network_.received_dropped,
           "they came faster than the ticks");
    append(text, "send_dropped", network.send_dropped - network_.send_dropped, {});
    if (text.empty()) return std::nullopt;
    netcode_ = netcode;
    network_ = network;
    streams_ = streams;
    last_line_ = now;
    return "ignored since the last line of this kind: " + text;
}

}  // namespace orrery::server
