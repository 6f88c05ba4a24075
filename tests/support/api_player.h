// A program that plays in a simulated room through the C++ and C interface of the client SDK.
#pragma once

#include <cstring>

#include "orrery/client.hpp"
#include "tests/support/mirror_room.h"

namespace orrery::testing {

inline void hook_send(void* user, const orrery_address* to, const std::uint8_t* datagram, std::size_t size) {
    protocol::Address address;
    address.family = static_cast<protocol::Address::Family>(to->family);
    address.port = to->port;
    std::memcpy(address.bytes.data(), to->bytes, 16);
    static_cast<SimEndpoint*>(user)->send(address, {datagram, size});
}

inline std::size_t hook_receive(void* user, orrery_address* from, std::uint8_t* buffer, std::size_t capacity) {
    SimDatagram datagram;
    if (!static_cast<SimEndpoint*>(user)->receive(datagram) || datagram.bytes.size() > capacity) return 0;
    from->family = static_cast<std::uint8_t>(datagram.from.family);
    from->port = datagram.from.port;
    std::memcpy(from->bytes, datagram.from.bytes.data(), 16);
    std::memcpy(buffer, datagram.bytes.data(), datagram.bytes.size());
    return datagram.bytes.size();
}

// A game over a simulated network, which drives about.
struct Player {
    explicit Player(SimRoom& room)
        : sim(room), endpoint(room.network.attach(protocol::Address::ipv4(10, 0, 50, 1, 5000))) {
        orrery_client_config config{};
        orrery_client_config_init(&config);
        config.transport = {hook_send, hook_receive, &endpoint};
        std::optional<client::Client> made = client::Client::create(&config);
        REQUIRE(made);
        client = std::make_unique<client::Client>(std::move(*made));
    }
    void connect() {
        const auto token = sim.mint(77);
        REQUIRE(client->connect(token, sim.now()) == ORRERY_OK);
    }
    void run(double seconds) {
        for (double t = 0.0; t < seconds; t += 0.016) {
            sim.run(0.016, wander);
            const std::array<float, sim::kControlChannels> control = wander(9, sim.room->world().tick());
            client->set_control(control);
            client->poll(sim.now());
            client::Event event;
            while (client->next_event(event)) {
                if (event.kind == ORRERY_EVENT_DISCONNECTED) end_reason = event.end_reason;
                bodies += event.kind == ORRERY_EVENT_BODY_ADDED ? 1 : event.kind == ORRERY_EVENT_BODY_REMOVED ? -1 : 0;
            }
        }
    }

    SimRoom& sim;
    SimEndpoint& endpoint;
    std::unique_ptr<client::Client> client;
    std::int32_t end_reason = ORRERY_END_NONE;
    int bodies = 0;
};

}  // namespace orrery::testing
