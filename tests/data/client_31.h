/* Orrery's client SDK: connect to a room, steer, and see its bodies move.
 *
 * Nothing happens behind the caller's back: no thread, no clock, no global state. The caller passes the time in
 * (nanoseconds of any monotonic clock, the same one in every call) and calls orrery_client_poll() often, best
 * once a frame.
 *
 *   orrery_client_config config;
 *   orrery_client_config_init(&config);
 *   orrery_client *client;
 *   orrery_client_create(&config, &client);
 *   orrery_client_connect(client, token, sizeof token, now);
 *   each frame:
 *     orrery_client_set_control(client, channels, 8);
 *     orrery_client_poll(client, now);
 *     while (orrery_client_next_event(client, &event) == ORRERY_OK) ...
 *     orrery_client_sample(client, now, &samples);
 *   orrery_client_disconnect(client, now); orrery_client_destroy(client);
 *
 * Threads: a client may be used by one thread at a time; different clients are independent.
 * Ownership: what the caller passes in stays the caller's and is not kept beyond the call, but for the hooks' `user`
 * pointers, which must live as long as the client. Strings that come out live until the next call with that client.
 * Structs begin with struct_size, which the caller sets to sizeof: a program that was built against an older header
 * goes on working with a newer library. Every function takes null pointers without harm.
 *
 * Units: SI, right-handed axes, y up; quaternions x, y, z, w, unit, body to world; velocities of the centre of mass in
 * world axes. */
#ifndef ORRERY_CLIENT_H
#define ORRERY_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ORRERY_API __attribute__((visibility("default")))
#else
#define ORRERY_API
#endif

#define ORRERY_CLIENT_VERSION 1u
#define ORRERY_TOKEN_BYTES 2048u
#define ORRERY_CONTROL_CHANNELS 8u
#define ORRERY_NO_SLOT 0xffffu
#define ORRERY_NO_BODY UINT64_MAX
#define ORRERY_NO_SHAPE 0xffffffffu

typedef struct orrery_client orrery_client;

/* index in the low 32 bits, generation in the high ones: names a body as long as it lives. */
typedef uint64_t orrery_body_id;

typedef int32_t orrery_status;
enum {
    ORRERY_OK = 0,
    ORRERY_EMPTY = 1, /* there is none: no event is waiting, the body is not alive */
    ORRERY_INVALID_ARGUMENT = -1,
    ORRERY_INVALID_TOKEN = -2, /* not a connect token of this protocol */
    ORRERY_WRONG_STATE = -3,   /* not connected, or connected already */
    ORRERY_OUT_OF_MEMORY = -4,
    ORRERY_SOCKET_FAILED = -5,
    ORRERY_TOO_SMALL = -6 /* the caller's arrays hold less than there is; they were filled */
};
ORRERY_API const char* orrery_status_name(orrery_status status);

/* ------------------------------------------------------------------------------------------------------- hooks */

/* Memory of the handle itself comes from here; buffers of the protocol below it come from the C++ heap. Both or
 * neither are set. `release` gets what `allocate` was asked for. */
typedef struct orrery_allocator {
    void* (*allocate)(void* user, size_t size, size_t alignment);
    void (*release)(void* user, void* memory, size_t size, size_t alignment);
    void* user;
} orrery_allocator;

enum { ORRERY_LOG_DEBUG = 0, ORRERY_LOG_INFO = 1, ORRERY_LOG_WARNING = 2, ORRERY_LOG_ERROR = 3 };

/* Called from within the client's functions, on their thread. */
typedef struct orrery_log {
    void (*write)(void* user, int32_t level, const char* text);
    void* user;
} orrery_log;

/* family 1: IPv4, the first four bytes; 2: IPv6. Bytes in network order, the port in host order. */
typedef struct orrery_address {
    uint8_t family;
    uint8_t reserved;
    uint16_t port;
    uint8_t bytes[16];
} orrery_address;

/* Replaces the client's own UDP socket. Both are set or neither. `receive` returns the size of the next waiting
 * datagram, which it has put into `buffer`, or 0 when none is waiting; it never blocks. */
typedef struct orrery_transport {
    void (*send)(void* user, const orrery_address* to, const uint8_t* datagram, size_t size);
    size_t (*receive)(void* user, orrery_address* from, uint8_t* buffer, size_t capacity);
    void* user;
} orrery_transport;

/* ------------------------------------------------------------------------------------------------------ client */

typedef struct orrery_client_config {
    uint32_t struct_size;
    uint32_t engine_version; /* 0: this client does not simulate; else it must be the server's */
    uint64_t scene_hash;     /* 0: any; else it must be the server's */
    orrery_allocator allocator;
    orrery_log log;
    orrery_transport transport;
    uint32_t min_delay_ticks_x10; /* bounds of the jitter buffer in tenths of a tick; 0: the defaults, 15 and 150 */
    uint32_t max_delay_ticks_x10;
} orrery_client_config;

ORRERY_API void orrery_client_config_init(orrery_client_config* config);
/* A null config means the defaults. *client is null after a failure. */
ORRERY_API orrery_status orrery_client_create(const orrery_client_config* config, orrery_client** client);
/* Sends nothing: disconnect first to let the server know at once. Null is allowed. */
ORRERY_API void orrery_client_destroy(orrery_client* client);

/* `token`: ORRERY_TOKEN_BYTES as minted by the backend or `orrery token`. The token may be wiped afterwards. */
ORRERY_API orrery_status orrery_client_connect(orrery_client* client, const uint8_t* token, size_t size,
                                               uint64_t now_ns);
/* For development: asks a server that was started with --insecure for a token. `server`: "127.0.0.1:7770". */
ORRERY_API orrery_status orrery_client_connect_insecure(orrery_client* client, const char* server, uint64_t now_ns);
ORRERY_API orrery_status orrery_client_disconnect(orrery_client* client, uint64_t now_ns);

/* Receives, answers, sends. At least ten times a second; once a frame is best. */
ORRERY_API orrery_status orrery_client_poll(orrery_client* client, uint64_t now_ns);

/* What the player does from now on: up to ORRERY_CONTROL_CHANNELS numbers in [-1, 1] (clamped; not a number counts as
 * 0); channels that are not given become 0. What a channel does is the scene's matter. */
ORRERY_API orrery_status orrery_client_set_control(orrery_client* client, const float* channels, size_t count);

typedef int32_t orrery_client_state;
enum {
    ORRERY_STATE_DISCONNECTED = 0,
    ORRERY_STATE_CONNECTING = 1, /* asking for a token, or netcode's handshake */
    ORRERY_STATE_JOINING = 2,    /* connected; scene, bodies and first states are on their way */
    ORRERY_STATE_PLAYING = 3
};
ORRERY_API orrery_client_state orrery_client_get_state(const orrery_client* client);

/* ------------------------------------------------------------------------------------------------------ events */

enum {
    ORRERY_EVENT_CONNECTED = 1,    /* playing: bodies, shapes and states are there, of `tick` (the key frame);
                                    * snapshots follow */
    ORRERY_EVENT_DISCONNECTED = 2, /* text: why */
    ORRERY_EVENT_BODY_ADDED = 3,
    ORRERY_EVENT_BODY_REMOVED = 4,
    ORRERY_EVENT_SLIPPED = 5 /* the server fell behind: ticks come late_ns later from here on */
};

typedef struct orrery_event {
    uint32_t struct_size;
    int32_t kind;
    uint64_t tick;
    orrery_body_id body;
    uint64_t late_ns;
    const char* text;
} orrery_event;

/* ORRERY_EMPTY when none is waiting. */
ORRERY_API orrery_status orrery_client_next_event(orrery_client* client, orrery_event* event);

/* ------------------------------------------------------------------------------------------------------- world */

typedef struct orrery_session {
    uint32_t struct_size;
    float tick_rate_hz;
    uint64_t scene_hash;
    uint64_t client_index;
    uint32_t slot; /* the player's seat, or ORRERY_NO_SLOT */
    uint32_t engine_version;
    uint32_t shape_count;
    uint32_t body_count; /* living */
    const char* scene_name;
} orrery_session;
ORRERY_API orrery_status orrery_client_get_session(const orrery_client* client, orrery_session* session);

enum {
    ORRERY_SHAPE_SPHERE = 0,
    ORRERY_SHAPE_BOX = 1,
    ORRERY_SHAPE_CAPSULE = 2,
    ORRERY_SHAPE_PLANE = 3,
    ORRERY_SHAPE_CYLINDER = 4,
    ORRERY_SHAPE_HULL = 5,
    ORRERY_SHAPE_MESH = 6,
    ORRERY_SHAPE_HEIGHT_FIELD = 7,
    ORRERY_SHAPE_COMPOUND = 8
};
typedef struct orrery_shape {
    uint32_t struct_size;
    int32_t type;
    float radius;          /* sphere, capsule, cylinder */
    float half_height;     /* capsule: of its straight part; cylinder; along local y */
    float half_extents[3]; /* box; of hull, mesh, height field and compound the box about the body
                            * that holds them. A plane is the half space below local y = 0 */
} orrery_shape;
ORRERY_API orrery_status orrery_client_get_shape(const orrery_client* client, uint32_t shape, orrery_shape* out);

enum { ORRERY_BODY_FIXED = 0, ORRERY_BODY_KINEMATIC = 1, ORRERY_BODY_DYNAMIC = 2 };
typedef struct orrery_body {
    uint32_t struct_size;
    int32_t type;
    uint32_t shape;   /* ORRERY_NO_SHAPE: none */
    uint32_t slot;    /* whose body it is, or ORRERY_NO_SLOT */
    const char* name; /* "" if it has none */
} orrery_body;
ORRERY_API orrery_status orrery_client_get_body(const orrery_client* client, orrery_body_id id, orrery_body* out);

/* The first body that was spawned for this player (a vehicle's chassis), or ORRERY_NO_BODY. */
ORRERY_API orrery_body_id orrery_client_own_body(const orrery_client* client);

/* The caller's arrays, `capacity` bodies long each. Null arrays are not filled. */
typedef struct orrery_samples {
    uint32_t struct_size;
    uint32_t capacity;
    uint32_t count;     /* out: bodies filled in */
    uint32_t available; /* out: bodies there are */
    double tick;        /* out: the moment shown, in server ticks */
    orrery_body_id* ids;
    float* positions;          /* 3 a body: m */
    float* orientations;       /* 4 a body */
    float* linear_velocities;  /* 3 a body: m/s */
    float* angular_velocities; /* 3 a body: rad/s */
} orrery_samples;

/* Every living body, ascending by index, as of the moment that the jitter buffer shows at `now_ns`. ORRERY_TOO_SMALL:
 * `capacity` bodies were filled in, there are `available`. */
ORRERY_API orrery_status orrery_client_sample(orrery_client* client, uint64_t now_ns, orrery_samples* samples);

typedef struct orrery_client_stats {
    uint32_t struct_size;
    uint32_t late_inputs; /* controls that reached the server after their tick */
    double rtt_s;
    double rtt_variation_s;
    double snapshot_loss;     /* 0 to 1, since the start */
    double delay_ticks;       /* how far behind the newest snapshot the jitter buffer shows */
    double input_slack_ticks; /* how early controls reach the server */
    uint64_t snapshots_received;
    uint64_t snapshots_lost;
    uint64_t snapshots_undecodable;
    uint64_t bytes_sent; /* datagrams, without UDP and IP headers */
    uint64_t bytes_received;
    uint64_t datagrams_sent;
    uint64_t datagrams_received;
    uint64_t newest_tick; /* of the newest snapshot; before the first the key frame's */
} orrery_client_stats;
ORRERY_API orrery_status orrery_client_get_stats(const orrery_client* client, orrery_client_stats* stats);

#ifdef __cplusplus
}
#endif
#endif
