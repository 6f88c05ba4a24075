// A non-blocking UDP socket for each address family, opened when the first datagram of that family leaves.
#pragma once

#include "client_sdk/src/transport.h"

namespace orrery::client {

class UdpTransport final : public Transport {
  public:
    UdpTransport() = default;
    ~UdpTransport() override;
    UdpTransport(const UdpTransport&) = delete;
    UdpTransport& operator=(const UdpTransport&) = delete;

    void send(const protocol::Address& to, protocol::Bytes datagram) override;
    std::size_t receive(protocol::Address& from, protocol::MutableBytes buffer) override;
    bool failed() const { return failed_; }  // no socket could be opened

  private:
    int socket_for(protocol::Address::Family family);
    static constexpr int kClosed = -1;
    int ipv4_ = kClosed, ipv6_ = kClosed;
    bool failed_ = false;
};

}  // namespace orrery::client
