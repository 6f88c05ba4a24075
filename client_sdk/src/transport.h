// Where a client's datagrams go and come from.
#pragma once

#include "protocol/netcode/address.h"
#include "protocol/netcode/datagram_sink.h"

namespace orrery::client {

class Transport : public protocol::DatagramSink {
  public:
    // The size of the next waiting datagram, now in `buffer`, or 0. Never blocks. Longer ones are cut or dropped.
    virtual std::size_t receive(protocol::Address& from, protocol::MutableBytes buffer) = 0;
};

}  // namespace orrery::client
