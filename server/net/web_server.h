// The web server of a room, on the network thread: one listener for the page's files, the scene, connect tokens and
// the WebSockets of clients. Everything that a stranger can make grow has a limit here.
#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/session/token_role.h"
#include "server/net/stream_exchange.h"
#include "server/net/web_files.h"
#include "sim/base/result.h"

namespace orrery::server {

// Connections without an accepted token from one /24 or /64, where many may be behind one NAT: a page opens about six
// at once for a moment.
inline constexpr std::uint32_t kMaxStrangersOfPrefix = 64;
// A proxy on this machine brings all of them by loopback; the rest of the connections is for those with a token.
inline constexpr std::uint32_t kMaxStrangersOfLoopback = 1024;

struct WebLimits {
    protocol::TimeNs head_time = 5 * protocol::kNsPerSecond;     // until a request's head is whole
    protocol::TimeNs stall_time = 10 * protocol::kNsPerSecond;   // with unsent bytes, of which none go out
    protocol::TimeNs answer_time = 30 * protocol::kNsPerSecond;  // of a whole answer, and a second for each 16 KiB
    protocol::TimeNs close_time = protocol::kNsPerSecond;        // from the last byte sent to the peer's end
    std::uint32_t max_connections = 1280;  // kMaxNetcodeClients and those that load files or bring their tokens
    std::uint32_t max_strangers_of_prefix = kMaxStrangersOfPrefix;
    std::uint32_t max_strangers_of_loopback = kMaxStrangersOfLoopback;
};

struct WebConfig {
    protocol::Address bind;  // port 0: any free one
    WebFiles files;
    std::string awaited_page;          // a folder that may come later. Empty: none, or it has come
    std::vector<std::string> origins;  // further ones whose pages may connect; see normal_origin
    // Makes a fresh connect token for POST /token, which is answered only to loopback names. `room` is the id of one
    // among many; empty: any. Null: `no_tokens` says why there are none.
    std::function<Result<protocol::PublicTokenBytes>(protocol::TokenRole, const std::string& room)> mint;
    std::string no_tokens;
    bool directors = false;  // POST /token?role=director gives a director's token; without a role: a player's
    WebLimits limits;

    void look_for_page();  // the awaited one; what cannot be read now may be made readable
};

class WebServer {
  public:
    // The room of a WebSocket, by its first message. Null: there is none.
    using ExchangeFor = std::function<std::shared_ptr<StreamExchange>(protocol::Bytes)>;

    // Binds the address, an error with code io; accepts connections once `io` runs, which outlives the server. Another
    // thread may make it; all else is for the thread that runs `io`.
    static Result<std::unique_ptr<WebServer>> open(asio::io_context& io, WebConfig config, ExchangeFor exchange_for);
    ~WebServer();

    protocol::Address local_address() const;

    void start();  // accepts connections
    void send_orders(StreamExchange& exchange);
    void read_on();  // from connections that were ahead of their room
    WebFiles& files();
    void mint_no_more();
    void end_room(const StreamExchange& exchange);  // ends its connections that are not being closed
    void stop();  // no new connection; those that are there end within WebLimits::close_time
    std::size_t connections() const;

  private:
    struct State;
    explicit WebServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery::server
