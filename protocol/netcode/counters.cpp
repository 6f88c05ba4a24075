#include "protocol/netcode/counters.h"

#include <numeric>

namespace orrery::protocol {

std::string_view ignored_name(Ignored reason) {
    switch (reason) {
        case Ignored::rate_address:
            return "rate_address";
        case Ignored::rate_prefix:
            return "rate_prefix";
        case Ignored::rate_client:
            return "rate_client";
        case Ignored::rate_pending:
            return "rate_pending";
        case Ignored::open_budget:
            return "open_budget";
        case Ignored::unknown_address:
            return "unknown_address";
        case Ignored::too_short:
            return "too_short";
        case Ignored::unknown_type:
            return "unknown_type";
        case Ignored::type_not_allowed:
            return "type_not_allowed";
        case Ignored::bad_sequence_length:
            return "bad_sequence_length";
        case Ignored::no_room_for_tag:
            return "no_room_for_tag";
        case Ignored::replayed:
            return "replayed";
        case Ignored::does_not_open:
            return "does_not_open";
        case Ignored::wrong_size:
            return "wrong_size";
        case Ignored::request_length:
            return "request_length";
        case Ignored::request_version:
            return "request_version";
        case Ignored::request_protocol:
            return "request_protocol";
        case Ignored::request_expired:
            return "request_expired";
        case Ignored::request_does_not_open:
            return "request_does_not_open";
        case Ignored::request_address_connected:
            return "request_address_connected";
        case Ignored::request_address_pending:
            return "request_address_pending";
        case Ignored::response_challenge:
            return "response_challenge";
        case Ignored::response_other_address:
            return "response_other_address";
        case Ignored::response_client_id:
            return "response_client_id";
        case Ignored::response_address_connected:
            return "response_address_connected";
        case Ignored::response_id_connected:
            return "response_id_connected";
        case Ignored::mint_disabled:
            return "mint_disabled";
        case Ignored::mint_not_loopback:
            return "mint_not_loopback";
        case Ignored::mint_malformed:
            return "mint_malformed";
        case Ignored::event_queue_full:
            return "event_queue_full";
        case Ignored::wrong_state:
            return "wrong_state";
        case Ignored::kCount:
            break;
    }
    return "none";
}

std::uint64_t NetcodeCounters::ignored_total() const {
    return std::accumulate(ignored.begin(), ignored.end(), std::uint64_t{0});
}

}  // namespace orrery::protocol
