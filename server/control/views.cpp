#include "server/control/views.h"

#include <sodium.h>

#include "server/control/requests.h"

namespace orrery::server {

namespace {

constexpr const char* kRoleNames[protocol::kTokenRoles] = {"player", "spectator", "director"};

JsonLine member_json(const RoomMember& member) {
    JsonLine json;
    json.text("client_id", id_text(member.client_id));
    json.text("role", kRoleNames[static_cast<std::size_t>(member.role)]);
    if (member.slot) json.number("slot", *member.slot);
    return json;
}

JsonLine times_json(const TickTimes& times) {
    JsonLine json;
    json.number("p50_ms", times.p50_ms).number("p99_ms", times.p99_ms);
    json.number("late_p50_ms", times.late_p50_ms).number("late_p99_ms", times.late_p99_ms);
    json.number("budget_ms", times.budget_ms);
    return json;
}

JsonLine histogram_json(const Histogram& histogram) {
    std::vector<JsonLine> buckets;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        JsonLine& bucket = buckets.emplace_back();
        if (i < Histogram::kBounds_s.size()) bucket.number("at_most_s", Histogram::kBounds_s[i]);
        bucket.number("count", histogram.counts[i]);
    }
    JsonLine json;
    json.objects("buckets", buckets).number("sum_s", histogram.sum_s);
    return json;
}

JsonLine totals_json(const HostTotals& totals) {
    JsonLine json;
    json.number("rooms_created", totals.rooms_created)
        .number("rooms_ended", totals.rooms_ended)
        .number("rooms_failed", totals.rooms_failed)
        .number("ticks", totals.ticks)
        .number("late_ticks", totals.late_ticks)
        .number("clients_connected", totals.clients_connected)
        .number("clients_disconnected", totals.clients_disconnected)
        .number("clients_refused", totals.clients_refused)
        .number("sent_bytes", totals.sent_bytes)
        .number("received_bytes", totals.received_bytes)
        .number("sent_datagrams", totals.sent_datagrams)
        .number("received_datagrams", totals.received_datagrams)
        .number("dropped_datagrams", totals.dropped_datagrams)
        .number("ignored_datagrams", totals.ignored_datagrams)
        .number("inputs_late", totals.inputs_late)
        .number("inputs_applied", totals.inputs_applied)
        .number("commands_rejected", totals.commands_rejected)
        .number("ticks_recorded", totals.ticks_recorded)
        .number("ticks_durable", totals.ticks_durable)
        .number("ticks_lost", totals.ticks_lost)
        .number("log_lines_dropped", totals.log_lines_dropped)
        .object("tick", histogram_json(totals.tick_s))
        .object("lateness", histogram_json(totals.lateness_s));
    return json;
}

}  // namespace

JsonLine room_json(const RoomView& room, bool with_members) {
    JsonLine json;
    json.text("id", room.id).text("name", room.name).text("scene", room.scene);
    json.text("scene_hash", id_text(room.scene_hash)).text("phase", name_of(room.phase));
    json.number("tick_rate_hz", std::optional<double>(room.tick_rate_hz)).number("max_clients", room.max_clients);
    json.boolean("allow_mirror", room.allow_mirror).number("created_unix_ms", room.created_unix_ms);
    if (room.ends_unix_ms) json.number("ends_unix_ms", *room.ends_unix_ms);
    json.number("tick", room.tick).number("clients", room.clients).number("players", room.players);
    json.number("bodies", room.bodies).object("times", times_json(room.times)).number("late_ticks", room.late_ticks);
    json.number("sent_bytes", room.sent_bytes).number("received_bytes", room.received_bytes);
    if (!room.run_id.empty()) {
        JsonLine recording;
        recording.text("run_id", room.run_id).text("name", room.replay);
        recording.number("announced", room.recording.announced).number("recorded", room.recording.recorded);
        recording.number("durable", room.recording.durable).number("lost", room.recording.lost);
        recording.boolean("failing", room.recording.failing).boolean("late", room.recording.late);
        json.object("recording", recording);
    }
    if (with_members) {
        std::vector<JsonLine> members;
        for (const RoomMember& member : room.members) members.push_back(member_json(member));
        json.objects("members", members);
    }
    return json;
}

JsonLine host_json(const HostView& host) {
    JsonLine json;
    json.number("started_unix_ms", host.started_unix_ms).number("rooms", host.rooms);
    json.number("open_rooms", host.open_rooms).number("max_rooms", host.max_rooms).number("clients", host.clients);
    json.number("players", host.players).number("max_clients", host.max_clients);
    json.number("recordings_failing", host.recordings_failing).number("recordings_late", host.recordings_late);
    json.boolean("draining", host.draining);
    if (host.ends_unix_ms) json.number("ends_unix_ms", *host.ends_unix_ms);
    json.number("stalled_s", std::optional<double>(host.stalled_s)).boolean("may_create", host.may_create);
    json.object("totals", totals_json(host.totals));
    return json;
}

JsonLine recording_json(const RecordingView& recording) {
    JsonLine json;
    json.text("run_id", recording.run_id).text("name", recording.name).text("scene", recording.scene);
    json.text("room", recording.room).number("engine_version", recording.engine_version);
    json.number("bytes", recording.bytes).number("modified_unix_ms", recording.modified_unix_ms);
    json.boolean("open", recording.open);
    return json;
}

JsonLine token_json(const MintedToken& token) {
    std::string text(sodium_base64_ENCODED_LEN(token.bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(), text.size(), token.bytes.data(), token.bytes.size(), sodium_base64_VARIANT_ORIGINAL);
    text.pop_back();  // the zero byte
    JsonLine json;
    json.text("token", text).text("client_id", id_text(token.client_id)).number("expires_unix_s", token.expires_unix_s);
    return json;
}

JsonLine version_json(const std::string& version, const std::string& commit, const ControlKeys::Holder& holder,
                      const HostView& host, const std::vector<std::string>& scenes) {
    JsonLine limits;
    limits.number("max_rooms", host.max_rooms).number("max_clients", host.max_clients);
    limits.number("max_room_name_bytes", kMaxRoomNameBytes).number("max_reason_bytes", kMaxReasonBytes);
    limits.number("max_drain_s", std::optional<double>(kMaxDrain_s));
    limits.number("max_end_when_empty_s", std::optional<double>(kMaxEndWhenEmpty_s));
    limits.number("max_expires_s", kMaxMintExpires_s).number("max_timeout_s", kMaxTokenTimeout_s);
    limits.number("max_user_data_bytes", protocol::kRoleGameBytes).number("max_body_bytes", kMaxControlBodyBytes);
    JsonLine key;
    key.text("name", holder.name).text("level", name_of(holder.level));
    JsonLine json;
    json.text("version", version);
    if (!commit.empty()) json.text("commit", commit);
    json.number("engine_version", sim::kEngineVersion).boolean("may_create", host.may_create);
    json.object("key", key).object("limits", limits).texts("scenes", scenes);
    return json;
}

}  // namespace orrery::server
