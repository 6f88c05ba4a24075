// Which rooms a datagram or a WebSocket may be for. Of the network thread alone.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "protocol/netcode/address.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/wire.h"

namespace orrery::server {

// The protocol id that a request names, if `datagram` is one.
inline const std::uint8_t* protocol_id_of_request(protocol::Bytes datagram) {
    constexpr std::size_t kAt = 1 + protocol::kNetcodeVersion.size();
    const bool request = datagram.size() == protocol::kRequestBytes &&
                         datagram[0] == static_cast<std::uint8_t>(protocol::PacketType::request);
    return request ? datagram.data() + kAt : nullptr;
}

// The same of a public connect token.
inline const std::uint8_t* protocol_id_of_token(protocol::Bytes message) {
    return message.size() == protocol::kConnectTokenBytes ? message.data() + protocol::kNetcodeVersion.size() : nullptr;
}

template <class Room>
class RoomRoutes {
  public:
    using Rooms = std::vector<std::shared_ptr<Room>>;

    void add(std::uint64_t protocol_id, std::shared_ptr<Room> room) { by_id_.emplace(protocol_id, std::move(room)); }
    void remove(const Room* room) {
        std::erase_if(by_id_, [&](const auto& entry) { return entry.second.get() == room; });
        drop_routes([&](const Route& route) { return route.room.get() == room; });
    }
    const std::unordered_map<std::uint64_t, std::shared_ptr<Room>>& all() const { return by_id_; }

    std::shared_ptr<Room> find(const std::uint8_t* protocol_id) const {
        const auto found = protocol_id ? by_id_.find(protocol::load_le(protocol_id, 8)) : by_id_.end();
        return found == by_id_.end() ? nullptr : found->second;
    }

    // `room` has sent a datagram to `address`.
    void sent(const std::shared_ptr<Room>& room, const protocol::Address& address, protocol::TimeNs now) {
        auto& routes = by_address_[address];
        for (Route& route : routes) {
            if (route.room != room) continue;
            route.last_sent = now;
            return;
        }
        routes.push_back({room, now});
    }

    // Calls `give(room)` for each room that has lately sent to `from`. False: there is none.
    template <class Give>
    bool for_each(const protocol::Address& from, Give give) const {
        const auto found = by_address_.find(from);
        if (found == by_address_.end()) return false;
        for (const Route& route : found->second) give(*route.room);
        return true;
    }

    // Forgets what is older than `life`. Each room answers only tokens, within its limits: what it sends to is bounded.
    void forget(protocol::TimeNs now, protocol::TimeNs life) {
        drop_routes([&](const Route& route) { return now - route.last_sent > life; });
    }

  private:
    struct Route {
        std::shared_ptr<Room> room;
        protocol::TimeNs last_sent = 0;
    };
    template <class Is>
    void drop_routes(Is is) {
        for (auto at = by_address_.begin(); at != by_address_.end();) {
            std::erase_if(at->second, is);
            at = at->second.empty() ? by_address_.erase(at) : std::next(at);
        }
    }

    std::unordered_map<std::uint64_t, std::shared_ptr<Room>> by_id_;
    std::unordered_map<protocol::Address, std::vector<Route>, protocol::AddressHash> by_address_;
};

}  // namespace orrery::server
