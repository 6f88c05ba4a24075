// A datagram network in memory, on a virtual clock and from one seed: loss, delay with jitter, duplication and
// reordering, for each direction of each link. Equal seeds and equal sends give equal deliveries.
//
//   SimNetwork network(seed);
//   SimEndpoint& server = network.attach(address_a);   // a DatagramSink: pass it to NetcodeServer
//   SimEndpoint& client = network.attach(address_b);
//   network.set_default_link({.loss = 0.05, .delay = 50 * kNsPerMs, .jitter = 10 * kNsPerMs});
//   network.advance(now);                              // once a step, before receiving
//   while (server.receive(datagram)) netcode_server.receive(datagram.from, datagram.bytes, now);
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/datagram_sink.h"
#include "tests/support/seeded_random.h"

namespace orrery::testing {

struct SimLink {
    double loss = 0.0;            // probability that a datagram never arrives
    double duplicate = 0.0;       // probability that it arrives twice
    double reorder = 0.0;         // probability that it is held back by `reorder_delay` more
    protocol::TimeNs delay = 0;   // one way
    protocol::TimeNs jitter = 0;  // uniform, on top
    protocol::TimeNs reorder_delay = 30 * protocol::kNsPerMs;
    bool up = true;      // false: everything sent is lost
    int bottleneck = 0;  // the one of this number that it passes (SimNetwork::set_bottleneck); 0: none
};

// What several links share: datagrams leave it one after another, and those that find its queue full are lost.
struct SimBottleneck {
    double bytes_per_s = 0.0;
    std::size_t queue_bytes = 0;
    static constexpr std::size_t kHeadBytes = 28;  // of IP and UDP, for each datagram
    protocol::TimeNs free_at = 0;
    std::uint64_t passed = 0, overflowed = 0;
    protocol::TimeNs longest_wait = 0;
};

struct SimDatagram {
    protocol::Address from, to;
    std::vector<std::uint8_t> bytes;
};

class SimNetwork;

class SimEndpoint final : public protocol::DatagramSink {
  public:
    SimEndpoint(SimNetwork& network, const protocol::Address& address) : network_(network), address_(address) {}
    void send(const protocol::Address& to, protocol::Bytes bytes) override;
    bool receive(SimDatagram& out) {
        if (arrived_.empty()) return false;
        out = std::move(arrived_.front());
        arrived_.pop_front();
        return true;
    }
    const protocol::Address& address() const { return address_; }

  private:
    friend class SimNetwork;
    SimNetwork& network_;
    protocol::Address address_;
    std::deque<SimDatagram> arrived_;
};

struct SimNetworkStats {
    std::uint64_t sent = 0, lost = 0, duplicated = 0, delivered = 0, unroutable = 0;
};

class SimNetwork {
  public:
    explicit SimNetwork(std::uint64_t seed) : random_(seed) {}

    SimEndpoint& attach(const protocol::Address& address) {
        auto& slot = endpoints_[address];
        if (!slot) slot = std::make_unique<SimEndpoint>(*this, address);
        return *slot;
    }
    void detach(const protocol::Address& address) { endpoints_.erase(address); }

    void set_default_link(const SimLink& link) { default_link_ = link; }
    void set_link(const protocol::Address& from, const protocol::Address& to, const SimLink& link) {
        links_[{from, to}] = link;
    }
    void set_bottleneck(int number, const SimBottleneck& bottleneck) { bottlenecks_[number] = bottleneck; }
    const SimBottleneck& bottleneck(int number) const { return bottlenecks_.at(number); }
    // Sees each datagram as it is sent, before any loss.
    void set_tap(std::function<void(const SimDatagram&)> tap) { tap_ = std::move(tap); }

    // Any sender address may be claimed: a spoofed or a replayed datagram.
    void send(const protocol::Address& from, const protocol::Address& to, protocol::Bytes bytes) {
        SimDatagram datagram{from, to, {bytes.begin(), bytes.end()}};
        ++stats_.sent;
        if (tap_) tap_(datagram);
        const auto found = links_.find({from, to});
        const SimLink& link = found == links_.end() ? default_link_ : found->second;
        if (!link.up || random_.chance(link.loss)) {
            ++stats_.lost;
            return;
        }
        const bool twice = random_.chance(link.duplicate);
        if (twice) {
            ++stats_.duplicated;
            queue(datagram, link);
        }
        queue(std::move(datagram), link);
    }

    // Brings the clock to `now` (it never runs backwards) and delivers what is due, in order of time.
    void advance(protocol::TimeNs now) {
        now_ = std::max(now_, now);
        while (!in_flight_.empty() && in_flight_.begin()->first.first <= now_) {
            SimDatagram datagram = std::move(in_flight_.begin()->second);
            in_flight_.erase(in_flight_.begin());
            const auto to = endpoints_.find(datagram.to);
            if (to == endpoints_.end()) {
                ++stats_.unroutable;
                continue;
            }
            ++stats_.delivered;
            to->second->arrived_.push_back(std::move(datagram));
        }
    }

    protocol::TimeNs now() const { return now_; }
    const SimNetworkStats& stats() const { return stats_; }

  private:
    void queue(SimDatagram datagram, const SimLink& link) {
        protocol::TimeNs due = now_;
        if (link.bottleneck != 0 && !pass(bottlenecks_.at(link.bottleneck), datagram.bytes.size(), due)) {
            ++stats_.lost;
            return;
        }
        due += link.delay;
        if (link.jitter > 0) due += random_.below(link.jitter);
        if (random_.chance(link.reorder)) due += link.reorder_delay;
        in_flight_.emplace(std::pair{due, next_++}, std::move(datagram));
    }

    // False: the queue is full.
    bool pass(SimBottleneck& through, std::size_t bytes, protocol::TimeNs& due) const {
        const auto time_of = [&](std::size_t n) {
            return static_cast<protocol::TimeNs>(static_cast<double>(n) / through.bytes_per_s *
                                                 static_cast<double>(protocol::kNsPerSecond));
        };
        const protocol::TimeNs wait = std::max(through.free_at, now_) - now_;
        if (wait > time_of(through.queue_bytes)) {
            ++through.overflowed;
            return false;
        }
        ++through.passed;
        through.longest_wait = std::max(through.longest_wait, wait);
        through.free_at = due = now_ + wait + time_of(bytes + SimBottleneck::kHeadBytes);
        return true;
    }

    Random random_;
    protocol::TimeNs now_ = 0;
    std::map<int, SimBottleneck> bottlenecks_;
    std::uint64_t next_ = 0;  // ties in time are broken by the order of sending
    SimLink default_link_;
    std::map<std::pair<protocol::Address, protocol::Address>, SimLink> links_;
    std::map<protocol::Address, std::unique_ptr<SimEndpoint>> endpoints_;
    std::map<std::pair<protocol::TimeNs, std::uint64_t>, SimDatagram> in_flight_;
    std::function<void(const SimDatagram&)> tap_;
    SimNetworkStats stats_;
};

inline void SimEndpoint::send(const protocol::Address& to, protocol::Bytes bytes) {
    network_.send(address_, to, bytes);
}

}  // namespace orrery::testing
