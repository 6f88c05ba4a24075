// Two channels joined by two lossy directions, on a virtual clock.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "protocol/netcode/reliable.h"
#include "tests/support/seeded_random.h"
#include "tests/support/sim_network.h"

namespace orrery::testing {

using namespace orrery::protocol;
using Message = std::vector<std::uint8_t>;

inline Message numbered_message(std::uint64_t number, std::size_t size) {
    Random random(number);
    Message out(size);
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random.next());
    return out;
}

struct ChannelPair {
    struct End {
        Channel channel;
        SimEndpoint& endpoint;
        Address peer;
        std::vector<Message> reliable, unreliable;
        std::vector<Delivery> deliveries;
        std::vector<Message> game{};
    };

    ChannelPair(std::uint64_t seed, const SimLink& link, const ChannelConfig& server_config = server_channel_config(),
                const ChannelConfig& client_config = client_channel_config())
        : network(seed),
          server{Channel(server_config),
                 network.attach(Address::ipv4(1, 0, 0, 1, 1)),
                 Address::ipv4(1, 0, 0, 2, 2),
                 {},
                 {},
                 {}},
          client{Channel(client_config),
                 network.attach(Address::ipv4(1, 0, 0, 2, 2)),
                 Address::ipv4(1, 0, 0, 1, 1),
                 {},
                 {},
                 {}} {
        network.set_default_link(link);
    }

    void read(End& end) {
        SimDatagram datagram;
        while (end.endpoint.receive(datagram)) end.channel.read_packet(datagram.bytes, now);
        Bytes bytes;
        while (end.channel.pop_reliable(bytes)) end.reliable.emplace_back(bytes.begin(), bytes.end());
        while (end.channel.pop_reliable(bytes, StreamId::game)) end.game.emplace_back(bytes.begin(), bytes.end());
        while (end.channel.pop_unreliable(bytes)) end.unreliable.emplace_back(bytes.begin(), bytes.end());
        Delivery delivery;
        while (end.channel.next_delivery(delivery)) end.deliveries.push_back(delivery);
    }
    void write(End& end) {
        std::array<std::uint8_t, kMaxPayloadBytes> packet;
        while (const std::size_t size = end.channel.write_packet(now, packet)) {
            end.endpoint.send(end.peer, Bytes(packet).first(size));
        }
    }
    // One tick of 1/60 s.
    void step() {
        now += kNsPerSecond / 60;
        network.advance(now);
        read(server);
        read(client);
        write(server);
        write(client);
    }
    bool sound() const {
        return server.channel.error() == ChannelError::none && client.channel.error() == ChannelError::none;
    }
    double seconds() const { return static_cast<double>(now) / static_cast<double>(kNsPerSecond); }

    SimNetwork network;
    TimeNs now = 0;
    End server, client;
};

}  // namespace orrery::testing
