#include "client_sdk/src/end_reasons.h"

namespace orrery::client {

using namespace orrery::protocol;

EndReason reason_of(DenyReason denied) {
    switch (denied) {
        case DenyReason::already_connected:
            return EndReason::already_connected;
        case DenyReason::kicked:
            return EndReason::kicked;
        case DenyReason::refused_by_game:
            return EndReason::refused_by_game;
        case DenyReason::token_used:
        case DenyReason::expired:
        case DenyReason::bad_token_role:
        case DenyReason::other_server:
            return EndReason::token;
        default:
            return EndReason::denied;
    }
}

EndReason reason_of(DisconnectReason reason) {
    switch (reason) {
        case DisconnectReason::server_stopped:
            return EndReason::server_stopped;
        case DisconnectReason::replaced:
            return EndReason::replaced;
        case DisconnectReason::kicked:
            return EndReason::kicked;
        default:
            return EndReason::by_server;
    }
}

const char* text_of(EndReason reason) {
    switch (reason) {
        case EndReason::server_stopped:
            return "the server stopped";
        case EndReason::replaced:
            return "another connection of this player took its place";
        case EndReason::kicked:
            return "the server removed this player";
        default:
            return "the server ended the connection without a reason";
    }
}

std::string denied_text(DenyReason denied) {
    std::string text = "denied";
    if (denied != DenyReason::unspecified) text.append("; the server says: ").append(deny_reason_text(denied));
    return text;
}

}  // namespace orrery::client
