// In the place of client_sdk/src/datagram_link.cpp: WebAssembly has no UDP.
#include "client_sdk/src/datagram_link.h"

namespace orrery::client {

std::unique_ptr<Link> make_datagram_link(const orrery_transport&) { return nullptr; }

}  // namespace orrery::client
