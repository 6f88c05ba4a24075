// The C face of replays.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client_sdk/src/look_api.h"
#include "client_sdk/src/player_seam.h"
#include "orrery/client.h"

using namespace orrery;
using namespace orrery::client;

static_assert(static_cast<int>(PlayerState::damaged) == ORRERY_VERDICT_DAMAGED);

struct orrery_player {
    std::unique_ptr<Player> player;
    PlayerVerdict verdict;           // that was given last; keeps its text
    std::vector<ShownBody> shown{};  // keeps its memory
    Seen seen{};                     // likewise
};

namespace {

void give_text(const std::string& from, char* text, std::size_t size) {
    if (!text || size == 0) return;
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), length);
    text[length] = '\0';
}

}  // namespace

orrery_status orrery_player_open(const uint8_t* bytes, size_t size, orrery_player** player, char* text,
                                 size_t text_size) {
    give_text("", text, text_size);
    if (!player) return ORRERY_INVALID_ARGUMENT;
    *player = nullptr;
    return guarded([&]() -> orrery_status {
        if (!bytes && size > 0) return ORRERY_INVALID_ARGUMENT;
        auto opened = open_player({bytes, size});
        if (!opened) {
            give_text(opened.error().to_string(), text, text_size);
            return ORRERY_UNREADABLE;
        }
        if (!*opened) return ORRERY_UNSUPPORTED;
        *player = new orrery_player{std::move(opened).value(), {}};
        return ORRERY_OK;
    });
}

void orrery_player_close(orrery_player* player) { delete player; }

orrery_status orrery_player_get_info(const orrery_player* player, orrery_player_info* info) {
    if (!player || !info) return ORRERY_INVALID_ARGUMENT;
    const Player& p = *player->player;
    const protocol::replay::FileHeader& header = p.header();
    orrery_player_info out{};
    out.tick_rate_hz = header.tick_rate_hz;
    out.first_tick = header.first_tick;
    out.last_tick = p.last_tick();
    out.tick = p.tick();
    out.engine_version = header.engine_version;
    out.program_version = sim::kEngineVersion;
    out.complete = p.complete() ? 1 : 0;
    out.keyframes = p.keyframes();
    out.bytes = p.bytes();
    out.start_unix_s = header.start_unix_s;
    out.scene_hash = header.scene_hash;
    out.shape_count = static_cast<std::uint32_t>(p.shapes().size());
    out.body_count = p.body_count();
    out.scene_name = header.scene_name.c_str();
    out.room = header.room.c_str();
    return give(out, info);
}

orrery_status orrery_player_step(orrery_player* player, uint32_t ticks) {
    return guarded([&]() -> orrery_status {
        if (!player) return ORRERY_INVALID_ARGUMENT;
        return player->player->step(ticks) ? ORRERY_OK : ORRERY_EMPTY;
    });
}

orrery_status orrery_player_seek(orrery_player* player, uint64_t tick, uint32_t ticks_at_most) {
    return guarded([&]() -> orrery_status {
        if (!player) return ORRERY_INVALID_ARGUMENT;
        return player->player->seek(tick, ticks_at_most) ? ORRERY_OK : ORRERY_EMPTY;
    });
}

orrery_status orrery_player_check(orrery_player* player, size_t bytes) {
    return guarded([&]() -> orrery_status {
        if (!player) return ORRERY_INVALID_ARGUMENT;
        return player->player->check(bytes) ? ORRERY_OK : ORRERY_EMPTY;
    });
}

orrery_status orrery_player_get_verdict(orrery_player* player, orrery_player_verdict* verdict) {
    return guarded([&]() -> orrery_status {
        if (!player || !verdict) return ORRERY_INVALID_ARGUMENT;
        player->verdict = player->player->verdict();
        const PlayerVerdict& v = player->verdict;
        orrery_player_verdict out{};
        out.state = static_cast<std::int32_t>(v.state);
        out.ticks_compared = v.ticks_compared;
        out.ticks_equal = v.ticks_equal;
        out.keyframes_compared = v.keyframes_compared;
        out.part = "";
        if (v.difference) {
            out.differs_at = v.difference->tick;
            out.part = v.difference->part.data();
            out.recorded_hash = v.difference->recorded;
            out.found_hash = v.difference->found;
        }
        out.broken_at = v.broken_at;
        out.bytes_checked = v.bytes_checked;
        out.text = v.text.c_str();
        return give(out, verdict);
    });
}

orrery_status orrery_player_sample(orrery_player* player, double part, orrery_samples* samples) {
    if (!player || !samples || samples->struct_size < sizeof(orrery_samples)) return ORRERY_INVALID_ARGUMENT;
    return guarded([&]() -> orrery_status {
        samples->count = samples->available = 0;
        const double share = part > 0.0 ? std::min(part, 1.0) : 0.0;  // of a NaN, too
        const auto tick = static_cast<double>(player->player->tick());
        samples->tick = std::max(0.0, tick - 1.0 + share);
        player->player->picture(share, player->shown);
        for (const ShownBody& body : player->shown)
            give_sample(*samples, body.id, {body.pose, body.linear_velocity, body.angular_velocity});
        return samples->count < samples->available ? ORRERY_TOO_SMALL : ORRERY_OK;
    });
}

orrery_status orrery_player_get_body(const orrery_player* player, orrery_body_id id, orrery_body* out) {
    if (!player || !out) return ORRERY_INVALID_ARGUMENT;
    PlayerBody body;
    if (!player->player->body(body_of(id), body)) return ORRERY_EMPTY;
    orrery_body mine{};
    mine.type = static_cast<std::int32_t>(body.type);
    mine.shape = body.shape;
    mine.slot = body.slot;
    mine.name = body.name;
    mine.template_index = body.prefab;
    mine.member_index = body.member;
    mine.template_name = body.template_name;
    mine.member_name = body.member_name;
    mine.material_name = body.material_name;
    mine.user_data = body.user_data;
    return give(mine, out);
}

orrery_status orrery_player_get_shape(const orrery_player* player, uint32_t shape, orrery_shape* out) {
    if (!player || !out) return ORRERY_INVALID_ARGUMENT;
    const std::vector<sim::ShapeDef>& shapes = player->player->shapes();
    return shape < shapes.size() ? give_shape(shapes[shape], out) : ORRERY_EMPTY;
}

orrery_status orrery_player_scene(const orrery_player* player, const uint8_t** bytes, size_t* size) {
    give_bytes({}, bytes, size);
    if (!player) return ORRERY_INVALID_ARGUMENT;
    give_bytes(player->player->header().scene, bytes, size);
    return ORRERY_OK;
}

orrery_status orrery_player_contacts(orrery_player* player, orrery_body_id body, orrery_contacts* contacts) {
    if (!player) return ORRERY_INVALID_ARGUMENT;
    return guarded([&] { return give_contacts(&player->player->world(), body, player->seen, contacts); });
}

orrery_status orrery_player_joints(orrery_player* player, orrery_body_id body, orrery_joints* joints) {
    if (!player) return ORRERY_INVALID_ARGUMENT;
    return guarded([&] { return give_joints(&player->player->world(), body, player->seen, joints); });
}

orrery_status orrery_player_marks(orrery_player* player, orrery_marks* marks) {
    if (!player) return ORRERY_INVALID_ARGUMENT;
    return guarded([&] { return give_marks(&player->player->world(), player->seen, marks); });
}

orrery_status orrery_player_get_body_state(const orrery_player* player, orrery_body_id id, orrery_body_state* out) {
    if (!player || !out) return ORRERY_INVALID_ARGUMENT;
    const std::optional<SeenBody> seen = look_at_body(player->player->world(), body_of(id));
    if (!seen) return ORRERY_EMPTY;
    orrery_body_state mine = state_of(*seen);
    return give(mine, out);
}

orrery_status orrery_player_set_step_clock(orrery_player* player, uint64_t (*clock)(void* user), void* user) {
    if (!player) return ORRERY_INVALID_ARGUMENT;
    player->player->set_step_clock(clock, user);
    return ORRERY_OK;
}

orrery_status orrery_player_get_step_times(const orrery_player* player, orrery_step_times* times) {
    if (!player || !times) return ORRERY_INVALID_ARGUMENT;
    return give_step_times(player->player->step_clock(), times);
}
