// A TCP connection of a bot, which never blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "protocol/netcode/address.h"
#include "server/cli/swarm_figures.h"

namespace orrery::server {

class BotTcp {
  public:
    explicit BotTcp(SwarmTraffic& counted) : counted_(counted) {}
    ~BotTcp() { close(); }
    BotTcp(const BotTcp&) = delete;
    BotTcp& operator=(const BotTcp&) = delete;

    void open(const protocol::Address& server);  // begins to connect, in place of an earlier connection
    void close();

    // Appended to what is sent by flush(), as far as the system takes it.
    std::vector<std::uint8_t>& out() { return out_; }
    std::size_t unsent() const { return out_.size() - sent_; }
    void flush();
    std::size_t receive(std::uint8_t* to, std::size_t room);  // 0: nothing now, or the end

    int handle() const { return handle_; }
    short events() const;
    bool ended() const { return ended_; }  // by the peer, or by an error
    bool refused() const;                  // nothing listens there
    std::string error() const;             // "" after an end without an error

  private:
    void fail(int error);

    SwarmTraffic& counted_;
    std::vector<std::uint8_t> out_;
    std::size_t sent_ = 0;  // of `out_`
    int handle_ = -1, error_ = 0;
    bool ended_ = false;
};

}  // namespace orrery::server
