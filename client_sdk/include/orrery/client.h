/* Orrery's client SDK: connect to a room, send controls, and read the motion of its bodies.
 *
 * The library has no thread, no clock and no global state. The caller passes the time (nanoseconds of any monotonic
 * clock, the same one in every call) and calls orrery_client_poll() often, best once in each frame.
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
 * Threads: one thread at a time may use a client. Different clients are independent.
 * Ownership: arguments stay the caller's and are not kept after the call, except the `user` pointers of hooks, which
 * must live as long as the client. Returned strings are valid until the next call with the same client.
 * Versions: structs begin with struct_size, which the caller sets to sizeof. So a program that was built with an older
 * header works with a newer library. Every function accepts null pointers.
 *
 * Units and frames: SI units. Axes are right-handed, y is up. Quaternions are x, y, z, w, of unit length, and turn the
 * body's frame into the world's. Velocities are those of the centre of mass, in world axes. */
#ifndef ORRERY_CLIENT_H
#define ORRERY_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(ORRERY_CLIENT_DLL) /* defined when the DLL is built, not when it is used */
#define ORRERY_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
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
#define ORRERY_NO_TEMPLATE 0xffffffffu
#define ORRERY_NO_JOINT UINT64_MAX
#define ORRERY_MAX_MESSAGE_BYTES 60000u
#define ORRERY_MAX_UNRELIABLE_BYTES 1000u
#define ORRERY_MESSAGES_PER_SECOND 60u /* of a client to its server; a burst of one second */
#define ORRERY_MESSAGE_BYTES_PER_SECOND 65536u

typedef struct orrery_client orrery_client;

/* Names a body as long as it lives: index in the low 32 bits, generation in the high 32 bits. */
typedef uint64_t orrery_body_id;

typedef int32_t orrery_status;
enum {
    ORRERY_OK = 0,
    ORRERY_EMPTY = 1, /* there is none: no event is waiting, the body is not alive, the board has no such key */
    ORRERY_INVALID_ARGUMENT = -1,
    ORRERY_INVALID_TOKEN = -2, /* not a connect token of this protocol */
    ORRERY_WRONG_STATE = -3,   /* not connected, or connected already */
    ORRERY_OUT_OF_MEMORY = -4,
    ORRERY_SOCKET_FAILED = -5,
    ORRERY_TOO_SMALL = -6,    /* the caller's arrays are too small for all; they were filled */
    ORRERY_TOO_LARGE = -7,    /* a message above ORRERY_MAX_MESSAGE_BYTES or ORRERY_MAX_UNRELIABLE_BYTES */
    ORRERY_RATE_LIMITED = -8, /* more messages, or bytes of messages, than a client may send in a second */
    ORRERY_QUEUE_FULL = -9    /* too much is on its way: 256 KiB of reliable messages, 32 KiB of unreliable ones */
};
ORRERY_API const char* orrery_status_name(orrery_status status);

/* ------------------------------------------------------------------------------------------------------- hooks */

/* Memory for the handle itself. Buffers of the protocol come from the C++ heap. Set both functions or neither.
 * `release` gets the size and alignment that `allocate` got. */
typedef struct orrery_allocator {
    void* (*allocate)(void* user, size_t size, size_t alignment);
    void (*release)(void* user, void* memory, size_t size, size_t alignment);
    void* user;
} orrery_allocator;

enum { ORRERY_LOG_DEBUG = 0, ORRERY_LOG_INFO = 1, ORRERY_LOG_WARNING = 2, ORRERY_LOG_ERROR = 3 };

/* Called by the client's functions, on the calling thread. */
typedef struct orrery_log {
    void (*write)(void* user, int32_t level, const char* text);
    void* user;
} orrery_log;

/* family 1: IPv4, in the first four bytes; 2: IPv6. The bytes are in network order, the port in host order. */
typedef struct orrery_address {
    uint8_t family;
    uint8_t reserved;
    uint16_t port;
    uint8_t bytes[16];
} orrery_address;

/* Replaces the client's own UDP socket. Set both functions or neither. `receive` never blocks. It copies the next
 * waiting datagram to `buffer` and returns its size, or returns 0 if none is waiting. */
typedef struct orrery_transport {
    void (*send)(void* user, const orrery_address* to, const uint8_t* datagram, size_t size);
    size_t (*receive)(void* user, orrery_address* from, uint8_t* buffer, size_t capacity);
    void* user;
} orrery_transport;

/* ------------------------------------------------------------------------------------------------------ client */

typedef struct orrery_client_config {
    uint32_t struct_size;
    uint32_t engine_version; /* 0: this client does not simulate; else it must equal the server's */
    uint64_t scene_hash;     /* 0: any; else it must equal the server's */
    orrery_allocator allocator;
    orrery_log log;
    orrery_transport transport;
    uint32_t min_delay_ticks_x10; /* limits of the jitter buffer in tenths of a tick; 0: defaults, 15 and 150 */
    uint32_t max_delay_ticks_x10;
} orrery_client_config;

ORRERY_API void orrery_client_config_init(orrery_client_config* config);
/* A null config means the defaults. After a failure *client is null. */
ORRERY_API orrery_status orrery_client_create(const orrery_client_config* config, orrery_client** client);
/* Sends nothing. Disconnect first, so that the server knows at once. Null is allowed. */
ORRERY_API void orrery_client_destroy(orrery_client* client);

/* `token`: ORRERY_TOKEN_BYTES bytes from the backend or `orrery token`. It may be wiped after the call. */
ORRERY_API orrery_status orrery_client_connect(orrery_client* client, const uint8_t* token, size_t size,
                                               uint64_t now_ns);
/* For development: asks a server that runs with --insecure for a token. `server`: for example "127.0.0.1:7770". */
ORRERY_API orrery_status orrery_client_connect_insecure(orrery_client* client, const char* server, uint64_t now_ns);
ORRERY_API orrery_status orrery_client_disconnect(orrery_client* client, uint64_t now_ns);

/* Receives, answers and sends. Call it at least ten times a second, best once in each frame. */
ORRERY_API orrery_status orrery_client_poll(orrery_client* client, uint64_t now_ns);

/* Sets the player's control from now on: up to ORRERY_CONTROL_CHANNELS numbers in [-1, 1]. Numbers beyond are clamped,
 * NaN counts as 0, and channels that are not given become 0. The scene defines what a channel does. */
ORRERY_API orrery_status orrery_client_set_control(orrery_client* client, const float* channels, size_t count);

/* Sends `size` bytes to the room's program, which gives `type` and the bytes their meaning. Reliable messages arrive
 * once and in order; others are sent once and may be lost. Both leave with the next orrery_client_poll(), whose time
 * counts for the limits. ORRERY_WRONG_STATE: not connected, or the server's hello has not come yet.
 * ORRERY_TOO_LARGE, ORRERY_RATE_LIMITED and ORRERY_QUEUE_FULL: nothing was sent. */
ORRERY_API orrery_status orrery_client_send(orrery_client* client, uint16_t type, const uint8_t* bytes, size_t size,
                                            int32_t reliable);

typedef int32_t orrery_client_state;
enum {
    ORRERY_STATE_DISCONNECTED = 0,
    ORRERY_STATE_CONNECTING = 1, /* asking for a token, or netcode's handshake */
    ORRERY_STATE_JOINING = 2,    /* connected, and waiting for scene, bodies and first states */
    ORRERY_STATE_PLAYING = 3
};
ORRERY_API orrery_client_state orrery_client_get_state(const orrery_client* client);

/* ------------------------------------------------------------------------------------------------------ events */

enum {
    ORRERY_EVENT_CONNECTED = 1,    /* playing: bodies, shapes and states are there, of `tick` (the key frame);
                                    * snapshots follow */
    ORRERY_EVENT_DISCONNECTED = 2, /* text and end_reason: why */
    ORRERY_EVENT_BODY_ADDED = 3,
    ORRERY_EVENT_BODY_REMOVED = 4,
    ORRERY_EVENT_SLIPPED = 5, /* the server fell behind: from now on ticks come late_ns later */
    ORRERY_EVENT_MESSAGE = 7, /* of the room's program: message_type, bytes, size, reliable. It may come while the
                               * client is joining */
    ORRERY_EVENT_BOARD = 8,   /* text: the key; bytes and size: the value that it got; removed: the key is gone */
    ORRERY_EVENT_WORLD = 9,   /* world_kind says what happened in the step to `tick`, which may be later than the tick
                               * that is shown now */
    ORRERY_EVENT_SCENE = 10   /* the scene that was asked for has come; bytes and size: its binary form */
};

/* What happened in the world. The room decides which events it tells. At most 64 come for a tick; then hits of the
 * least impulse are left out. */
enum {
    ORRERY_WORLD_HIT = 1,          /* body, other: what touched; point, normal, impulse (N s) */
    ORRERY_WORLD_SENSOR_BEGIN = 2, /* body: the sensor; other: what entered it */
    ORRERY_WORLD_SENSOR_END = 3,
    ORRERY_WORLD_JOINT_BROKEN = 4, /* joint; impulse: the force (N) */
    ORRERY_WORLD_JOINT_CREATED = 5,
    ORRERY_WORLD_SPAWNED = 6,
    ORRERY_WORLD_DESPAWNED = 7
};

/* Why a connection ended. Later versions may add reasons: `text` says each in words. */
enum {
    ORRERY_END_NONE = 0,       /* not the event of an end */
    ORRERY_END_BY_CLIENT = 1,  /* orrery_client_disconnect() */
    ORRERY_END_NO_ANSWER = 2,  /* no server answered */
    ORRERY_END_TOKEN = 3,      /* the connect token has expired, or cannot be read */
    ORRERY_END_DENIED = 4,     /* every place of the server is taken */
    ORRERY_END_TIMED_OUT = 5,  /* the server fell silent */
    ORRERY_END_REFUSED = 6,    /* client and server do not fit, or the server takes no new clients for now */
    ORRERY_END_UNREADABLE = 7, /* the server sent what this client cannot read */
    ORRERY_END_BY_SERVER = 8,  /* the server ended it, and its reason did not arrive */
    ORRERY_END_SERVER_STOPPED = 9,
    ORRERY_END_PROTOCOL_ERROR = 10,  /* the server could not read what this client sent */
    ORRERY_END_TOO_SLOW = 11,        /* this client did not take what the server sent fast enough */
    ORRERY_END_HANDSHAKE = 12,       /* this client did not finish the handshake in time */
    ORRERY_END_WORLD_TOO_LARGE = 13, /* the world has more bodies than a joining client can be told */
    ORRERY_END_UNACKNOWLEDGED = 14,  /* this client acknowledged nothing that the server sent, for 10 s */
    ORRERY_END_KICKED = 15,
    ORRERY_END_REPLACED = 16, /* by a newer connection of the same client id */
    ORRERY_END_REFUSED_BY_GAME = 17,
    ORRERY_END_MESSAGE_LIMITS = 18 /* this client sent more messages than it may, or its program left more than 4 MiB
                                    * of messages unread */
};

typedef struct orrery_event {
    uint32_t struct_size;
    int32_t kind;
    uint64_t tick;
    orrery_body_id body;
    uint64_t late_ns;
    const char* text;
    int32_t end_reason; /* ORRERY_EVENT_DISCONNECTED: ORRERY_END_* */
    int32_t reserved;
    /* ORRERY_EVENT_MESSAGE, _BOARD, _SCENE: valid until the next call of orrery_client_next_event() */
    const uint8_t* bytes;
    size_t size;
    uint32_t message_type; /* ORRERY_EVENT_MESSAGE: 0 to 65535 */
    int32_t reliable;      /* ORRERY_EVENT_MESSAGE: 1 or 0 */
    int32_t removed;       /* ORRERY_EVENT_BOARD: 1 or 0 */
    int32_t world_kind;    /* ORRERY_EVENT_WORLD: ORRERY_WORLD_* */
    orrery_body_id other;
    uint64_t joint;  /* index in the low 32 bits, generation in the high 32 bits, or ORRERY_NO_JOINT */
    float point[3];  /* m, world */
    float normal[3]; /* unit, from body to other */
    float impulse;
    uint32_t reserved_2;
} orrery_event;

/* Take all events after each poll: a program that leaves more than 4 MiB of messages unread is disconnected.
 * ORRERY_EMPTY if no event is waiting. ORRERY_INVALID_ARGUMENT if struct_size is not set; no event is lost then. */
ORRERY_API orrery_status orrery_client_next_event(orrery_client* client, orrery_event* event);

/* ------------------------------------------------------------------------------------------------------- world */

typedef struct orrery_session {
    uint32_t struct_size;
    float tick_rate_hz;
    uint64_t scene_hash;
    uint64_t client_index;
    uint32_t slot; /* the player's slot, or ORRERY_NO_SLOT for a spectator */
    uint32_t engine_version;
    uint32_t shape_count;
    uint32_t body_count; /* living bodies */
    const char* scene_name;
    uint32_t role;             /* ORRERY_ROLE_* */
    uint32_t scene_bytes;      /* size of the scene's binary form; 0: the server does not give it away */
    uint64_t scene_bytes_hash; /* its XXH3-64: who has the scene from before need not ask for it */
} orrery_session;
ORRERY_API orrery_status orrery_client_get_session(const orrery_client* client, orrery_session* session);
enum { ORRERY_ROLE_PLAYER = 0, ORRERY_ROLE_SPECTATOR = 1, ORRERY_ROLE_DIRECTOR = 2 };

/* Asks for the scene's binary form, from the server's hello on. It comes beside the game, and ORRERY_EVENT_SCENE tells
 * when it is complete and agrees with scene_bytes_hash. ORRERY_EMPTY: the server does not give it away.
 * ORRERY_WRONG_STATE: not connected, or asked for before. */
ORRERY_API orrery_status orrery_client_request_scene(orrery_client* client);
/* The scene, after ORRERY_EVENT_SCENE; ORRERY_EMPTY before. Valid until the next connect or destroy. */
ORRERY_API orrery_status orrery_client_scene(const orrery_client* client, const uint8_t** bytes, size_t* size);

/* The board: values by name that the room's program sets for all, as they are now; of the last connection after its
 * end. Pointers are valid until the next orrery_client_poll(). Null pointers for results are allowed. */
ORRERY_API orrery_status orrery_client_board_get(const orrery_client* client, const char* key, const uint8_t** bytes,
                                                 size_t* size);
ORRERY_API uint32_t orrery_client_board_count(const orrery_client* client);
/* By `index` in the order of the keys, below orrery_client_board_count(). */
ORRERY_API orrery_status orrery_client_board_at(const orrery_client* client, uint32_t index, const char** key,
                                                const uint8_t** bytes, size_t* size);

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
    float half_height;     /* along local y: of a cylinder, or of a capsule's cylindrical part */
    float half_extents[3]; /* box; of a hull, mesh, height field or compound: the box around it in
                            * the body's frame. A plane is the half space below local y = 0 */
} orrery_shape;
ORRERY_API orrery_status orrery_client_get_shape(const orrery_client* client, uint32_t shape, orrery_shape* out);

enum { ORRERY_BODY_FIXED = 0, ORRERY_BODY_KINEMATIC = 1, ORRERY_BODY_DYNAMIC = 2 };
typedef struct orrery_body {
    uint32_t struct_size;
    int32_t type;
    uint32_t shape;   /* ORRERY_NO_SHAPE: none */
    uint32_t slot;    /* slot of the player who owns the body, or ORRERY_NO_SLOT */
    const char* name; /* "" if the body has none */
    /* The template that the body was spawned from, and which of its bodies it is: numbers in the scene's order and
     * names; ORRERY_NO_TEMPLATE and "" if there is none. */
    uint32_t template_index;
    uint32_t member_index;
    const char* template_name;
    const char* member_name;
    const char* material_name;
    uint64_t user_data; /* the number that the scene or the room's program gave the body */
} orrery_body;
ORRERY_API orrery_status orrery_client_get_body(const orrery_client* client, orrery_body_id id, orrery_body* out);

/* The first body that was spawned for this player (a vehicle's chassis), or ORRERY_NO_BODY. */
ORRERY_API orrery_body_id orrery_client_own_body(const orrery_client* client);

/* Arrays of the caller, each with room for `capacity` bodies. Null arrays are not filled. */
typedef struct orrery_samples {
    uint32_t struct_size;
    uint32_t capacity;
    uint32_t count;     /* out: bodies that were filled in */
    uint32_t available; /* out: living bodies */
    double tick;        /* out: the time that the states belong to, in server ticks */
    orrery_body_id* ids;
    float* positions;          /* 3 for each body: m */
    float* orientations;       /* 4 for each body */
    float* linear_velocities;  /* 3 for each body: m/s */
    float* angular_velocities; /* 3 for each body: rad/s */
} orrery_samples;

/* Reads every living body in order of index, at the time that the jitter buffer shows at `now_ns`. ORRERY_TOO_SMALL:
 * `capacity` bodies were filled in, and there are `available`. */
ORRERY_API orrery_status orrery_client_sample(orrery_client* client, uint64_t now_ns, orrery_samples* samples);

typedef struct orrery_client_stats {
    uint32_t struct_size;
    uint32_t late_inputs; /* controls that reached the server after their tick */
    double rtt_s;
    double rtt_variation_s;
    double snapshot_loss;     /* 0 to 1, since the start */
    double delay_ticks;       /* distance of the jitter buffer behind the newest snapshot */
    double input_slack_ticks; /* time by which controls reach the server early */
    uint64_t snapshots_received;
    uint64_t snapshots_lost;
    uint64_t snapshots_undecodable;
    uint64_t bytes_sent; /* datagrams, without UDP and IP headers */
    uint64_t bytes_received;
    uint64_t datagrams_sent;
    uint64_t datagrams_received;
    uint64_t newest_tick;          /* of the newest snapshot; before the first, of the key frame */
    uint64_t world_events_dropped; /* world events that the server left out */
} orrery_client_stats;
ORRERY_API orrery_status orrery_client_get_stats(const orrery_client* client, orrery_client_stats* stats);

#ifdef __cplusplus
}
#endif
#endif
