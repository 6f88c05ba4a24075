// The frames of one WebSocket (RFC 6455), on the server's side: bytes in, messages out, and back. Without I/O; wslay
// reads and writes the frames. Binary messages of at most kMaxWebSocketMessage bytes are taken; all else that a client
// may not send ends the connection with the code that the standard has for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/netcode/connect_token.h"

namespace orrery::server {

inline constexpr std::size_t kMaxWebSocketMessage = protocol::kConnectTokenBytes;  // the largest of a client

class WebSocket {
  public:
    WebSocket();
    ~WebSocket();
    WebSocket(const WebSocket&) = delete;
    WebSocket& operator=(const WebSocket&) = delete;

    // Reads frames; `on_message` gets each whole message, valid during the call. Answers to pings and closes are
    // appended to `out`. False: it reads no more, since a close was received or sent, or a frame was against the
    // standard.
    bool receive(protocol::Bytes bytes, const std::function<void(protocol::Bytes)>& on_message,
                 std::vector<std::uint8_t>& out);
    // Appends the frame of a binary message. Nothing after a close.
    void send(protocol::Bytes message, std::vector<std::uint8_t>& out);
    void close(std::uint16_t code, std::string_view text, std::vector<std::uint8_t>& out);

    bool close_received() const;
    bool close_sent() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::server
