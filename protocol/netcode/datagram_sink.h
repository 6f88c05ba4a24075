// Where outgoing datagrams go. The bytes are valid during the call alone.
#pragma once

#include "protocol/netcode/address.h"
#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

// No datagram that these classes send or accept is longer (the padded token request of `--insecure` is the longest).
inline constexpr std::size_t kMaxDatagramBytes = 2100;

class DatagramSink {
  public:
    virtual ~DatagramSink() = default;
    virtual void send(const Address& to, Bytes datagram) = 0;
};

}  // namespace orrery::protocol
