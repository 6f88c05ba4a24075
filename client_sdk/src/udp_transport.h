// A non-blocking UDP socket for each address family, opened when the first datagram of that family leaves.
#pragma once

#include <cstdint>

#include "client_sdk/src/transport.h"

namespace orrery::client {

class UdpTransport final : public Transport {
  public:
    UdpTransport();
    ~UdpTransport() override;
    UdpTransport(const UdpTransport&) = delete;
    UdpTransport& operator=(const UdpTransport&) = delete;

    void send(const protocol::Address& to, protocol::Bytes datagram) override;
    std::size_t receive(protocol::Address& from, protocol::MutableBytes buffer) override;
    bool failed() const { return failed_; }  // no socket could be opened

  private:
    std::intptr_t socket_for(protocol::Address::Family family);
    static constexpr std::intptr_t kClosed = -1;
    std::intptr_t ipv4_ = kClosed, ipv6_ = kClosed;  // the system's handles
    bool failed_ = false;
};

}  // namespace orrery::client
