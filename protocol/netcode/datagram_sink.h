// The destination of outgoing datagrams. The bytes are valid only during the call.
#pragma once

#include "protocol/netcode/address.h"
#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

// The longest datagram that these classes send or accept, which is the padded token request of `--insecure`.
inline constexpr std::size_t kMaxDatagramBytes = 2100;

class DatagramSink {
  public:
    virtual ~DatagramSink() = default;
    virtual void send(const Address& to, Bytes datagram) = 0;
};

}  // namespace orrery::protocol
