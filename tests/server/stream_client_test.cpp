// A client over a stream of ordered messages, against a peer of this file that speaks as the server does.
#include <doctest/doctest.h>

#include <deque>

#include "client_sdk/src/stream_link.h"
#include "orrery/client.h"
#include "orrery/client.hpp"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/reliable.h"
#include "protocol/session/handshake.h"
#include "protocol/session/messages.h"
#include "tests/support/seeded_random.h"

using namespace orrery;
using namespace orrery::testing;
using protocol::Bytes;
using protocol::kNsPerSecond;
using protocol::TimeNs;

namespace {

using Message = std::vector<std::uint8_t>;

protocol::PublicTokenBytes a_token(std::int32_t timeout_s = 10) {
    SeededRandom random(3);
    protocol::TokenRequest request;
    request.protocol_id = protocol::kNetcodeProtocolId;
    request.client_id = 5;
    request.servers.add(protocol::Address::ipv4(127, 0, 0, 1, 7770));
    request.create_timestamp = 1'800'000'000;
    request.timeout_seconds = timeout_s;
    const auto token = protocol::mint_connect_token(request, random.next_key(), random);
    REQUIRE(token);
    return token.value();
}

const Message kAccept = {1, 3, 0, 0, 0, 8, 0, 0, 0};

// The program around a client: it opens the streams that the client wants, and keeps what the client sends.
struct Program {
    explicit Program(std::uint32_t reconnect_s = 0) : client(*client::Client::create_stream()) {
        CHECK(client.set_reconnect(reconnect_s) == ORRERY_OK);
    }
    void connect(const protocol::PublicTokenBytes& token) {
        REQUIRE(client.connect(token, now) == ORRERY_OK);
        REQUIRE(client.stream_wanted() != 0);
        client.stream_opened(now);
        take();
    }
    void take() {
        while (const auto message = client.stream_next()) sent.emplace_back(message->begin(), message->end());
    }
    void poll(double seconds) {
        now += static_cast<TimeNs>(seconds * 1e9);
        CHECK(client.poll(now) == ORRERY_OK);
        take();
        client::Event event;
        while (client.next_event(event)) events.push_back(event);
    }
    void give(Bytes message) { CHECK(client.stream_received(message, now) == ORRERY_OK); }

    client::Client client;
    TimeNs now = kNsPerSecond;
    std::deque<Message> sent;
    std::vector<client::Event> events;
};

// The server's end of the session: hello, an empty world, and what the channel needs.
struct Peer {
    protocol::Channel channel{protocol::server_channel_config(true)};
    protocol::MessageReader reader;
    protocol::MessageWriter writer;
    bool greeted = false;

    void exchange(Program& program) {
        while (!program.sent.empty()) {
            const Message message = std::move(program.sent.front());
            program.sent.pop_front();
            if (message.empty()) continue;
            REQUIRE(channel.read_packet(message, program.now));
            Bytes reliable;
            while (channel.pop_reliable(reliable)) greeted = greeted || !reliable.empty();
            while (channel.pop_unreliable(reliable)) {
            }
        }
        std::array<std::uint8_t, protocol::kMaxPayloadBytes> packet;
        while (const std::size_t size = channel.write_packet(program.now, packet))
            program.give(Bytes(packet).first(size));
    }
};

}  // namespace

TEST_CASE("over a stream the token goes first, and after the acceptance the client says hello") {
    Program program;
    CHECK(program.client.stream_wanted() == 0);
    const auto token = a_token();
    REQUIRE(program.client.connect(token, program.now) == ORRERY_OK);
    CHECK(program.client.stream_wanted() == 1);
    CHECK_FALSE(program.client.stream_next());  // the socket is not open yet
    program.client.stream_opened(program.now);
    program.take();
    REQUIRE(program.sent.size() == 1);
    CHECK(std::equal(token.begin(), token.end(), program.sent[0].begin(), program.sent[0].end()));
    program.sent.clear();
    program.poll(0.02);
    CHECK(program.sent.empty());
    CHECK(program.client.state() == ORRERY_STATE_CONNECTING);

    program.give(kAccept);
    program.poll(0.02);
    CHECK(program.client.state() == ORRERY_STATE_JOINING);
    Peer peer;
    peer.exchange(program);
    CHECK(peer.greeted);
    for (int i = 0; i < 10; ++i) program.poll(0.02), peer.exchange(program);
    CHECK(program.events.empty());
    CHECK(program.client.stats().datagrams_sent >= 2);
    CHECK(program.client.stats().bytes_received >= kAccept.size());
}

TEST_CASE("a stream on which nothing is sent is kept alive by empty messages, and ends when the server is silent") {
    Program program;
    program.connect(a_token(10));
    program.give(kAccept);
    program.poll(0.02);
    program.sent.clear();
    std::size_t empty = 0;
    for (int i = 0; i < 90; ++i) {
        program.poll(0.1);
        for (const Message& message : program.sent) empty += message.empty() ? 1 : 0;
        program.sent.clear();
    }
    CHECK(empty >= 4);  // between those of the channel, which asks again for an acknowledgement
    CHECK(program.events.empty());
    program.give({});  // the server's
    for (int i = 0; i < 90; ++i) program.poll(0.1);
    CHECK(program.events.empty());
    for (int i = 0; i < 20; ++i) program.poll(0.1);
    REQUIRE(program.events.size() == 1);
    CHECK(program.events[0].end_reason == ORRERY_END_TIMED_OUT);
    CHECK(program.client.stream_wanted() == 0);
}

TEST_CASE("a close code says why the server ended a stream") {
    struct Case {
        std::uint32_t code;
        int reason;
        const char* text;
    };
    for (const Case& one : {
             Case{4000, ORRERY_END_DENIED, "denied"},
             Case{4001, ORRERY_END_DENIED, "denied; the server says: every place of the server is taken"},
             Case{4004, ORRERY_END_KICKED,
                  "denied; the server says: this player was removed, and may not come back yet"},
             Case{4006, ORRERY_END_TOKEN, "denied; the server says: the token has expired; ask for a new one"},
             Case{4099, ORRERY_END_DENIED, "denied"},
             Case{4101, ORRERY_END_BY_SERVER, "the server heard nothing from this client"},
             Case{4103, ORRERY_END_SERVER_STOPPED, "the server stopped"},
             Case{4104, ORRERY_END_REPLACED, "another connection of this player took its place"},
             Case{4105, ORRERY_END_KICKED, "the server removed this player"},
             Case{4106, ORRERY_END_TIMED_OUT, "the connection broke (close code 4106: bye)"},
             Case{1006, ORRERY_END_TIMED_OUT, "the connection broke (close code 1006: bye)"},
         }) {
        CAPTURE(one.code);
        Program program;
        program.connect(a_token());
        program.give(kAccept);
        program.poll(0.02);
        program.client.stream_closed(one.code, "bye", program.now);
        CHECK(program.client.stream_wanted() == 0);
        program.poll(0.02);
        REQUIRE(program.events.size() == 1);
        CHECK(program.events[0].kind == ORRERY_EVENT_DISCONNECTED);
        CHECK(program.events[0].end_reason == one.reason);
        CHECK(program.events[0].text == one.text);
    }
}

TEST_CASE("a stream that nobody answers warns after 3 s, and its end lists the causes") {
    Program program;
    REQUIRE(program.client.connect(a_token(), program.now) == ORRERY_OK);
    program.client.stream_closed(1006, "", program.now);
    program.poll(0.02);
    REQUIRE(program.events.size() == 1);
    CHECK(program.events[0].end_reason == ORRERY_END_NO_ANSWER);
    CHECK(program.events[0].text.find("--http-port") != std::string::npos);
    client::StreamLink link;
    REQUIRE(link.connect(a_token(), 0));
    link.update(2'900'000'000);
    CHECK(link.take_warning().empty());
    link.update(3'000'000'000);
    CHECK(link.take_warning().find("--http-port") != std::string::npos);
    link.update(3'100'000'000);
    CHECK(link.take_warning().empty());
}

TEST_CASE("what is no message of the protocol ends a stream as unreadable") {
    for (const Message& first :
         {Message{2, 0, 0, 0, 0, 8, 0, 0, 0}, Message{1, 0, 0, 0, 0, 8, 0, 0}, Message(1201, 1)}) {
        Program program;
        program.connect(a_token());
        program.give(first);
        program.poll(0.02);
        REQUIRE(program.events.size() == 1);
        CHECK(program.events[0].end_reason == ORRERY_END_UNREADABLE);
    }
    Program program;
    program.connect(a_token());
    program.give(kAccept);
    program.give(Message(1201, 0));
    program.poll(0.02);
    REQUIRE(program.events.size() == 1);
    CHECK(program.events[0].end_reason == ORRERY_END_UNREADABLE);
}

TEST_CASE("a stream that broke is made anew by a new token, as another stream") {
    Program program(30);
    program.connect(a_token());
    program.give(kAccept);
    program.poll(0.02);
    program.client.stream_closed(1006, "", program.now);
    program.poll(0.02);
    REQUIRE(program.events.size() == 1);
    CHECK(program.events[0].kind == ORRERY_EVENT_TOKEN_NEEDED);
    CHECK(program.client.stream_wanted() == 0);
    REQUIRE(program.client.renew(a_token(), program.now) == ORRERY_OK);
    CHECK(program.client.stream_wanted() == 2);
    program.client.stream_closed(1006, "", program.now);  // the server is not back yet
    program.poll(0.02);
    REQUIRE(program.events.size() == 2);
    CHECK(program.events[1].kind == ORRERY_EVENT_TOKEN_NEEDED);
    REQUIRE(program.client.renew(a_token(), program.now) == ORRERY_OK);
    program.sent.clear();
    program.client.stream_opened(program.now);
    program.take();
    CHECK(program.sent.size() == 1);
    program.give(kAccept);
    program.poll(0.02);
    CHECK(program.client.state() == ORRERY_STATE_JOINING);
    CHECK(program.client.stream_wanted() == 3);
}

TEST_CASE("what a program does not send is bounded, and nothing of it is lost") {
    client::StreamLink link;
    REQUIRE(link.connect(a_token(), 0));
    link.opened(0);
    link.received(kAccept, 0);
    Message packet(1200, 7);
    std::size_t taken = 0;
    while (link.ready()) {
        REQUIRE(link.send_payload(packet, 0));
        ++taken;
    }
    CHECK_FALSE(link.send_payload(packet, 0));
    CHECK(taken * 1200 <= client::kMaxStreamUnsentBytes);
    CHECK(taken > 100);
    Bytes out;
    std::size_t given = 0;
    while (link.next_message(out)) ++given;
    CHECK(given == taken + 1);  // the token
    CHECK(link.ready());
    // And what it does not read.
    for (int i = 0; i < 20'000 && link.state() == client::LinkState::connected; ++i) link.received(packet, 0);
    TimeNs at;
    while (link.next_payload(out, at)) {
    }
    CHECK(link.state() == client::LinkState::ended);
    CHECK(link.end(true).reason == client::EndReason::message_limits);
}

TEST_CASE("functions of streams do nothing to a client that is not over a stream, or to none") {
    auto udp = client::Client::create();
    REQUIRE(udp);
    CHECK(udp->stream_wanted() == 0);
    CHECK(udp->stream_opened(1) == ORRERY_WRONG_STATE);
    CHECK(udp->stream_received({}, 1) == ORRERY_WRONG_STATE);
    CHECK(udp->stream_closed(1000, "", 1) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_stream_next(udp->handle(), nullptr, nullptr) == ORRERY_WRONG_STATE);
    CHECK(orrery_client_stream_wanted(nullptr) == 0);
    CHECK(orrery_client_stream_opened(nullptr, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_stream_received(nullptr, nullptr, 0, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_stream_closed(nullptr, 1000, nullptr, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_stream_next(nullptr, nullptr, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_client_create_stream(nullptr, nullptr) == ORRERY_INVALID_ARGUMENT);
    auto stream = client::Client::create_stream();
    REQUIRE(stream);
    CHECK(stream->stream_received({static_cast<const std::uint8_t*>(nullptr), 1}, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(stream->connect_insecure("127.0.0.1:7770", 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(stream->connect(Message(2048, 0), 1) == ORRERY_INVALID_TOKEN);
}
