// A server and its clients on the simulated network and one virtual clock.
#pragma once

#include <memory>
#include <vector>

#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/netcode_client.h"
#include "protocol/netcode/netcode_server.h"
#include "tests/support/seeded_random.h"
#include "tests/support/sim_network.h"

namespace orrery::testing {

using namespace orrery::protocol;

inline constexpr std::uint64_t kTestProtocolId = 0x1122334455667788u;
inline constexpr std::uint64_t kTestUnixTime = 1'800'000'000;

inline Address server_address(std::uint8_t last = 1) { return Address::ipv4(10, 0, 0, last, 7770); }
inline Address client_address(std::uint8_t last) { return Address::ipv4(10, 0, 1, last, 50000); }

inline NetcodeServerConfig test_server_config(std::uint32_t max_clients = 4) {
    NetcodeServerConfig config;
    config.protocol_id = kTestProtocolId;
    for (std::size_t i = 0; i < config.private_key.size(); ++i) {
        config.private_key[i] = static_cast<std::uint8_t>(7 * i + 3);
    }
    config.public_addresses = {server_address()};
    config.max_clients = max_clients;
    return config;
}

inline PublicTokenBytes test_token(RandomSource& random, std::uint64_t client_id, std::int32_t timeout_s = 5,
                                   std::vector<Address> servers = {server_address()}, std::uint32_t expires_s = 300) {
    TokenRequest request;
    request.protocol_id = kTestProtocolId;
    request.client_id = client_id;
    for (const Address& address : servers) request.servers.add(address);
    request.create_timestamp = kTestUnixTime;
    request.expires_in_seconds = expires_s;
    request.timeout_seconds = timeout_s;
    for (std::size_t i = 0; i < request.user_data.size(); ++i) {
        request.user_data[i] = static_cast<std::uint8_t>(client_id + i);
    }
    return mint_connect_token(request, test_server_config().private_key, random).value();
}

struct TestClient {
    SimEndpoint& endpoint;
    NetcodeClient client;
};

struct TestServer {
    SimEndpoint& endpoint;
    std::unique_ptr<NetcodeServer> server;
    std::vector<NetcodeServerEvent> events;  // without payloads
    std::vector<std::vector<std::uint8_t>> payloads;
    std::vector<std::uint8_t> user_data;  // of the last connection
};

struct NetFixture {
    explicit NetFixture(std::uint64_t seed = 1) : random(seed), network(seed + 1) {}

    TestServer& add_server(const NetcodeServerConfig& config) {
        SimEndpoint& endpoint = network.attach(config.public_addresses.front());
        auto server = NetcodeServer::create(config, random, endpoint);
        servers.push_back(std::make_unique<TestServer>(TestServer{endpoint, std::move(server).value(), {}, {}, {}}));
        servers.back()->server->update(now, unix_now());
        return *servers.back();
    }
    TestClient& add_client(const Address& address) {
        SimEndpoint& endpoint = network.attach(address);
        clients.push_back(std::unique_ptr<TestClient>(new TestClient{endpoint, NetcodeClient(random, endpoint)}));
        return *clients.back();
    }
    std::uint64_t unix_now() const { return kTestUnixTime + now / kNsPerSecond; }

    // One step of 10 ms for everybody.
    void step() {
        now += 10 * kNsPerMs;
        network.advance(now);
        SimDatagram datagram;
        for (auto& entry : servers) {
            entry->server->update(now, unix_now());
            while (entry->endpoint.receive(datagram)) entry->server->receive(datagram.from, datagram.bytes, now);
            drain(*entry);
        }
        for (auto& entry : clients) {
            while (entry->endpoint.receive(datagram)) entry->client.receive(datagram.from, datagram.bytes, now);
            entry->client.update(now);
        }
    }
    void run(double seconds) {
        for (int steps = static_cast<int>(seconds * 100 + 0.5); steps > 0; --steps) step();
    }

    static void drain(TestServer& entry) {
        NetcodeServerEvent event;
        while (entry.server->next_event(event)) {
            const std::vector<std::uint8_t> bytes(event.bytes.begin(), event.bytes.end());
            event.bytes = {};
            if (event.kind == NetcodeServerEvent::Kind::payload) {
                entry.payloads.push_back(bytes);
                continue;
            }
            if (event.kind == NetcodeServerEvent::Kind::connected) entry.user_data = bytes;
            entry.events.push_back(event);
        }
    }

    SeededRandom random;
    SimNetwork network;
    TimeNs now = kNsPerSecond;
    std::vector<std::unique_ptr<TestServer>> servers;
    std::vector<std::unique_ptr<TestClient>> clients;
};

}  // namespace orrery::testing
