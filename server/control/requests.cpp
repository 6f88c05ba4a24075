#include "server/control/requests.h"

#include <flatbuffers/idl.h>
#include <sodium.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "protocol/scene/json.h"
#include "server/control/requests_generated.h"

namespace orrery::server {

namespace {

using flatbuffers::String;

Error wrong(const char* field, std::string message) { return {ErrorCode::invalid_argument, field, std::move(message)}; }

// The parser keeps the table.
template <class Table>
Result<const Table*> parsed(flatbuffers::Parser& parser, std::string_view body, const char* root) {
    const std::string schema = std::string(requests_schema_text()) + "root_type " + root + ";";
    if (const Result<Ok> good =
            protocol::scene::parse_json_text(parser, schema.c_str(), body.empty() ? "{}" : body, "body");
        !good)
        return good.error();
    return flatbuffers::GetRoot<Table>(parser.builder_.GetBufferPointer());
}

std::string text_of(const String* text) { return text ? text->str() : std::string(); }

// Parser::ParseJson has seen that it is UTF-8.
Result<std::string> reason_of(const String* text) {
    std::string reason = text_of(text);
    if (reason.size() > kMaxReasonBytes)
        return wrong("reason", "has more than " + std::to_string(kMaxReasonBytes) + " bytes; shorten it");
    if (std::ranges::any_of(reason, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
        return wrong("reason", "has a control character; write one line of text");
    return reason;
}

Result<std::uint64_t> client_id_of(const String* text) {
    if (!text) return wrong("client_id", "is missing; give 16 hex digits");
    const std::string_view digits(text->c_str(), text->size());
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
    if (digits.size() != 16 || error != std::errc{} || end != digits.data() + digits.size())
        return wrong("client_id", "is not an id; give 16 hex digits");
    return id;
}

// At least 0; what is not a number is outside.
bool within(double value, double most) { return value >= 0.0 && value <= most; }

std::string seconds(double value) { return std::to_string(static_cast<long long>(value)) + " s"; }

}  // namespace

std::string id_text(std::uint64_t id) {
    std::array<char, 20> text;
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(id));
    return text.data();
}

Result<RoomWish> read_create_request(std::string_view body) {
    flatbuffers::Parser parser;
    const auto from = parsed<request::CreateRoom>(parser, body, "CreateRoom");
    if (!from) return from.error();
    const request::CreateRoom& in = **from;
    RoomWish wish;
    wish.name = text_of(in.name());
    wish.scene = text_of(in.scene());
    const auto set = [](const auto& value, auto& to) {
        if (value) to = *value;
    };
    set(in.tick_rate_hz(), wish.tick_rate_hz);
    set(in.max_clients(), wish.max_clients);
    set(in.allow_mirror(), wish.allow_mirror);
    set(in.record(), wish.record);
    wish.end_when_empty_s = in.end_when_empty_s();
    if (const Result<Ok> good = check(wish); !good) return good.error();
    return wish;
}

Result<DrainRequest> read_drain_request(std::string_view body) {
    flatbuffers::Parser parser;
    const auto from = parsed<request::Drain>(parser, body, "Drain");
    if (!from) return from.error();
    const auto within_s = (*from)->within_s();
    if (!within_s) return wrong("within_s", "is missing; give the seconds that clients have at most");
    if (!within(*within_s, kMaxDrain_s)) return wrong("within_s", "is not 0 to " + seconds(kMaxDrain_s));
    Result<std::string> reason = reason_of((*from)->reason());
    if (!reason) return reason.error();
    return DrainRequest{*within_s, std::move(reason).value()};
}

Result<StopRoomRequest> read_stop_request(std::string_view body) {
    flatbuffers::Parser parser;
    const auto from = parsed<request::Stop>(parser, body, "Stop");
    if (!from) return from.error();
    Result<std::string> reason = reason_of((*from)->reason());
    if (!reason) return reason.error();
    return StopRoomRequest{std::move(reason).value()};
}

Result<TokenWish> read_token_request(std::string_view body) {
    flatbuffers::Parser parser;
    const auto from = parsed<request::MintToken>(parser, body, "MintToken");
    if (!from) return from.error();
    const request::MintToken& in = **from;
    TokenWish wish;
    if (in.client_id()) {
        const Result<std::uint64_t> id = client_id_of(in.client_id());
        if (!id) return id.error();
        wish.client_id = *id;
    }
    if (static_cast<std::uint8_t>(in.role()) >= protocol::kTokenRoles)
        return wrong("role", "is not player, spectator or director");
    wish.role = static_cast<protocol::TokenRole>(in.role());
    if (const String* const data = in.user_data()) {
        wish.user_data.resize(protocol::kRoleGameBytes);
        std::size_t size = 0;
        if (sodium_base642bin(wish.user_data.data(), wish.user_data.size(), data->c_str(), data->size(), nullptr, &size,
                              nullptr, sodium_base64_VARIANT_ORIGINAL) != 0)
            return wrong("user_data", "is not base64 of at most " + std::to_string(protocol::kRoleGameBytes) +
                                          " bytes (kRoleGameBytes)");
        wish.user_data.resize(size);
    }
    if (const auto expires = in.expires_s()) wish.expires_s = *expires;
    if (const auto timeout = in.timeout_s()) wish.timeout_s = *timeout;
    if (const Result<Ok> good = check(wish); !good) return good.error();
    return wish;
}

Result<KickRequest> read_kick_request(std::string_view body) {
    flatbuffers::Parser parser;
    const auto from = parsed<request::Kick>(parser, body, "Kick");
    if (!from) return from.error();
    const Result<std::uint64_t> id = client_id_of((*from)->client_id());
    if (!id) return id.error();
    Result<std::string> reason = reason_of((*from)->reason());
    if (!reason) return reason.error();
    return KickRequest{*id, std::move(reason).value()};
}

}  // namespace orrery::server
