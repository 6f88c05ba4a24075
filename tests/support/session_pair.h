// A room's session and a client's, whose packets go from hand to hand, with a world of a few bodies between them.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

#include "protocol/session/client_session.h"
#include "protocol/session/handshake.h"
#include "protocol/session/key_frame.h"
#include "protocol/session/scene_key_frame.h"
#include "protocol/session/server_session.h"

namespace orrery::testing {

struct SessionPair {
    protocol::RoomDescription room;
    protocol::Board board;
    std::vector<protocol::WorldEvent> events;  // of each step
    protocol::DeltaCodec codec;
    protocol::QuantisedWorld world;
    std::vector<sim::BodyState> bodies;
    std::unique_ptr<protocol::ServerSession> server;
    std::unique_ptr<protocol::ClientSession> client;
    protocol::TimeNs now = protocol::kNsPerSecond;
    std::uint64_t tick = 0, ticks_per_snapshot = 1;
    std::size_t key_frame_bytes = 0;
    protocol::ServerSession::Joins joins = protocol::ServerSession::Joins::welcome;
    std::vector<std::vector<std::uint8_t>> to_server, to_client;  // every packet so far

    SessionPair() {
        room.hello = {protocol::kProtocolVersion,
                      protocol::message_schema_hash(),
                      sim::kEngineVersion,
                      1,
                      60.0f,
                      0,
                      protocol::DeltaCodec::kId,
                      1000,
                      "test"};
        room.shapes.resize(3);
        bodies.resize(40);
        for (std::uint32_t i = 0; i < bodies.size(); ++i) {
            bodies[i].id = {i + 1, 0};
            bodies[i].shape = i % 3;
        }
        world.update(0, bodies);
        server = std::make_unique<protocol::ServerSession>(room, codec, std::uint16_t{0}, now);
        client = std::make_unique<protocol::ClientSession>(protocol::default_client_hello(), now);
    }
    void step(bool deliver_to_server = true, bool deliver_to_client = true) {
        now += 16 * protocol::kNsPerMs;
        ++tick;
        for (auto& body : bodies) body.pose.position.x += 0.01f;
        if (tick % 10 == 0 && bodies.size() > 5) bodies.pop_back();
        world.update(tick, bodies);
        server->process(tick - 1, now, 16 * protocol::kNsPerMs, joins, now);
        server->send_changes(world);
        if (server->needs_key_frame()) send_key_frame();
        server->send_board(board, tick);
        server->send_world_events(tick, events);
        if (tick % ticks_per_snapshot == 0) server->send_snapshot(world);
        client->update(now);
        std::array<std::uint8_t, protocol::kMaxPayloadBytes> packet;
        while (const std::size_t size = server->write_packet(now, packet)) {
            to_client.emplace_back(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
            if (deliver_to_client) client->receive_packet(to_client.back(), now);
        }
        while (const std::size_t size = client->write_packet(now, packet)) {
            to_server.emplace_back(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
            if (deliver_to_server) server->receive_packet(to_server.back(), now);
        }
    }
    void send_key_frame() {
        const protocol::KeyFrame frame =
            server->from_scene() ? protocol::make_scene_key_frame(room.scene_world, world, codec)
                                 : protocol::KeyFrame(world, room.shapes, room.names, codec, room.vocabulary);
        key_frame_bytes = frame.size_bytes();
        server->send_key_frame(frame, world, now);
    }
    // To the playing state, and on for some ticks.
    void warm_up() {
        for (int i = 0; i < 20; ++i) step();
        REQUIRE(server->state() == protocol::ServerSession::State::playing);
        REQUIRE(client->state() == protocol::ClientSession::State::playing);
    }
};

}  // namespace orrery::testing
