#include "server/control/operations.h"

#include <spdlog/spdlog.h>

#include <optional>

#include "server/control/download.h"
#include "server/control/requests.h"
#include "server/control/views.h"

namespace orrery::server {

namespace {

using Answered = std::optional<Problem>;
constexpr Answered kAnswered = std::nullopt;
constexpr const char* kJson = "application/json";

Answered answer_json(const Call& call, const JsonLine& json, int status = 200) {
    call.answer.status = status;
    call.answer.set_content(json.str() + "\n", kJson);
    return kAnswered;
}

// What was asked for is done by the room's next tick.
Answered accepted(const Call& call) {
    call.answer.status = 202;
    return kAnswered;
}

std::string because(const std::string& reason) { return reason.empty() ? "" : " (" + reason + ")"; }

Answered no_such(std::string_view what) {
    Problem problem = problem_of_status(404);
    problem.detail.assign("There is no such ").append(what).append(".");
    return problem;
}

Answered get_version(const Call& call) {
    return answer_json(call,
                       version_json(call.version, call.commit, call.holder, call.rooms.host(), call.rooms.scenes()));
}

Answered get_host(const Call& call) { return answer_json(call, host_json(call.rooms.host())); }

Answered drain_all(const Call& call) {
    const Result<DrainRequest> wish = read_drain_request(call.request.body);
    if (!wish) return problem_of(wish.error());
    spdlog::warn("control: {} drains the server within {} s{}", call.holder.name, wish->within_s,
                 because(wish->reason));
    call.rooms.drain_all(wish->within_s, wish->reason);
    return accepted(call);
}

Answered list_rooms(const Call& call) {
    std::vector<JsonLine> rooms;
    for (const RoomView& room : call.rooms.list()) rooms.push_back(room_json(room, false));
    JsonLine json;
    return answer_json(call, json.objects("rooms", rooms));
}

Answered create_room(const Call& call) {
    const Result<RoomWish> wish = read_create_request(call.request.body);
    if (!wish) return problem_of(wish.error());
    const Result<RoomView> room = call.rooms.create(*wish);
    if (!room) return problem_of(room.error(), "scene");
    spdlog::info("control: {} created room {} of scene {}", call.holder.name, room->id, room->scene);
    call.answer.set_header("Location", "/v1/rooms/" + room->id);
    return answer_json(call, room_json(*room, true), 201);
}

Answered get_room(const Call& call) {
    const std::optional<RoomView> room = call.rooms.find(call.id);
    return room ? answer_json(call, room_json(*room, true)) : no_such("room");
}

Answered drain_room(const Call& call) {
    const Result<DrainRequest> wish = read_drain_request(call.request.body);
    if (!wish) return problem_of(wish.error());
    const Result<Ok> done = call.rooms.drain(call.id, wish->within_s, wish->reason);
    if (!done) return problem_of(done.error());
    spdlog::info("control: {} drains room {} within {} s{}", call.holder.name, call.id, wish->within_s,
                 because(wish->reason));
    return accepted(call);
}

Answered stop_room(const Call& call) {
    const Result<StopRoomRequest> wish = read_stop_request(call.request.body);
    if (!wish) return problem_of(wish.error());
    const Result<Ok> done = call.rooms.stop(call.id, wish->reason);
    if (!done) return problem_of(done.error());
    spdlog::info("control: {} stops room {}{}", call.holder.name, call.id, because(wish->reason));
    return accepted(call);
}

Answered mint_token(const Call& call) {
    const Result<TokenWish> wish = read_token_request(call.request.body);
    if (!wish) return problem_of(wish.error());
    const Result<MintedToken> token = call.rooms.mint(call.id, *wish);
    if (!token) return problem_of(token.error());
    spdlog::info("control: {} made a token of room {} for client id {}", call.holder.name, call.id,
                 id_text(token->client_id));
    if (call.request.get_header_value("Accept").find("application/octet-stream") == std::string::npos)
        return answer_json(call, token_json(*token));
    call.answer.set_header("Orrery-Client-Id", id_text(token->client_id));
    call.answer.set_header("Orrery-Expires-Unix-S", std::to_string(token->expires_unix_s));
    call.answer.set_content(reinterpret_cast<const char*>(token->bytes.data()), token->bytes.size(),
                            "application/octet-stream");
    return kAnswered;
}

Answered kick_client(const Call& call) {
    const Result<KickRequest> wish = read_kick_request(call.request.body);
    if (!wish) return problem_of(wish.error());
    const Result<Ok> done = call.rooms.kick(call.id, wish->client_id, wish->reason);
    if (!done) return problem_of(done.error());
    spdlog::info("control: {} kicks client id {} from room {}{}", call.holder.name, id_text(wish->client_id), call.id,
                 because(wish->reason));
    return accepted(call);
}

Answered list_recordings(const Call& call) {
    std::vector<JsonLine> recordings;
    for (const RecordingView& one : call.rooms.recordings()) recordings.push_back(recording_json(one));
    JsonLine json;
    return answer_json(call, json.objects("recordings", recordings));
}

Answered get_recording(const Call& call) {
    const std::optional<std::string> path = call.rooms.recording_path(call.id);
    if (!path) return no_such("recording");
    return answer_file(*path, call.request, call.downloads, call.answer);
}

constexpr Route kRoutes[] = {
    {"GET", "/v1/version", ControlLevel::read, get_version},
    {"GET", "/v1/host", ControlLevel::read, get_host},
    {"POST", "/v1/drain", ControlLevel::admin, drain_all},
    {"GET", "/v1/rooms", ControlLevel::read, list_rooms},
    {"POST", "/v1/rooms", ControlLevel::operate, create_room},
    {"GET", "/v1/rooms/{id}", ControlLevel::read, get_room},
    {"POST", "/v1/rooms/{id}/drain", ControlLevel::operate, drain_room},
    {"POST", "/v1/rooms/{id}/stop", ControlLevel::operate, stop_room},
    {"POST", "/v1/rooms/{id}/tokens", ControlLevel::operate, mint_token},
    {"POST", "/v1/rooms/{id}/kick", ControlLevel::operate, kick_client},
    {"GET", "/v1/recordings", ControlLevel::read, list_recordings},
    {"GET", "/v1/recordings/{id}", ControlLevel::operate, get_recording},
};

}  // namespace

std::span<const Route> routes() { return kRoutes; }

}  // namespace orrery::server
