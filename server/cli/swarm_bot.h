// One bot of `orrery swarm`: a client that joins, drives, leaves and comes back, over a UDP socket of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "orrery/client.hpp"
#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/crypto.h"
#include "server/cli/swarm_figures.h"
#include "server/cli/swarm_plan.h"

namespace orrery::server {

// A snapshot that comes so long after the one before it is late.
inline constexpr double kLateGap_s = 0.1;

// A try fails, and a run ends, if for so long the system has said that nothing listens.
inline constexpr double kNobodyListens_s = 1.0;

// Where bots go, and who lets them in.
struct SwarmDoor {
    protocol::Address server;
    std::optional<protocol::Key> key;  // none: the server gives the tokens (`serve --insecure`)
    double join_timeout_s = 10.0;
    // Instead of `key`: a token for a bot, by its number and client id. Null: none.
    std::function<Result<protocol::PublicTokenBytes>(std::uint32_t bot, std::uint64_t client_id)> mint;
};

// Connected to the server, so that the system tells where nothing listens. Another one for each connection.
class BotSocket {
  public:
    explicit BotSocket(const protocol::Address& server);
    ~BotSocket();
    BotSocket(const BotSocket&) = delete;
    BotSocket& operator=(const BotSocket&) = delete;

    int handle() const { return handle_; }             // below 0: the system gave no socket
    std::string error() const;                         // why
    bool unreachable() const { return unreachable_; }  // nothing listened, when something was sent last
    orrery_transport transport();
    std::uint64_t bytes_in = 0, bytes_out = 0;

  private:
    void send(const orrery_address& to, const std::uint8_t* datagram, std::size_t size);
    std::size_t receive(orrery_address& from, std::uint8_t* buffer, std::size_t capacity);

    orrery_address server_{};
    int handle_ = -1, error_ = 0;
    bool unreachable_ = false;
};

class Bot {
  public:
    enum class State : std::uint8_t { away, trying, playing, done };

    // `door` and `totals` must outlive the bot.
    Bot(const SwarmDoor& door, const BotPlan& plan, std::size_t channels, SwarmTotals& totals, std::uint64_t now_ns);
    Bot(const Bot&) = delete;
    Bot& operator=(const Bot&) = delete;

    // Does what is due. Call it when its socket has something to read, and at least 100 times a second.
    void update(std::uint64_t now_ns);
    void try_no_more();                 // what it has begun goes on
    void finish(std::uint64_t now_ns);  // leaves at once

    State state() const { return state_; }
    int handle() const { return socket_ ? socket_->handle() : -1; }
    bool connected() const;  // the server has let it in; the world may still be on its way
    bool seated() const { return state_ == State::playing && seated_; }
    double round_trip_s() const { return client_ ? client_->stats().rtt_s : 0.0; }
    SwarmTraffic traffic() const;  // since the start
    bool unreachable() const { return socket_ && socket_->unreachable(); }

  private:
    void try_to_join(std::uint64_t now_ns);
    Result<protocol::PublicTokenBytes> make_token() const;
    void read_events(std::uint64_t now_ns);
    void count_snapshots(std::uint64_t now_ns);
    void ended(std::uint64_t again_at_ns);
    void fail(const std::string& reason, std::uint64_t now_ns);
    double patience_s() const;  // with a try
    std::uint64_t back_at(std::uint64_t now_ns) const;

    const SwarmDoor& door_;
    BotPlan plan_;
    std::size_t channels_;
    SwarmTotals& totals_;
    State state_ = State::away;
    bool tries_ = true;
    std::uint32_t session_ = 0;
    std::uint64_t next_try_ns_ = 0, tried_ns_ = 0, playing_ns_ = 0, leaves_ns_ = 0, last_snapshot_ns_ = 0;
    std::unique_ptr<BotSocket> socket_;
    std::optional<client::Client> client_;  // uses the socket
    std::optional<ControlWalk> walk_;
    std::string warning_;  // the client's, of this try
    bool seated_ = false;
    std::uint64_t snapshots_ = 0;  // of this session
    SwarmTraffic before_;          // of earlier sessions, and what is counted here
};

}  // namespace orrery::server
