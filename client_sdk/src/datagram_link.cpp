#include "client_sdk/src/datagram_link.h"

#include <cstring>

#include "client_sdk/src/netcode_link.h"
#include "client_sdk/src/udp_transport.h"

namespace orrery::client {

using protocol::Address;

namespace {

class CallbackTransport final : public Transport {
  public:
    explicit CallbackTransport(const orrery_transport& hooks) : hooks_(hooks) {}

    void send(const Address& to, protocol::Bytes datagram) override {
        orrery_address address{};
        address.family = static_cast<std::uint8_t>(to.family);
        address.port = to.port;
        std::memcpy(address.bytes, to.bytes.data(), sizeof address.bytes);
        hooks_.send(hooks_.user, &address, datagram.data(), datagram.size());
    }
    std::size_t receive(Address& from, protocol::MutableBytes buffer) override {
        orrery_address address{};
        const std::size_t size = hooks_.receive(hooks_.user, &address, buffer.data(), buffer.size());
        if (size == 0 || size > buffer.size() || address.family < 1 || address.family > 2) return 0;
        from.family = static_cast<Address::Family>(address.family);
        from.port = address.port;
        std::memcpy(from.bytes.data(), address.bytes, sizeof address.bytes);
        return size;
    }

  private:
    orrery_transport hooks_;
};

struct Parts {
    explicit Parts(const orrery_transport& hooks) {
        if (hooks.send) {
            transport = std::make_unique<CallbackTransport>(hooks);
        } else {
            auto own = std::make_unique<UdpTransport>();
            socket = own.get();
            transport = std::move(own);
        }
    }
    protocol::SystemRandom random;
    std::unique_ptr<Transport> transport;
    UdpTransport* socket = nullptr;  // `transport` if it is ours
};

class DatagramLink final : private Parts, public NetcodeLink {
  public:
    explicit DatagramLink(const orrery_transport& hooks) : Parts(hooks), NetcodeLink(*transport, random) {}
    bool failed() const override { return socket && socket->failed(); }
};

}  // namespace

std::unique_ptr<Link> make_datagram_link(const orrery_transport& hooks) {
    return std::make_unique<DatagramLink>(hooks);
}

}  // namespace orrery::client
