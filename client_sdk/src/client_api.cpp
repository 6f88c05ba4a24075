// The C face of a client: checks arguments, sizes structs, and hands on. What there is to see is in look_api.cpp.
#include <cstddef>
#include <cstring>
#include <new>

#include "client_sdk/src/client_handle.h"
#include "client_sdk/src/datagram_link.h"
#include "client_sdk/src/interpolation.h"
#include "client_sdk/src/look_api.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/session/handshake.h"

using namespace orrery;
using namespace orrery::client;
using protocol::ClientSession;
using protocol::TimeNs;

static_assert(ORRERY_TOKEN_BYTES == protocol::kConnectTokenBytes);
static_assert(ORRERY_CONTROL_CHANNELS == sim::kControlChannels);
static_assert(ORRERY_NO_SLOT == protocol::kNoSlot && ORRERY_NO_SHAPE == sim::kNone);

// orrery_client_config_init() writes this struct as a whole into programs of any age, and orrery_client_sample() takes
// no smaller one: these do not grow.
static_assert(sizeof(orrery_client_config) ==
              offsetof(orrery_client_config, max_delay_ticks_x10) + sizeof(orrery_client_config::max_delay_ticks_x10));
constexpr size_t kSamplesEnd =
    offsetof(orrery_samples, angular_velocities) + sizeof(orrery_samples::angular_velocities);
static_assert(sizeof(orrery_samples) >= kSamplesEnd &&
              sizeof(orrery_samples) - kSamplesEnd < alignof(orrery_samples));  // pointers of 32 bits leave a gap

static_assert(static_cast<int>(EndReason::mirror) == ORRERY_END_MIRROR);
static_assert(static_cast<int>(Certainty::cancelled) == ORRERY_CERTAINTY_CANCELLED);
static_assert(static_cast<int>(ConnectionEvent::Kind::slipped) == ORRERY_EVENT_SLIPPED &&
              static_cast<int>(ConnectionEvent::Kind::diverged) == ORRERY_EVENT_DIVERGED);
static_assert(static_cast<int>(protocol::WorldEventKind::despawned) == ORRERY_WORLD_DESPAWNED);
static_assert(static_cast<int>(protocol::TokenRole::director) == ORRERY_ROLE_DIRECTOR);
static_assert(ORRERY_MAX_MESSAGE_BYTES == protocol::kMaxGameMessageBytes &&
              ORRERY_MAX_UNRELIABLE_BYTES == protocol::kMaxUnreliableGameBytes &&
              ORRERY_MESSAGES_PER_SECOND == protocol::kGameMessagesPerSecond &&
              ORRERY_MESSAGE_BYTES_PER_SECOND == protocol::kGameBytesPerSecond);
static_assert(ORRERY_NO_TEMPLATE == sim::kNone);

namespace {

orrery_status status_of(protocol::SendStatus status) {
    switch (status) {
        case protocol::SendStatus::ok:
            return ORRERY_OK;
        case protocol::SendStatus::too_large:
            return ORRERY_TOO_LARGE;
        case protocol::SendStatus::queue_full:
            return ORRERY_QUEUE_FULL;
        case protocol::SendStatus::rate_limited:
            return ORRERY_RATE_LIMITED;
        case protocol::SendStatus::failed:
            break;
    }
    return ORRERY_WRONG_STATE;
}

PlayoutLimits limits_of(const orrery_client_config& config) {
    PlayoutLimits limits;
    if (config.min_delay_ticks_x10 != 0) limits.min_delay_ticks = config.min_delay_ticks_x10 * 0.1;
    if (config.max_delay_ticks_x10 != 0) limits.max_delay_ticks = config.max_delay_ticks_x10 * 0.1;
    if (limits.max_delay_ticks < limits.min_delay_ticks) limits.max_delay_ticks = limits.min_delay_ticks;
    return limits;
}

protocol::ClientHello hello_of(const orrery_client_config& config) {
    protocol::ClientHello hello = protocol::default_client_hello();
    hello.engine_version = config.engine_version;
    hello.scene_hash = config.scene_hash;
    return hello;
}

}  // namespace

const char* orrery_status_name(orrery_status status) {
    switch (status) {
        case ORRERY_OK:
            return "ok";
        case ORRERY_EMPTY:
            return "empty";
        case ORRERY_INVALID_ARGUMENT:
            return "invalid argument";
        case ORRERY_INVALID_TOKEN:
            return "invalid token";
        case ORRERY_WRONG_STATE:
            return "wrong state";
        case ORRERY_OUT_OF_MEMORY:
            return "out of memory";
        case ORRERY_SOCKET_FAILED:
            return "no socket could be opened";
        case ORRERY_TOO_SMALL:
            return "the arrays are too small";
        case ORRERY_TOO_LARGE:
            return "the message is too large";
        case ORRERY_RATE_LIMITED:
            return "too many messages in a second";
        case ORRERY_UNSUPPORTED:
            return "unsupported";
        case ORRERY_UNREADABLE:
            return "the recording cannot be played";
        case ORRERY_QUEUE_FULL:
            return "too many messages are on their way";
        default:
            return "unknown status";
    }
}

void orrery_client_config_init(orrery_client_config* config) {
    if (!config) return;
    std::memset(config, 0, sizeof *config);
    config->struct_size = sizeof *config;
}

namespace {

void release(const orrery_allocator& allocator, void* memory) {
    if (allocator.release)
        allocator.release(allocator.user, memory, sizeof(orrery_client), alignof(orrery_client));
    else
        ::operator delete(memory);
}

orrery_status create(const orrery_client_config* config, bool over_stream, orrery_client** client) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    *client = nullptr;
    orrery_client_config c;
    orrery_client_config_init(&c);
    if (config) {
        if (config->struct_size < sizeof config->struct_size) return ORRERY_INVALID_ARGUMENT;
        std::memcpy(&c, config, config->struct_size < sizeof c ? config->struct_size : sizeof c);
    }
    if (!c.allocator.allocate != !c.allocator.release || !c.transport.send != !c.transport.receive)
        return ORRERY_INVALID_ARGUMENT;
    void* memory = c.allocator.allocate
                       ? c.allocator.allocate(c.allocator.user, sizeof(orrery_client), alignof(orrery_client))
                       : ::operator new(sizeof(orrery_client), std::nothrow);
    if (!memory) return ORRERY_OUT_OF_MEMORY;
    const orrery_status made = guarded([&]() -> orrery_status {
        std::unique_ptr<Link> link;
        StreamLink* stream = nullptr;
        if (over_stream) {
            auto own = std::make_unique<StreamLink>();
            stream = own.get();
            link = std::move(own);
        } else {
            link = make_datagram_link(c.transport);
        }
        if (!link) return ORRERY_SOCKET_FAILED;
        *client = new (memory) orrery_client(c, std::move(link), stream, hello_of(c), limits_of(c));
        return ORRERY_OK;
    });
    if (made != ORRERY_OK) release(c.allocator, memory);
    return made;
}

}  // namespace

orrery_status orrery_client_create(const orrery_client_config* config, orrery_client** client) {
    return create(config, false, client);
}

orrery_status orrery_client_create_stream(const orrery_client_config* config, orrery_client** client) {
    return create(config, true, client);
}

uint32_t orrery_client_stream_wanted(const orrery_client* client) {
    return client && client->stream ? client->stream->wanted() : 0;
}

orrery_status orrery_client_stream_opened(orrery_client* client, uint64_t now_ns) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    if (!client->stream) return ORRERY_WRONG_STATE;
    client->stream->opened(now_ns);
    return ORRERY_OK;
}

orrery_status orrery_client_stream_received(orrery_client* client, const uint8_t* bytes, size_t size, uint64_t now_ns) {
    return guarded([&]() -> orrery_status {
        if (!client || (!bytes && size > 0)) return ORRERY_INVALID_ARGUMENT;
        if (!client->stream) return ORRERY_WRONG_STATE;
        client->stream->received({bytes, size}, now_ns);
        return ORRERY_OK;
    });
}

orrery_status orrery_client_stream_closed(orrery_client* client, uint32_t code, const char* text, uint64_t now_ns) {
    return guarded([&]() -> orrery_status {
        if (!client) return ORRERY_INVALID_ARGUMENT;
        if (!client->stream) return ORRERY_WRONG_STATE;
        client->stream->closed(code, text ? text : "", now_ns);
        return ORRERY_OK;
    });
}

orrery_status orrery_client_stream_next(orrery_client* client, const uint8_t** bytes, size_t* size) {
    give_bytes({}, bytes, size);
    if (!client) return ORRERY_INVALID_ARGUMENT;
    if (!client->stream) return ORRERY_WRONG_STATE;
    protocol::Bytes message;
    if (!client->stream->next_message(message)) return ORRERY_EMPTY;
    give_bytes(message, bytes, size);
    return ORRERY_OK;
}

void orrery_client_destroy(orrery_client* client) {
    if (!client) return;
    const orrery_allocator allocator = client->config.allocator;
    client->~orrery_client();
    release(allocator, client);
}

orrery_status orrery_client_connect(orrery_client* client, const uint8_t* token, size_t size, uint64_t now_ns) {
    return guarded([&]() -> orrery_status {
        if (!client || !token) return ORRERY_INVALID_ARGUMENT;
        if (client->connection.state() != Connection::State::disconnected) return ORRERY_WRONG_STATE;
        const Result<> started = client->connection.connect({token, size}, now_ns);
        if (started) return ORRERY_OK;
        client->log(ORRERY_LOG_ERROR, started.error().to_string());
        return ORRERY_INVALID_TOKEN;
    });
}

orrery_status orrery_client_connect_insecure(orrery_client* client, const char* server, uint64_t now_ns) {
    return guarded([&]() -> orrery_status {
        if (!client || !server) return ORRERY_INVALID_ARGUMENT;
        if (client->connection.state() != Connection::State::disconnected) return ORRERY_WRONG_STATE;
        const Result<> started = client->connection.connect_insecure(server, now_ns);
        if (started) return ORRERY_OK;
        client->log(ORRERY_LOG_ERROR, started.error().to_string());
        return ORRERY_INVALID_ARGUMENT;
    });
}

orrery_status orrery_client_disconnect(orrery_client* client, uint64_t now_ns) {
    return guarded([&]() -> orrery_status {
        if (!client) return ORRERY_INVALID_ARGUMENT;
        if (client->connection.state() == Connection::State::disconnected) return ORRERY_WRONG_STATE;
        client->connection.disconnect(now_ns);
        return ORRERY_OK;
    });
}

orrery_status orrery_client_set_reconnect(orrery_client* client, uint32_t seconds) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    client->connection.set_reconnect(seconds * protocol::kNsPerSecond);
    return ORRERY_OK;
}

orrery_status orrery_client_renew(orrery_client* client, const uint8_t* token, size_t size, uint64_t now_ns) {
    return guarded([&]() -> orrery_status {
        if (!client || !token) return ORRERY_INVALID_ARGUMENT;
        if (!client->connection.needs_token()) return ORRERY_WRONG_STATE;
        const Result<> started = client->connection.renew({token, size}, now_ns);
        if (started) return ORRERY_OK;
        client->log(ORRERY_LOG_ERROR, started.error().to_string());
        return ORRERY_INVALID_TOKEN;
    });
}

orrery_status orrery_client_poll(orrery_client* client, uint64_t now_ns) {
    return guarded([&]() -> orrery_status {
        if (!client) return ORRERY_INVALID_ARGUMENT;
        client->connection.poll(now_ns);
        const std::string warning = client->connection.take_warning();
        if (!warning.empty()) client->log(ORRERY_LOG_WARNING, warning);
        return client->link->failed() ? ORRERY_SOCKET_FAILED : ORRERY_OK;
    });
}

orrery_status orrery_client_set_control(orrery_client* client, const float* channels, size_t count) {
    if (!client || (!channels && count > 0) || count > ORRERY_CONTROL_CHANNELS) return ORRERY_INVALID_ARGUMENT;
    std::array<float, sim::kControlChannels> control{};
    for (size_t i = 0; i < count; ++i) control[i] = channels[i];
    client->connection.set_control(protocol::to_wire(control));
    return ORRERY_OK;
}

orrery_status orrery_client_send(orrery_client* client, uint16_t type, const uint8_t* bytes, size_t size,
                                 int32_t reliable) {
    return guarded([&]() -> orrery_status {
        if (!client || (!bytes && size > 0)) return ORRERY_INVALID_ARGUMENT;
        return status_of(client->connection.send_message(type, {bytes, size}, reliable != 0));
    });
}

orrery_client_state orrery_client_get_state(const orrery_client* client) {
    if (!client) return ORRERY_STATE_DISCONNECTED;
    switch (client->connection.state()) {
        case Connection::State::connecting:
            return ORRERY_STATE_CONNECTING;
        case Connection::State::joining:
            return ORRERY_STATE_JOINING;
        case Connection::State::playing:
            return ORRERY_STATE_PLAYING;
        case Connection::State::disconnected:
            break;
    }
    return ORRERY_STATE_DISCONNECTED;
}

namespace {

void describe_event(const orrery_client& client, orrery_event& out) {
    const protocol::EventDetail& detail = *client.event_detail;
    switch (out.kind) {
        case ORRERY_EVENT_MESSAGE:
            give_bytes(detail.bytes, &out.bytes, &out.size);
            out.message_type = detail.type;
            out.reliable = detail.reliable ? 1 : 0;
            break;
        case ORRERY_EVENT_BOARD:
            out.text = detail.board.key.c_str();
            give_bytes(detail.board.value, &out.bytes, &out.size);
            out.removed = detail.removed ? 1 : 0;
            break;
        default:
            out.world_kind = static_cast<std::int32_t>(detail.world.kind);
            out.other = id_of(detail.world.b);
            out.joint = id_of(detail.world.joint);
            write3(out.point, 0, detail.world.point);
            write3(out.normal, 0, detail.world.normal);
            out.impulse = detail.world.impulse;
    }
}

}  // namespace

orrery_status orrery_client_next_event(orrery_client* client, orrery_event* event) {
    return guarded([&]() -> orrery_status {
        if (!client || !takes(event)) return ORRERY_INVALID_ARGUMENT;  // before the event is taken from the queue
        ConnectionEvent next;
        if (!client->connection.next_event(next)) return ORRERY_EMPTY;
        client->event_text = std::move(next.text);
        orrery_event out{};
        out.kind = static_cast<std::int32_t>(next.kind);
        out.tick = next.tick;
        out.body = id_of(next.body);
        out.other = ORRERY_NO_BODY;
        out.joint = ORRERY_NO_JOINT;
        client->event_detail = std::move(next.detail);
        if (client->event_detail) describe_event(*client, out);
        const ClientSession* session = client->connection.session();
        if (out.kind == ORRERY_EVENT_SCENE && session) give_bytes(session->scene(), &out.bytes, &out.size);
        out.late_ns = next.late_ns;
        out.certainty = static_cast<std::int32_t>(next.certainty);
        if (!out.text) out.text = client->event_text.c_str();
        out.end_reason = static_cast<std::int32_t>(next.end_reason);
        if (out.kind == ORRERY_EVENT_DISCONNECTED) client->log(ORRERY_LOG_INFO, "disconnected: " + client->event_text);
        if (out.kind == ORRERY_EVENT_TOKEN_NEEDED)
            client->log(ORRERY_LOG_INFO, "a new token is needed: " + client->event_text);
        return give(out, event);
    });
}

orrery_status orrery_client_get_session(const orrery_client* client, orrery_session* session) {
    if (!client || !session) return ORRERY_INVALID_ARGUMENT;
    const ClientSession* s = client->playing();
    if (!s) return ORRERY_WRONG_STATE;
    orrery_session out{};
    out.tick_rate_hz = s->hello().tick_rate_hz;
    out.scene_hash = s->hello().scene_hash;
    out.client_index = client->link->client_index();
    out.slot = s->hello().slot;
    out.engine_version = s->hello().engine_version;
    out.shape_count = static_cast<std::uint32_t>(s->shapes().size());
    for (const protocol::MirrorBody& body : s->bodies()) out.body_count += body.alive ? 1 : 0;
    out.scene_name = s->hello().scene_name.c_str();
    out.role = static_cast<std::uint32_t>(s->hello().role);
    out.scene_bytes = s->hello().scene_bytes;
    out.scene_bytes_hash = s->hello().scene_bytes_hash;
    return give(out, session);
}

orrery_status orrery_client_request_scene(orrery_client* client) {
    return guarded([&]() -> orrery_status {
        if (!client) return ORRERY_INVALID_ARGUMENT;
        const ClientSession* session = client->playing();
        if (session && session->hello().scene_bytes == 0) return ORRERY_EMPTY;
        return client->connection.request_scene() ? ORRERY_OK : ORRERY_WRONG_STATE;
    });
}

orrery_status orrery_client_scene(const orrery_client* client, const uint8_t** bytes, size_t* size) {
    if (!client) return ORRERY_INVALID_ARGUMENT;
    const ClientSession* session = client->playing();
    const protocol::Bytes scene = session ? session->scene() : protocol::Bytes();
    give_bytes(scene, bytes, size);
    return scene.empty() ? ORRERY_EMPTY : ORRERY_OK;
}

orrery_status orrery_client_board_get(const orrery_client* client, const char* key, const uint8_t** bytes,
                                      size_t* size) {
    give_bytes({}, bytes, size);
    if (!client || !key) return ORRERY_INVALID_ARGUMENT;
    const ClientSession* session = client->playing();
    if (!session) return ORRERY_EMPTY;
    const auto at = session->board().find(std::string_view(key));
    if (at == session->board().end()) return ORRERY_EMPTY;
    give_bytes(at->second, bytes, size);
    return ORRERY_OK;
}

uint32_t orrery_client_board_count(const orrery_client* client) {
    const ClientSession* session = client ? client->playing() : nullptr;
    return session ? static_cast<std::uint32_t>(session->board().size()) : 0;
}

orrery_status orrery_client_board_at(const orrery_client* client, uint32_t index, const char** key,
                                     const uint8_t** bytes, size_t* size) {
    if (key) *key = nullptr;
    give_bytes({}, bytes, size);
    if (!client) return ORRERY_INVALID_ARGUMENT;
    if (index >= orrery_client_board_count(client)) return ORRERY_EMPTY;
    const auto at = std::next(client->playing()->board().begin(), index);
    if (key) *key = at->first.c_str();
    give_bytes(at->second, bytes, size);
    return ORRERY_OK;
}

orrery_status orrery_client_get_shape(const orrery_client* client, uint32_t shape, orrery_shape* out) {
    if (!client || !out) return ORRERY_INVALID_ARGUMENT;
    const ClientSession* session = client->playing();
    if (!session) return ORRERY_WRONG_STATE;
    if (shape >= session->shapes().size()) return ORRERY_EMPTY;
    return give_shape(session->shapes()[shape], out);
}

orrery_status orrery_client_get_body(const orrery_client* client, orrery_body_id id, orrery_body* out) {
    if (!client || !out) return ORRERY_INVALID_ARGUMENT;
    const protocol::MirrorBody* body = client->find(id);
    if (!body) return ORRERY_EMPTY;
    orrery_body mine{};
    mine.type = static_cast<std::int32_t>(body->description.type);
    mine.shape = body->description.shape;
    mine.slot = body->description.slot;
    const std::string_view name = client->playing()->body_name(body->description.id);
    mine.name = name.empty() ? "" : name.data();  // views a string, which ends in a zero
    const protocol::Vocabulary& words = client->playing()->vocabulary();
    const protocol::BodyDescription& d = body->description;
    mine.template_index = d.prefab;
    mine.member_index = d.member;
    mine.template_name = mine.member_name = mine.material_name = "";
    if (d.prefab < words.templates.size()) {
        const protocol::TemplateNames& made_from = words.templates[d.prefab];
        mine.template_name = made_from.name.c_str();
        if (d.member < made_from.members.size()) mine.member_name = made_from.members[d.member].c_str();
    }
    if (d.material < words.materials.size()) mine.material_name = words.materials[d.material].c_str();
    mine.user_data = d.user_data;
    return give(mine, out);
}

orrery_body_id orrery_client_own_body(const orrery_client* client) {
    const ClientSession* session = client ? client->playing() : nullptr;
    if (!session || session->hello().slot == protocol::kNoSlot) return ORRERY_NO_BODY;
    for (const protocol::MirrorBody& body : session->bodies()) {
        if (body.alive && body.description.slot == session->hello().slot) return id_of(body.description.id);
    }
    return ORRERY_NO_BODY;
}

namespace {

orrery_status sample_mirror(orrery_client& client, Mirror& mirror, uint64_t now_ns, orrery_samples& samples) {
    samples.tick = mirror.picture(now_ns, samples.tick, client.shown);
    for (const ShownBody& body : client.shown)
        give_sample(samples, body.id, {body.pose, body.linear_velocity, body.angular_velocity});
    return samples.count < samples.available ? ORRERY_TOO_SMALL : ORRERY_OK;
}

}  // namespace

orrery_status orrery_client_sample(orrery_client* client, uint64_t now_ns, orrery_samples* samples) {
    if (!client || !samples || samples->struct_size < sizeof(orrery_samples)) return ORRERY_INVALID_ARGUMENT;
    samples->count = samples->available = 0;
    samples->tick = 0.0;
    const ClientSession* session = client->playing();
    if (!session || session->state() == ClientSession::State::key_frame) return ORRERY_WRONG_STATE;
    samples->tick = client->connection.shown_tick(now_ns);
    if (Mirror* mirror = client->connection.mirror()) {
        if (!mirror->running()) return ORRERY_WRONG_STATE;
        return guarded([&] { return sample_mirror(*client, *mirror, now_ns, *samples); });
    }
    for (const protocol::MirrorBody& body : session->bodies()) {
        if (!body.alive) continue;
        const sim::BodyId id = body.description.id;
        const std::optional<protocol::Motion> motion =
            motion_at(samples->tick, id.generation, session->history(id.index), session->complete_ticks(),
                      session->newest_tick(), session->hello().tick_rate_hz);
        if (motion) give_sample(*samples, id, *motion);  // else its first state is still on its way
    }
    return samples->count < samples->available ? ORRERY_TOO_SMALL : ORRERY_OK;
}

orrery_status orrery_client_get_stats(const orrery_client* client, orrery_client_stats* stats) {
    if (!client || !stats) return ORRERY_INVALID_ARGUMENT;
    orrery_client_stats out{};
    const LinkCounters counters = client->link->counters();
    out.bytes_sent = counters.bytes_sent;
    out.bytes_received = counters.bytes_received;
    out.datagrams_sent = counters.packets_sent;
    out.datagrams_received = counters.packets_received;
    if (const ClientSession* session = client->connection.session()) {
        const protocol::SessionStats& s = session->stats();
        out.late_inputs = s.late_inputs;
        out.rtt_s = session->channel_stats().rtt_s;
        out.rtt_variation_s = session->channel_stats().rtt_variation_s;
        const std::uint64_t sent = s.snapshots_received + s.snapshots_lost;
        out.snapshot_loss = sent == 0 ? 0.0 : static_cast<double>(s.snapshots_lost) / static_cast<double>(sent);
        out.delay_ticks = client->connection.delay_ticks();
        out.input_slack_ticks = s.input_slack_ticks;
        out.snapshots_received = s.snapshots_received;
        out.snapshots_lost = s.snapshots_lost;
        out.snapshots_undecodable = s.snapshots_undecodable;
        out.newest_tick = s.newest_tick;
        out.world_events_dropped = s.world_events_dropped;
    }
    return give(out, stats);
}

orrery_status orrery_client_set_mode(orrery_client* client, int32_t mode) {
    return guarded([&]() -> orrery_status {
        if (!client || (mode != ORRERY_MODE_SNAPSHOTS && mode != ORRERY_MODE_MIRROR)) return ORRERY_INVALID_ARGUMENT;
        if (client->connection.state() != Connection::State::disconnected) return ORRERY_WRONG_STATE;
        return client->connection.set_mirror(mode == ORRERY_MODE_MIRROR) ? ORRERY_OK : ORRERY_UNSUPPORTED;
    });
}

orrery_status orrery_client_give_scene(orrery_client* client, const uint8_t* bytes, size_t size) {
    return guarded([&]() -> orrery_status {
        if (!client || !bytes || size == 0) return ORRERY_INVALID_ARGUMENT;
        if (client->connection.mirror()) {
            client->connection.mirror()->give_scene({bytes, size});
            return ORRERY_OK;
        }
        auto baseline = orrery::client::make_baseline({bytes, size});
        if (!baseline) return ORRERY_INVALID_ARGUMENT;
        if (!*baseline) return ORRERY_UNSUPPORTED;
        client->connection.set_scene(std::move(baseline).value());
        return ORRERY_OK;
    });
}

orrery_status orrery_client_set_prediction(orrery_client* client, const orrery_prediction* prediction) {
    if (!client || !takes(prediction)) return ORRERY_INVALID_ARGUMENT;
    orrery_prediction asked{};
    std::memcpy(&asked, prediction, prediction->struct_size < sizeof asked ? prediction->struct_size : sizeof asked);
    // Not >=: a NaN is out of the range, too.
    if (asked.input_delay_ticks > kMaxInputDelayTicks || !(asked.max_rollback_ms >= 0.0f))
        return ORRERY_INVALID_ARGUMENT;
    if (!client->connection.mirror()) return ORRERY_WRONG_STATE;
    PredictionSettings settings;
    settings.on = asked.on != 0;
    settings.input_delay_ticks = asked.input_delay_ticks;
    if (asked.max_rollback_ms > 0.0f) settings.max_rollback_ms = static_cast<double>(asked.max_rollback_ms);
    settings.clock = asked.clock;
    settings.user = asked.user;
    client->connection.mirror()->set_prediction(settings);
    return ORRERY_OK;
}

orrery_status orrery_client_set_mirror_events(orrery_client* client, uint32_t kinds, float least_hit_impulse) {
    constexpr uint32_t kAll = ORRERY_MIRROR_HITS | ORRERY_MIRROR_SENSORS | ORRERY_MIRROR_JOINTS | ORRERY_MIRROR_SPAWNS;
    if (!client || (kinds & ~kAll) != 0 || !(least_hit_impulse >= 0.0f)) return ORRERY_INVALID_ARGUMENT;
    protocol::EventRule rule;
    if (kinds & ORRERY_MIRROR_HITS) rule.least_hit_impulse = least_hit_impulse;
    rule.sensors = (kinds & ORRERY_MIRROR_SENSORS) != 0;
    rule.joints = (kinds & ORRERY_MIRROR_JOINTS) != 0;
    rule.spawns = (kinds & ORRERY_MIRROR_SPAWNS) != 0;
    const bool set = client->connection.set_mirror_events(kinds == 0 ? std::nullopt : std::optional(rule));
    return set ? ORRERY_OK : ORRERY_WRONG_STATE;
}

orrery_status orrery_client_get_mirror_stats(const orrery_client* client, orrery_mirror_stats* stats) {
    if (!client || !stats) return ORRERY_INVALID_ARGUMENT;
    if (!client->connection.mirror()) return ORRERY_WRONG_STATE;
    const MirrorStats& s = client->connection.mirror()->stats();
    orrery_mirror_stats out{};
    out.last_depth = s.last_depth;
    out.max_depth = s.max_depth;
    out.cuts = static_cast<std::uint32_t>(s.cuts);
    out.confirmed_tick = s.confirmed_tick;
    out.predicted_tick = s.predicted_tick;
    out.waiting_ticks = s.waiting_ticks;
    out.hashes_compared = s.hashes_compared;
    out.divergences = s.divergences;
    out.states = s.states;
    out.ticks_as_predicted = s.ticks_as_predicted;
    out.rollbacks = s.rollbacks;
    out.ticks_again = s.ticks_again;
    out.others_controls = s.others_controls;
    out.own_controls = s.own_controls;
    out.other_commands = s.other_commands;
    out.last_rollback_ms = s.last_rollback_ms;
    out.max_rollback_ms = s.max_rollback_ms;
    out.sum_rollback_ms = s.sum_rollback_ms;
    out.last_correction_mm = s.last_correction_mm;
    out.max_correction_mm = s.max_correction_mm;
    out.sum_correction_mm = s.sum_correction_mm;
    out.events_dropped = s.events_dropped;
    return give(out, stats);
}
