#include "server/net/client_log.h"

#include <algorithm>

namespace orrery::server {

namespace {

using protocol::DisconnectReason;
using protocol::GoodbyeReason;
using protocol::RefusalReason;

const char* text_of(DisconnectReason how) {
    switch (how) {
        case DisconnectReason::by_peer:
            return "it left";
        case DisconnectReason::timed_out:
            return "it fell silent";
        case DisconnectReason::by_server:
            return "the server ended it";
        case DisconnectReason::server_stopped:
            return "the server stops";
        case DisconnectReason::replaced:
            return "a newer connection of the same player took its place";
        case DisconnectReason::kicked:
            return "the server ended it: it was kicked";
    }
    return "unknown";
}

const char* text_of(GoodbyeReason goodbye) {
    switch (goodbye) {
        case GoodbyeReason::server_stopped:
            return "the server stops";
        case GoodbyeReason::protocol_error:
            return "it sent what cannot be read";
        case GoodbyeReason::too_slow:
            return "it was too slow to take what the server sent";
        case GoodbyeReason::handshake_timeout:
            return "it did not finish the handshake in time";
        case GoodbyeReason::world_too_large:
            return "the world has more bodies than a joining client can be told";
        case GoodbyeReason::unacknowledged:
            return "it acknowledged nothing for 10 s";
        case GoodbyeReason::kicked:
            return "it was kicked";
        case GoodbyeReason::replaced:
            return "it has connected anew";
        case GoodbyeReason::refused_by_game:
            return "the game refused it";
        case GoodbyeReason::message_limits:
            return "it sent more game messages than a client may";
    }
    return "unknown";
}
static_assert(protocol::kUnacknowledgedTimeout == 10 * protocol::kNsPerSecond);

}  // namespace

bool ClientLog::admit(What what, protocol::TimeNs now) {
    if (!window_start_ || now - std::min(now, *window_start_) >= kClientLogWindow) {
        window_start_ = now;
        lines_ = 0;
    }
    if (lines_ < kClientLinesPerWindow) {
        ++lines_;
        return true;
    }
    ++counted_[static_cast<std::size_t>(what)];
    return false;
}

std::optional<std::string> ClientLog::summary(protocol::TimeNs now, bool last) {
    const auto [connected, refused, disconnected] = counted_;
    if (connected + refused + disconnected == 0) return std::nullopt;
    if (!last && now - std::min(now, *window_start_) < kClientLogWindow) return std::nullopt;
    counted_ = {};
    return "clients without a line of their own: " + std::to_string(connected) + " connected, " +
           std::to_string(refused) + " refused, " + std::to_string(disconnected) + " disconnected";
}

std::string describe(const Departure& departure) {
    if (departure.goodbye == GoodbyeReason::server_stopped) return text_of(DisconnectReason::server_stopped);
    const std::string ended = std::string(text_of(DisconnectReason::by_server)) + ": ";
    if (departure.goodbye) return ended + text_of(*departure.goodbye);
    if (departure.refusal != RefusalReason::none) return ended + "it was refused";
    return text_of(departure.how);
}

}  // namespace orrery::server
