// One connection of the web server: the head of a request, then either an answer and the end, or a WebSocket. Nothing
// of it is kept but what its limits allow: a head, a message, and kMaxUnsentBytes with what the room wrote last.
#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/netcode/rate_limit.h"
#include "server/net/stream_exchange.h"
#include "server/net/web_answers.h"
#include "server/net/web_socket.h"

namespace orrery::server {

// What the connections of a server share.
struct WebShared {
    WebConfig config;
    std::function<std::shared_ptr<StreamExchange>(protocol::Bytes)> exchange_for;
    std::uint16_t port = 0;
    protocol::TokenBucket minting;
    std::array<std::uint8_t, kStreamReadBytes> scratch;  // of one read at a time

    bool may_mint();
};

class WebConnection : public std::enable_shared_from_this<WebConnection> {
  public:
    WebConnection(WebShared& shared, std::uint64_t id, asio::ip::tcp::socket socket);

    void start();
    void send(protocol::Bytes message);  // of a WebSocket; flush() follows
    void close(std::uint16_t code, std::string_view text);
    void flush();
    void read_on();                                 // after the room has caught up
    void keep_time(protocol::TimeNs now);           // ends what has outlived its limits
    void end_room(const StreamExchange& exchange);  // if it is its own
    void end();                                     // within WebLimits::close_time
    bool gone() const { return stage_ == Stage::gone; }
    bool stranger() const { return stranger_; }  // without an accepted token
    const protocol::Address& peer() const { return peer_; }

  private:
    // head: until the empty line. stream: a WebSocket. answer: its bytes go out. closing: all is sent, the peer's end
    // is awaited. gone: the socket is closed.
    enum class Stage : std::uint8_t { head, stream, answer, closing, gone };

    void wait_to_read();
    void read();
    void read_head(protocol::Bytes bytes);
    void feed(protocol::Bytes bytes);
    void feed_rest();
    bool take(protocol::Bytes message, protocol::TimeNs now);
    void join(std::shared_ptr<StreamExchange> room);
    void count_unsent(std::size_t bytes);
    void respond(WebAnswer answer);
    bool behind() const;
    bool write(const std::uint8_t* bytes, std::size_t size, std::size_t& sent);
    void sent_all();
    void report_closed(bool lost);
    void drop();
    std::size_t unsent() const { return out_.size() - out_sent_ + (body_ ? body_->size() - body_sent_ : 0); }

    WebShared& shared_;
    std::uint64_t id_;
    asio::ip::tcp::socket socket_;
    protocol::Address peer_;
    Stage stage_ = Stage::head;
    protocol::TimeNs since_, progress_;  // of the stage; the last byte that went out
    protocol::TimeNs answer_time_ = 0;   // of the whole answer
    bool stranger_ = true;
    bool reading_ = false, writing_ = false, held_ = false, ending_ = false, reported_ = false;
    std::string head_;  // stream: frames that came with it and wait for the room
    std::unique_ptr<WebSocket> web_socket_;
    std::shared_ptr<StreamExchange> exchange_;  // of the room; null: no token has come
    std::shared_ptr<StreamFlow> flow_;          // likewise
    std::vector<std::uint8_t> out_;
    std::size_t out_sent_ = 0;
    std::shared_ptr<const std::vector<std::uint8_t>> body_;
    std::size_t body_sent_ = 0;
};

}  // namespace orrery::server
