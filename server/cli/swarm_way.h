// How a bot of `orrery swarm` reaches the server, over UDP or over WebSocket: one connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "orrery/client.hpp"
#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "server/cli/swarm_figures.h"

namespace orrery::server {

class BotWay {
  public:
    virtual ~BotWay() = default;

    // The client that goes this way; it must not outlive the way.
    virtual Result<client::Client> make_client(const orrery_client_config& config) = 0;
    // Without a token (null) the server is asked for one.
    virtual void connect(client::Client& client, const protocol::PublicTokenBytes* token, std::uint64_t now_ns) = 0;
    // Receives, lets the client work, and sends.
    virtual void poll(client::Client& client, std::uint64_t now_ns) = 0;
    virtual void leave(client::Client& client, std::uint64_t now_ns) = 0;
    // After leave(), without the client: false once the server knows, or was given time enough.
    virtual bool still_leaves(std::uint64_t now_ns) = 0;

    virtual int handle() const = 0;    // below 0: nothing to wait for
    virtual short events() const = 0;  // of poll()
    virtual bool unreachable() const = 0;
    // Why no connection comes about, of which the client knows nothing. Empty: one still may.
    virtual const std::string& failure() const = 0;
    // What the client says of an end or of a vain try, with what the way knows of it.
    virtual std::string reason(const std::string& said) const = 0;
};

// Bytes are added to `counted`, which must outlive the way.
using MakeBotWay = std::unique_ptr<BotWay> (*)(const protocol::Address& server, SwarmTraffic& counted);
std::unique_ptr<BotWay> make_udp_way(const protocol::Address& server, SwarmTraffic& counted);
std::unique_ptr<BotWay> make_web_way(const protocol::Address& server, SwarmTraffic& counted);

}  // namespace orrery::server
