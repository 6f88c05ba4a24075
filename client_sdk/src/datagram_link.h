// A link over UDP with all that it needs.
#pragma once

#include <memory>

#include "client_sdk/src/link.h"
#include "orrery/client.h"

namespace orrery::client {

// Over the functions of `hooks`, or over a socket of its own if they are null. Null in a library without UDP
// (WebAssembly: client_sdk/web/no_datagrams.cpp).
std::unique_ptr<Link> make_datagram_link(const orrery_transport& hooks);

}  // namespace orrery::client
