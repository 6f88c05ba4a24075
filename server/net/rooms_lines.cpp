#include "server/net/rooms_lines.h"

#include <algorithm>

#include "server/net/fact_line.h"

namespace orrery::server {

std::string room_line(const RoomView& room, const std::string& replay, bool json) {
    return FactLine("room", json)
        .text("id", room.id)
        .text("name", room.name)
        .text("scene", room.scene)
        .number("tick_hz", double{room.tick_rate_hz})
        .text("replay", replay)
        .str();
}

std::string rooms_status(const HostView& host, const std::vector<RoomView>& rooms, const HostTotals& before,
                         double seconds, bool json) {
    double tick_ms = 0.0, late_ms = 0.0;
    for (const RoomView& room : rooms) {
        tick_ms = std::max(tick_ms, room.times.p99_ms);
        late_ms = std::max(late_ms, room.times.late_p99_ms);
    }
    const auto a_second = [&](std::uint64_t now, std::uint64_t then) {
        return static_cast<double>(now - then) / seconds;
    };
    const HostTotals& now = host.totals;
    return FactLine("status", json)
        .number("rooms", host.rooms)
        .number("clients", host.clients)
        .number("players", host.players)
        .number("ticks", now.ticks)
        .number("tick_p99_ms", tick_ms, 3)
        .number("late_p99_ms", late_ms, 3)
        .number("late_ticks", now.late_ticks)
        .number("sent_bytes_per_s", a_second(now.sent_bytes, before.sent_bytes), 0)
        .number("received_bytes_per_s", a_second(now.received_bytes, before.received_bytes), 0)
        .number("recordings_failing", host.recordings_failing)
        .text("draining", host.draining ? "yes" : "no")
        .str();
}

}  // namespace orrery::server
