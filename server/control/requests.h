// The bodies of requests to the control API. An error of code parse: the text is not JSON or not of the schema, its
// place is "body:LINE: FIELD"; of invalid_argument: a value is missing or outside its range, its place is the field.
// A body without a byte is one without a field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/control/rooms.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr std::size_t kMaxControlBodyBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxReasonBytes = 200;  // of printable UTF-8, for clients and the log

struct DrainRequest {
    double within_s = 0.0;
    std::string reason;
};
struct StopRoomRequest {
    std::string reason;
};
struct KickRequest {
    std::uint64_t client_id = 0;
    std::string reason;
};

Result<RoomWish> read_create_request(std::string_view body);
Result<DrainRequest> read_drain_request(std::string_view body);
Result<StopRoomRequest> read_stop_request(std::string_view body);
Result<TokenWish> read_token_request(std::string_view body);
Result<KickRequest> read_kick_request(std::string_view body);

std::string id_text(std::uint64_t id);  // 16 hex digits

// Of the tables of all bodies, without a root type.
const char* requests_schema_text();

}  // namespace orrery::server
