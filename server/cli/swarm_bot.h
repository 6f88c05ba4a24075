// One bot of `orrery swarm`: a client that joins, drives, leaves and comes back, each time by a way (swarm_way.h) of
// its own.
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
#include "server/cli/swarm_way.h"

namespace orrery::server {

// A snapshot that comes so long after the one before it is late.
inline constexpr double kLateGap_s = 0.1;

// A try fails, and a run ends, if for so long the system has said that nothing listens.
inline constexpr double kNobodyListens_s = 1.0;

// Where bots go, and who lets them in.
struct SwarmDoor {
    protocol::Address server;
    MakeBotWay make_way = make_udp_way;
    std::optional<protocol::Key> key;  // none: the server gives the tokens
    protocol::Address token_server;    // that tokens of `key` name
    double join_timeout_s = 10.0;
    // Instead of `key`: a token for a bot, by its number and client id. Null: none.
    std::function<Result<protocol::PublicTokenBytes>(std::uint32_t bot, std::uint64_t client_id)> mint;
};

class Bot {
  public:
    enum class State : std::uint8_t { away, trying, playing, done };

    // `door` and `totals` must outlive the bot.
    Bot(const SwarmDoor& door, const BotPlan& plan, std::size_t channels, SwarmTotals& totals, std::uint64_t now_ns);
    Bot(const Bot&) = delete;
    Bot& operator=(const Bot&) = delete;

    // Does what is due. Call it on events() of handle(), and at least 100 times a second.
    void update(std::uint64_t now_ns);
    void try_no_more();                 // what it has begun goes on
    void finish(std::uint64_t now_ns);  // leaves at once

    State state() const { return state_; }
    int handle() const { return way_ ? way_->handle() : -1; }  // below 0: nothing to wait for
    short events() const { return way_ ? way_->events() : short{0}; }
    bool connected() const;  // the server has let it in; the world may still be on its way
    bool seated() const { return state_ == State::playing && seated_; }
    double round_trip_s() const { return client_ ? client_->stats().rtt_s : 0.0; }
    SwarmTraffic traffic() const;                                                    // since the start
    bool unreachable() const { return way_ ? way_->unreachable() : found_nobody_; }  // in the last try
    bool leaves() const { return leaving_ != nullptr; }                              // and the server may not know yet

  private:
    void try_to_join(std::uint64_t now_ns);
    Result<protocol::PublicTokenBytes> make_token() const;
    void read_events(std::uint64_t now_ns);
    void count_snapshots(std::uint64_t now_ns);
    void leave(std::uint64_t now_ns, std::uint64_t again_at_ns);
    void ended(std::uint64_t again_at_ns);
    void fail(const std::string& reason, std::uint64_t now_ns);
    void refuse(const std::string& reason);
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
    SwarmTraffic counted_;  // of earlier sessions, and what is counted here and by the ways
    std::unique_ptr<BotWay> way_, leaving_;
    std::optional<client::Client> client_;  // goes `way_`
    std::optional<ControlWalk> walk_;
    std::string warning_;  // the client's, of this try
    bool seated_ = false, found_nobody_ = false;
    std::uint64_t snapshots_ = 0;  // of this session
};

}  // namespace orrery::server
