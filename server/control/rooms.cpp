#include "server/control/rooms.h"

#include <algorithm>
#include <string_view>

#include "protocol/netcode/netcode_server.h"

namespace orrery::server {

namespace {

Error wrong(const char* field, std::string message) {
    return Error{ErrorCode::invalid_argument, field, std::move(message)};
}

std::string whole(double value) { return std::to_string(static_cast<long long>(value)); }

bool is_room_name(std::string_view name) {
    return name.size() <= kMaxRoomNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-';
           });
}

}  // namespace

Result<Ok> check(const RoomWish& wish) {
    if (!is_room_name(wish.name))
        return wrong("name", "is not at most " + std::to_string(kMaxRoomNameBytes) +
                                 " characters of a-z A-Z 0-9 _ - (kMaxRoomNameBytes)");
    if (wish.scene.empty()) return wrong("scene", "is missing; give the name of a scene in the folder of scenes");
    if (wish.scene.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos || wish.scene[0] == '.')
        return wrong("scene", "is a path; give the name of a scene in the folder of scenes");
    if (wish.tick_rate_hz && !(*wish.tick_rate_hz >= 1.0f && *wish.tick_rate_hz <= protocol::kMaxTickRate_hz))
        return wrong("tick_rate_hz", "is not from 1 to " + whole(protocol::kMaxTickRate_hz) + " Hz (kMaxTickRate_hz)");
    if (wish.max_clients && (*wish.max_clients < 1 || *wish.max_clients > protocol::kMaxNetcodeClients))
        return wrong("max_clients",
                     "is not from 1 to " + std::to_string(protocol::kMaxNetcodeClients) + " (kMaxNetcodeClients)");
    if (!(wish.end_when_empty_s >= 0.0 && wish.end_when_empty_s <= kMaxEndWhenEmpty_s))
        return wrong("end_when_empty_s",
                     "is not from 0 (never) to " + whole(kMaxEndWhenEmpty_s) + " s (kMaxEndWhenEmpty_s)");
    return Ok{};
}

Result<Ok> check(const TokenWish& wish) {
    if (wish.user_data.size() > protocol::kRoleGameBytes)
        return wrong("user_data",
                     "has more than " + std::to_string(protocol::kRoleGameBytes) + " bytes (kRoleGameBytes)");
    if (wish.expires_s < 1 || wish.expires_s > kMaxMintExpires_s)
        return wrong("expires_s", "is not from 1 to " + std::to_string(kMaxMintExpires_s) + " s (kMaxMintExpires_s)");
    if (wish.timeout_s < 0 || wish.timeout_s > kMaxTokenTimeout_s)
        return wrong("timeout_s",
                     "is not from 0 (never) to " + std::to_string(kMaxTokenTimeout_s) + " s (kMaxTokenTimeout_s)");
    return Ok{};
}

std::string_view name_of(RoomPhase phase) {
    switch (phase) {
        case RoomPhase::open:
            return "open";
        case RoomPhase::draining:
            return "draining";
        case RoomPhase::ending:
            break;
    }
    return "ending";
}

void Histogram::note(double seconds) {
    const auto* const at = std::lower_bound(kBounds_s.begin(), kBounds_s.end(), seconds);
    ++counts[static_cast<std::size_t>(at - kBounds_s.begin())];
    sum_s += seconds;
}

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum_s += other.sum_s;
}

}  // namespace orrery::server
