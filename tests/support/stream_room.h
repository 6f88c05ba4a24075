// Clients over ordered messages (WebSocket) of a SimRoom, on its virtual clock: pipes with a delay and a rate in place
// of TCP.
//
//   StreamRoom net(load_test_scene("yard"), {});
//   StreamPeer& peer = net.add_stream(7);      // client id 7
//   net.sim.add_client();                      // one over UDP, in the same room
//   net.run(2.0);
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/netcode/stream_server.h"
#include "protocol/session/client_session.h"
#include "tests/support/sim_room.h"

namespace orrery::testing {

// The way from the room to its stream clients.
class SimStreams final : public protocol::StreamSink {
  public:
    struct Message {
        protocol::TimeNs due = 0;
        std::vector<std::uint8_t> bytes;
    };
    struct Pipe {
        double bytes_per_s = std::numeric_limits<double>::infinity();  // that the client reads
        protocol::TimeNs delay = 0;
        std::deque<std::vector<std::uint8_t>> unsent;
        std::deque<Message> on_the_way;
        double budget = 0.0;
        std::size_t unsent_bytes = 0, most_unsent = 0;
        bool closed = false;
        std::uint16_t code = 0;
        std::string text;
    };

    // Sees each message as it is sent.
    void set_tap(std::function<void(protocol::StreamConnection, protocol::Bytes)> tap) { tap_ = std::move(tap); }

    void send(protocol::StreamConnection connection, protocol::Bytes message) override {
        if (tap_) tap_(connection, message);
        Pipe& pipe = pipes[connection];
        pipe.unsent.emplace_back(message.begin(), message.end());
        pipe.unsent_bytes += message.size();
        pipe.most_unsent = std::max(pipe.most_unsent, pipe.unsent_bytes);
    }
    void close(protocol::StreamConnection connection, std::uint16_t code, std::string_view text) override {
        Pipe& pipe = pipes[connection];
        pipe.closed = true;
        pipe.code = code;
        pipe.text = text;
    }
    std::size_t unsent(protocol::StreamConnection connection) const override {
        return pipes.at(connection).unsent_bytes;
    }
    void advance(protocol::TimeNs now, protocol::TimeNs step) {
        for (auto& [connection, pipe] : pipes) {
            pipe.budget = std::min(pipe.budget + pipe.bytes_per_s * static_cast<double>(step) * 1e-9,
                                   std::max(2048.0, pipe.bytes_per_s));
            while (!pipe.unsent.empty() && static_cast<double>(pipe.unsent.front().size()) <= pipe.budget) {
                pipe.budget -= static_cast<double>(pipe.unsent.front().size());
                pipe.unsent_bytes -= pipe.unsent.front().size();
                pipe.on_the_way.push_back({now + pipe.delay, std::move(pipe.unsent.front())});
                pipe.unsent.pop_front();
            }
        }
    }

    std::map<protocol::StreamConnection, Pipe> pipes;

  private:
    std::function<void(protocol::StreamConnection, protocol::Bytes)> tap_;
};

class StreamPeer {
  public:
    StreamPeer(SimRoom& sim, SimStreams& streams, protocol::StreamConnection connection, protocol::Bytes token)
        : sim_(sim),
          id_(connection),
          pipe_(streams.pipes[connection]),
          session_(protocol::default_client_hello(), sim.now(), protocol::client_channel_config(true)),
          check(sim.truth) {
        session_.set_observer(&check);
        sim.room->stream_opened(
            connection, protocol::Address::ipv4(10, 9, 0, 1, static_cast<std::uint16_t>(connection)), sim.now());
        send(token);
    }

    void step() {
        const protocol::TimeNs now = sim_.now();
        while (!pipe_.on_the_way.empty() && pipe_.on_the_way.front().due <= now) {
            take(pipe_.on_the_way.front().bytes, now);
            pipe_.on_the_way.pop_front();
        }
        if (!accepted || pipe_.closed || left || half_open) return;
        session_.set_control(protocol::to_wire(control));
        session_.update(now);
        std::array<std::uint8_t, protocol::kMaxPayloadBytes> packet;
        while (const std::size_t size = session_.write_packet(now, packet)) send(protocol::Bytes(packet).first(size));
        if (now >= last_sent_ + protocol::kStreamKeepAlive) send({});
    }
    void send(protocol::Bytes message) {
        if (!half_open) sim_.room->stream_received(id_, message, sim_.now());
        last_sent_ = sim_.now();
    }
    void leave(bool lost = false) {
        left = true;
        sim_.room->stream_closed(id_, lost, sim_.now());
    }

    bool playing() const { return session_.state() == protocol::ClientSession::State::playing && !pipe_.closed; }
    const protocol::ClientSession& session() const { return session_; }
    SimStreams::Pipe& pipe() { return pipe_; }

  private:
    void take(protocol::Bytes message, protocol::TimeNs now) {
        if (!accepted) {
            REQUIRE(message.size() == protocol::kAcceptBytes);
            accepted = true;
        } else if (!message.empty()) {
            session_.receive_packet(message, now);
        }
    }

    SimRoom& sim_;
    protocol::StreamConnection id_;
    SimStreams::Pipe& pipe_;
    protocol::ClientSession session_;
    protocol::TimeNs last_sent_ = 0;

  public:
    SnapshotCheck check;
    std::array<float, sim::kControlChannels> control{};
    bool accepted = false, left = false;
    bool half_open = false;  // nothing that it sends arrives, and nobody says so
};

struct StreamRoom {
    template <class Scene>
    StreamRoom(const Scene& scene, SimRoomOptions options) : sim(scene, with_streams(std::move(options), streams)) {}

    StreamPeer& add_stream(std::uint64_t client_id, std::uint32_t expires_s = 300, std::int32_t timeout_s = 15) {
        return add_stream_with(sim.mint(client_id, expires_s, {}, timeout_s));
    }
    StreamPeer& add_stream_with(protocol::Bytes token) {
        peers.push_back(std::make_unique<StreamPeer>(sim, streams, ++connections_, token));
        return *peers.back();
    }
    template <class Drive>
    void run(double seconds, Drive drive) {
        for (const protocol::TimeNs end = sim.now() + static_cast<protocol::TimeNs>(seconds * 1e9); sim.now() < end;) {
            const protocol::TimeNs before = sim.now();
            sim.run(0.002, drive);
            streams.advance(sim.now(), sim.now() - before);
            for (auto& peer : peers) peer->step();
        }
    }
    void run(double seconds) {
        run(seconds, [](std::size_t, std::uint64_t) { return std::array<float, sim::kControlChannels>{}; });
    }

    SimStreams streams;
    SimRoom sim;
    std::vector<std::unique_ptr<StreamPeer>> peers;

  private:
    static SimRoomOptions with_streams(SimRoomOptions options, SimStreams& streams) {
        options.streams = &streams;
        return options;
    }
    protocol::StreamConnection connections_ = 0;
};

}  // namespace orrery::testing
