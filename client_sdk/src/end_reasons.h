// Which end a denial is, and an end by the server: the same over every link.
#pragma once

#include "client_sdk/src/link.h"
#include "protocol/netcode/reasons.h"

namespace orrery::client {

EndReason reason_of(protocol::DenyReason denied);
// by_server: no reason that a server states.
EndReason reason_of(protocol::DisconnectReason reason);
const char* text_of(EndReason reason);  // of an end by the server
std::string denied_text(protocol::DenyReason denied);

}  // namespace orrery::client
