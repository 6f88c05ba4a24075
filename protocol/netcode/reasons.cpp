#include "protocol/netcode/reasons.h"

namespace orrery::protocol {

std::string_view deny_reason_name(DenyReason reason) {
    switch (reason) {
        case DenyReason::unspecified:
            return "unspecified";
        case DenyReason::server_full:
            return "server_full";
        case DenyReason::already_connected:
            return "already_connected";
        case DenyReason::token_used:
            return "token_used";
        case DenyReason::kicked:
            return "kicked";
        case DenyReason::refused_by_game:
            return "refused_by_game";
        case DenyReason::expired:
            return "expired";
        case DenyReason::bad_token_role:
            return "bad_token_role";
        case DenyReason::other_server:
            return "other_server";
    }
    return "unspecified";
}

std::string_view deny_reason_text(DenyReason reason) {
    switch (reason) {
        case DenyReason::unspecified:
            return "no reason";
        case DenyReason::server_full:
            return "every place of the server is taken";
        case DenyReason::already_connected:
            return "this player is connected already, by a token that expires no earlier";
        case DenyReason::token_used:
            return "the token was used from another address; ask for a new one";
        case DenyReason::kicked:
            return "this player was removed, and may not come back yet";
        case DenyReason::refused_by_game:
            return "the game refuses this player";
        case DenyReason::expired:
            return "the token has expired; ask for a new one";
        case DenyReason::bad_token_role:
            return "the token has a role that the server does not know";
        case DenyReason::other_server:
            return "the token names other addresses than the server's (its option --public)";
    }
    return "no reason";
}

DenyReason deny_reason_of(std::uint64_t sequence) {
    const std::uint64_t byte = sequence & 0xffu;
    const bool stated = (sequence & kUnboundSequence) == kUnboundSequence && byte < kDenyReasons;
    return stated ? static_cast<DenyReason>(byte) : DenyReason::unspecified;
}

std::string_view disconnect_reason_text(DisconnectReason reason) {
    switch (reason) {
        case DisconnectReason::by_peer:
            return "the client ended the connection";
        case DisconnectReason::timed_out:
            return "the server heard nothing for too long";
        case DisconnectReason::by_server:
            return "the server ended the connection";
        case DisconnectReason::server_stopped:
            return "the server stopped";
        case DisconnectReason::replaced:
            return "a newer connection of the same player took its place";
        case DisconnectReason::kicked:
            return "this player was removed";
    }
    return "the server ended the connection";
}

DisconnectReason disconnect_reason_of(std::uint64_t sequence) {
    for (const auto reason : {DisconnectReason::server_stopped, DisconnectReason::replaced, DisconnectReason::kicked}) {
        if ((sequence & 0xffu) == static_cast<std::uint64_t>(reason)) return reason;
    }
    return DisconnectReason::by_server;
}

}  // namespace orrery::protocol
