#include "server/control/control_client.h"

#include <flatbuffers/flexbuffers.h>
#include <flatbuffers/idl.h>
#include <httplib.h>

#include <algorithm>
#include <cstdio>

#include "server/control/control_keys.h"
namespace orrery::server {

struct ControlClient::State {
    State(const std::string& host, int port) : client(host, port) {}
    std::string place;
    httplib::Client client;

    Error failed(const httplib::Result& result) const {
        if (!result) return Error{ErrorCode::io, place, "no answer: " + httplib::to_string(result.error())};
        return Error{ErrorCode::io, place, std::to_string(result->status) + ": " + result->body};
    }
};

ControlClient::ControlClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
ControlClient::~ControlClient() = default;

Result<std::unique_ptr<ControlClient>> ControlClient::open(const protocol::Address& server, const std::string& keys) {
    const Result<ControlKeys> known = ControlKeys::read(keys);
    if (!known) return known.error();
    const std::optional<std::string> digits = known->first_of(ControlLevel::operate);
    if (!digits) return Error{ErrorCode::invalid_argument, keys, "has no key of the level operate or admin"};
    const std::string text = server.to_string();
    std::string host = text.substr(0, text.rfind(':'));
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    auto state = std::make_unique<State>(host, server.port);
    state->place = text;
    state->client.set_bearer_token_auth(*digits);
    const auto wait = static_cast<time_t>(kControlClientWait_s);
    state->client.set_connection_timeout(wait);
    state->client.set_read_timeout(wait);
    return std::unique_ptr<ControlClient>(new ControlClient(std::move(state)));
}

Result<std::vector<std::string>> ControlClient::open_rooms() {
    const httplib::Result result = state_->client.Get("/v1/rooms");
    if (!result || result->status != 200) return state_->failed(result);
    flatbuffers::Parser parser;
    flexbuffers::Builder builder;
    if (!parser.ParseFlexBuffer(result->body.c_str(), nullptr, &builder))
        return Error{ErrorCode::io, state_->place, "the answer is not JSON: " + parser.error_};
    const std::vector<std::uint8_t>& bytes = builder.GetBuffer();
    const auto list = flexbuffers::GetRoot(bytes.data(), bytes.size()).AsMap()["rooms"].AsVector();
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto room = list[i].AsMap();
        if (room["phase"].AsString().str() == "open") ids.push_back(room["id"].AsString().str());
    }
    return ids;
}

Result<protocol::PublicTokenBytes> ControlClient::mint(const std::string& room, std::uint64_t client_id) {
    char body[64];
    std::snprintf(body, sizeof body, "{\"client_id\": \"%016llx\"}", static_cast<unsigned long long>(client_id));
    const httplib::Headers headers = {{"Accept", "application/octet-stream"}};
    const httplib::Result result =
        state_->client.Post("/v1/rooms/" + room + "/tokens", headers, body, "application/json");
    if (!result || result->status / 100 != 2 || result->body.size() != protocol::kConnectTokenBytes)
        return state_->failed(result);
    protocol::PublicTokenBytes token;
    std::copy(result->body.begin(), result->body.end(), token.begin());
    return token;
}

}  // namespace orrery::server
