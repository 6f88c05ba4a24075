/* Orrery's client SDK: connect to a room, send controls, and read the motion of its bodies.
 *
 * The library has no thread, no clock and no global state. The caller passes the time (nanoseconds of any monotonic
 * clock, the same one in every call, never smaller than before) and calls orrery_client_poll() often, best once in each
 * frame.
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
 * Errors: a function that returns orrery_status returns ORRERY_OK, ORRERY_INVALID_ARGUMENT, ORRERY_OUT_OF_MEMORY, or a
 * status that its comment names.
 * Threads: one thread at a time may use a client. Different clients are independent.
 * Ownership: arguments stay the caller's and are not kept after the call, except the `user` pointers of hooks, which
 * must live as long as the client. Returned strings are valid until the next call with the same client.
 * Versions: structs begin with struct_size, which the caller sets to sizeof. So a program that was built with an older
 * header works with a newer library. No function crashes on a null pointer.
 *
 * Units and frames: SI units. Axes are right-handed, y is up. Quaternions are x, y, z, w, of unit length, and turn the
 * body's frame into the world's. The position of a body is that of its centre of mass. Velocities are those of the
 * centre of mass, in world axes. A tick is one step of the server's world; the first is 1. */
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

/* The version of this header. */
#define ORRERY_CLIENT_VERSION 1u
#define ORRERY_TOKEN_BYTES 2048u               /* size of a connect token */
#define ORRERY_CONTROL_CHANNELS 8u             /* channels of a player's control */
#define ORRERY_NO_SLOT 0xffffu                 /* a client or body without a slot */
#define ORRERY_NO_BODY UINT64_MAX              /* an orrery_body_id that names no body */
#define ORRERY_NO_SHAPE 0xffffffffu            /* the shape of a body that has none */
#define ORRERY_NO_TEMPLATE 0xffffffffu         /* the template of a body that has none */
#define ORRERY_NO_JOINT UINT64_MAX             /* an event without a joint */
#define ORRERY_MAX_MESSAGE_BYTES 60000u        /* of a reliable message */
#define ORRERY_MAX_UNRELIABLE_BYTES 1000u      /* of an unreliable message */
#define ORRERY_MESSAGES_PER_SECOND 60u         /* of a client to its server; a burst of one second */
#define ORRERY_MESSAGE_BYTES_PER_SECOND 65536u /* likewise */

/* A client. */
typedef struct orrery_client orrery_client;
/* A player of a recording. */
typedef struct orrery_player orrery_player;

/* Names a body as long as it exists on the server: index in the low 32 bits, generation in the high 32 bits. Indices
 * are used again; the generation tells one body from the next. */
typedef uint64_t orrery_body_id;

/* The result of a function. Above 0: nothing to report; below 0: an error, or an array that is too small. */
typedef int32_t orrery_status;
/* Values of orrery_status. */
enum {
    ORRERY_OK = 0,                /* done */
    ORRERY_EMPTY = 1,             /* no event is waiting; no such body, shape or key of the board; no more ticks */
    ORRERY_INVALID_ARGUMENT = -1, /* a null pointer, a size out of range, or struct_size is not set */
    ORRERY_INVALID_TOKEN = -2,    /* not a connect token of this protocol */
    ORRERY_WRONG_STATE = -3,      /* the client's state (orrery_client_get_state()) does not allow it */
    ORRERY_OUT_OF_MEMORY = -4,    /* no memory could be allocated */
    ORRERY_SOCKET_FAILED = -5,    /* the operating system gave no UDP socket, or there are none (WebAssembly) */
    ORRERY_TOO_SMALL = -6,    /* the caller's arrays are too small for all; they were filled, if not said otherwise */
    ORRERY_TOO_LARGE = -7,    /* a message above ORRERY_MAX_MESSAGE_BYTES or ORRERY_MAX_UNRELIABLE_BYTES */
    ORRERY_RATE_LIMITED = -8, /* more messages, or bytes of messages, than a client may send in a second */
    ORRERY_QUEUE_FULL = -9,   /* too much is on its way: 256 KiB of reliable messages, 32 KiB of unreliable ones */
    ORRERY_UNSUPPORTED = -10, /* this build of the library cannot do it */
    ORRERY_UNREADABLE = -11   /* the recording cannot be played */
};
/* A short English text for a status, for example "wrong state". Never null; valid for ever. */
ORRERY_API const char* orrery_status_name(orrery_status status);

/* ------------------------------------------------------------------------------------------------------- hooks */

/* Memory for the handle itself. Buffers of the protocol come from the C++ heap. Set both functions or neither. `size`
 * and `alignment` are in bytes. `allocate` may return null; orrery_client_create() then returns ORRERY_OUT_OF_MEMORY.
 * `release` gets the size and alignment that `allocate` got. */
typedef struct orrery_allocator {
    void* (*allocate)(void* user, size_t size, size_t alignment);             /* null: no memory */
    void (*release)(void* user, void* memory, size_t size, size_t alignment); /* frees what `allocate` gave */
    void* user;                                                               /* any pointer of the caller */
} orrery_allocator;

/* Levels of log lines. */
enum { ORRERY_LOG_DEBUG = 0, ORRERY_LOG_INFO = 1, ORRERY_LOG_WARNING = 2, ORRERY_LOG_ERROR = 3 };

/* Called by the client's functions, on the calling thread. `level` is ORRERY_LOG_*; `text` is valid during the call. A
 * null `write` means no log. Here and in other hooks `user` is passed to every call. */
typedef struct orrery_log {
    void (*write)(void* user, int32_t level, const char* text); /* takes one line */
    void* user;                                                 /* any pointer of the caller */
} orrery_log;

/* An IP address and a UDP port. family 1: IPv4, in the first four of `bytes`; 2: IPv6. The bytes are in network order,
 * the port in host order. */
typedef struct orrery_address {
    uint8_t family;    /* 1: IPv4; 2: IPv6 */
    uint8_t reserved;  /* 0 */
    uint16_t port;     /* UDP, in host order */
    uint8_t bytes[16]; /* of the IP address, in network order */
} orrery_address;

/* Replaces the client's own UDP socket. Set both functions or neither. Sizes are in bytes. `send` may drop the
 * datagram, as UDP may. `receive` never blocks. It copies the next waiting datagram, of at most `capacity` bytes, to
 * `buffer`, its sender to `from`, and returns its size, or returns 0 if none is waiting. */
typedef struct orrery_transport {
    /* Sends one datagram. */
    void (*send)(void* user, const orrery_address* to, const uint8_t* datagram, size_t size);
    /* Returns the size of the datagram that it copied; 0: none is waiting. */
    size_t (*receive)(void* user, orrery_address* from, uint8_t* buffer, size_t capacity);
    void* user; /* any pointer of the caller */
} orrery_transport;

/* ------------------------------------------------------------------------------------------------------ client */

/* Settings of a client. 0 and null mean the default in every field but struct_size. */
typedef struct orrery_client_config {
    uint32_t struct_size;    /* set by the caller: sizeof of this struct */
    uint32_t engine_version; /* 0: any. Otherwise a server of another version refuses this client */
    uint64_t scene_hash;     /* 0: any. Otherwise a server with another scene refuses this client */
    orrery_allocator allocator;
    orrery_log log;
    orrery_transport transport;
    /* Least and largest delay of the jitter buffer, in tenths of a tick. 0: 15 and 150. A largest delay below the least
     * one counts as the least one. */
    uint32_t min_delay_ticks_x10;
    uint32_t max_delay_ticks_x10;
} orrery_client_config;

/* Sets struct_size and the default of every field. */
ORRERY_API void orrery_client_config_init(orrery_client_config* config);
/* Makes a client, which is not connected. A null config means the defaults. ORRERY_INVALID_ARGUMENT: `client` is null,
 * or only one of two functions of a hook is set. ORRERY_OUT_OF_MEMORY. ORRERY_SOCKET_FAILED: in WebAssembly, which has
 * no UDP; see orrery_client_create_stream(). After a failure *client is null. */
ORRERY_API orrery_status orrery_client_create(const orrery_client_config* config, orrery_client** client);
/* Frees a client. It sends nothing: call orrery_client_disconnect() first, so that the server knows at once. Null is
 * allowed. */
ORRERY_API void orrery_client_destroy(orrery_client* client);

/* Begins to connect; orrery_client_poll() does the rest, and an event says how it ends. The state must be DISCONNECTED
 * (else ORRERY_WRONG_STATE). `token`: ORRERY_TOKEN_BYTES bytes from the backend or `orrery token`; it may be wiped
 * after the call. ORRERY_INVALID_TOKEN: it is not a token of this protocol, or `size` is wrong. A token that has
 * expired is reported by an event (ORRERY_END_TOKEN). */
ORRERY_API orrery_status orrery_client_connect(orrery_client* client, const uint8_t* token, size_t size,
                                               uint64_t now_ns);
/* For development: asks a server that runs with --insecure for a token, then connects. `server`: IP address and port,
 * for example "127.0.0.1:7770" (else ORRERY_INVALID_ARGUMENT). The state must be DISCONNECTED (else
 * ORRERY_WRONG_STATE). */
ORRERY_API orrery_status orrery_client_connect_insecure(orrery_client* client, const char* server, uint64_t now_ns);
/* Ends the connection and tells the server. The event ORRERY_EVENT_DISCONNECTED follows. ORRERY_WRONG_STATE: the state
 * is DISCONNECTED. */
ORRERY_API orrery_status orrery_client_disconnect(orrery_client* client, uint64_t now_ns);
/* From the loss of a connection on (the server fell silent, or ended it because this client was silent or slow), it may
 * be made anew within so many seconds: see ORRERY_EVENT_TOKEN_NEEDED. 0, the default: a loss is an end. */
ORRERY_API orrery_status orrery_client_set_reconnect(orrery_client* client, uint32_t seconds);
/* The answer to ORRERY_EVENT_TOKEN_NEEDED: a new token of the same client id. It must expire later than the last one,
 * because the server may not have noticed the loss. ORRERY_WRONG_STATE: no token is needed. ORRERY_INVALID_TOKEN: not a
 * token; the client goes on waiting for one. */
ORRERY_API orrery_status orrery_client_renew(orrery_client* client, const uint8_t* token, size_t size, uint64_t now_ns);

/* Receives, answers and sends. Call it at least ten times a second, best once in each frame. It may be called in
 * every state. ORRERY_SOCKET_FAILED: no UDP socket could be opened. */
ORRERY_API orrery_status orrery_client_poll(orrery_client* client, uint64_t now_ns);

/* Sets the player's control until the next call, in every state: `count` numbers in [-1, 1], at most
 * ORRERY_CONTROL_CHANNELS (else ORRERY_INVALID_ARGUMENT). Numbers beyond are clamped, NaN counts as 0, and channels
 * that are not given become 0. A number is sent as a multiple of 1/32767. The scene defines what a channel does. */
ORRERY_API orrery_status orrery_client_set_control(orrery_client* client, const float* channels, size_t count);

/* Sends `size` bytes to the room's program, which gives `type` and the bytes their meaning. Reliable messages arrive
 * once and in order; others are sent once and may be lost. Both leave with the next orrery_client_poll(), whose time
 * counts for the limits. ORRERY_WRONG_STATE: not connected, or the server's hello has not come yet.
 * ORRERY_TOO_LARGE, ORRERY_RATE_LIMITED and ORRERY_QUEUE_FULL: nothing was sent. */
ORRERY_API orrery_status orrery_client_send(orrery_client* client, uint16_t type, const uint8_t* bytes, size_t size,
                                            int32_t reliable);

/* How a client sees the world of its room. */
enum {
    ORRERY_MODE_SNAPSHOTS = 0, /* by the states of bodies that the server sends; the default */
    /* The client gets the state of the world once, then the commands of each tick, and steps a world of its own with
     * them. It needs the room's permission (`orrery serve --allow-mirror`), the scene, and the processor time of a
     * simulation. */
    ORRERY_MODE_MIRROR = 1
};
/* Sets the mode of the next connection. ORRERY_WRONG_STATE: the state is not DISCONNECTED. ORRERY_UNSUPPORTED: this
 * build of the library does not simulate. Call it before the functions of mirror mode below, which return
 * ORRERY_WRONG_STATE otherwise. */
ORRERY_API orrery_status orrery_client_set_mode(orrery_client* client, int32_t mode);
/* The room's scene, JSON or binary; it is copied. A mirror that has none, or another one, asks the server for it by
 * itself. In mode SNAPSHOTS, from the next connection on, a client that joins a room of this scene is sent only what
 * differs from it; the call takes as long as loading the scene does. ORRERY_INVALID_ARGUMENT: the scene has a fault
 * (not told for a mirror). ORRERY_UNSUPPORTED: mode SNAPSHOTS, and this build of the library does not simulate. */
ORRERY_API orrery_status orrery_client_give_scene(orrery_client* client, const uint8_t* bytes, size_t size);

/* Prediction of a mirror: the world is ahead of the server's by the time that controls need to get there, so that this
 * player's control acts at once. Where the server's commands turn out to be others, the world goes back and is stepped
 * again, and the picture moves to the corrected one smoothly. */
typedef struct orrery_prediction {
    uint32_t struct_size;       /* set by the caller: sizeof of this struct */
    int32_t on;                 /* 1 or 0 */
    uint32_t input_delay_ticks; /* a control acts so many ticks later, 0 to 6: less is predicted, and less corrected */
    float max_rollback_ms;      /* as many ticks are predicted as can be stepped again in this time; 0: 8 ms */
    uint64_t (*clock)(void* user); /* measures rollbacks, ns; null: they are not measured, and the limit above is off */
    void* user;                    /* passed to `clock` */
} orrery_prediction;
/* May be changed at any time. ORRERY_INVALID_ARGUMENT: a number is out of its range. */
ORRERY_API orrery_status orrery_client_set_prediction(orrery_client* client, const orrery_prediction* prediction);

/* Kinds of events for orrery_client_set_mirror_events(). */
enum {
    ORRERY_MIRROR_HITS = 1,    /* ORRERY_WORLD_HIT */
    ORRERY_MIRROR_SENSORS = 2, /* ORRERY_WORLD_SENSOR_BEGIN and END */
    ORRERY_MIRROR_JOINTS = 4,  /* ORRERY_WORLD_JOINT_BROKEN and CREATED */
    ORRERY_MIRROR_SPAWNS = 8   /* ORRERY_WORLD_SPAWNED and DESPAWNED */
};
/* Which events of its own world a mirror tells as ORRERY_EVENT_WORLD, instead of those that the room tells: bits of
 * ORRERY_MIRROR_*; hits of at least `least_hit_impulse` N s. 0: those that the room tells, which is the default. */
ORRERY_API orrery_status orrery_client_set_mirror_events(orrery_client* client, uint32_t kinds,
                                                         float least_hit_impulse);

/* ORRERY_STATE_*. */
typedef int32_t orrery_client_state;
/* Values of orrery_client_state. */
enum {
    ORRERY_STATE_DISCONNECTED = 0, /* no connection, and none is being made */
    ORRERY_STATE_CONNECTING = 1, /* asking or waiting for a token, or netcode's handshake; after a loss, too: the bodies
                                  * can still be sampled then, as they were seen last */
    ORRERY_STATE_JOINING = 2,    /* connected, and waiting for shapes, bodies and first states (the key frame) */
    ORRERY_STATE_PLAYING = 3     /* bodies can be sampled. Spectators are in this state, too */
};
/* The present state; DISCONNECTED for a null client. */
ORRERY_API orrery_client_state orrery_client_get_state(const orrery_client* client);

/* ------------------------------------------------------------------------------------------------------ stream */

/* A client over a stream of ordered messages, which is a WebSocket that the program opens: in a browser, or where
 * UDP does not pass. Statuses are those of orrery_client_create(); the hook `transport` is not used. All other
 * functions are the same, but for orrery_client_connect_insecure(), which gives ORRERY_INVALID_ARGUMENT: POST /token to
 * the server instead. The program and the client hand each other messages:
 *
 *   after each orrery_client_poll() and orrery_client_disconnect():
 *     orrery_client_stream_wanted() is another number than before: close the socket if there is one, and open a
 *     new one unless the number is 0. Send what orrery_client_stream_next() gives, before a socket is closed, too.
 *   as the socket tells: orrery_client_stream_opened(), orrery_client_stream_received() for each binary message, and
 *     orrery_client_stream_closed(). Nothing may be told of a socket that is not the newest one.
 *
 * The URL ends in /play. The functions below give ORRERY_WRONG_STATE for a client that is not over a stream. */
ORRERY_API orrery_status orrery_client_create_stream(const orrery_client_config* config, orrery_client** client);
/* The number of the stream that should be open: 1 for the first connection, and one more for each that
 * orrery_client_connect() or orrery_client_renew() begins. 0: none should be open. */
ORRERY_API uint32_t orrery_client_stream_wanted(const orrery_client* client);
/* The socket is open. */
ORRERY_API orrery_status orrery_client_stream_opened(orrery_client* client, uint64_t now_ns);
/* The socket has received a binary message, which may be empty. At most 16 MiB wait for orrery_client_poll(): more ends
 * the connection. */
ORRERY_API orrery_status orrery_client_stream_received(orrery_client* client, const uint8_t* bytes, size_t size,
                                                       uint64_t now_ns);
/* The socket is closed, or could not be opened. `code` and `text`: those of the close frame; 1006 and null without one.
 * The text ends in a zero; at most 123 bytes of it count. The next orrery_client_poll() draws the conclusion. */
ORRERY_API orrery_status orrery_client_stream_closed(orrery_client* client, uint32_t code, const char* text,
                                                     uint64_t now_ns);
/* Takes the next message to send, as a binary one; it may be empty. Valid until the next call with this client.
 * ORRERY_EMPTY: there is none now, or the socket is not open. At most 256 KiB wait: then the client sends less. */
ORRERY_API orrery_status orrery_client_stream_next(orrery_client* client, const uint8_t** bytes, size_t* size);

/* ------------------------------------------------------------------------------------------------------ events */

enum {
    ORRERY_EVENT_CONNECTED = 1,    /* the state is PLAYING: shapes, bodies and their states at `tick` (the key frame)
                                    * are there; snapshots follow */
    ORRERY_EVENT_DISCONNECTED = 2, /* the connection ended, or never came about: text and end_reason say why */
    ORRERY_EVENT_BODY_ADDED = 3,   /* `body` exists from `tick` on. Those of the key frame come before CONNECTED */
    ORRERY_EVENT_BODY_REMOVED = 4, /* `body` does not exist from `tick` on */
    ORRERY_EVENT_SLIPPED = 5,      /* the server fell behind: `tick` and all later ones come late_ns later */
    /* The connection was lost (text: why), and orrery_client_set_reconnect() has asked for this. The state is
     * CONNECTING until orrery_client_renew() has made the connection anew: then come BODY_REMOVED for the bodies that
     * were there, and the events of a join. The event comes again if a new token did not help either, and DISCONNECTED
     * when the time is over. After orrery_client_connect_insecure() the client asks for its tokens by itself, without
     * this event, and is a new player to the server, because these tokens have random client ids. What else the server
     * says (a goodbye, a denial, a refusal, a kick) is an end at once. */
    ORRERY_EVENT_TOKEN_NEEDED = 6,
    ORRERY_EVENT_MESSAGE = 7,  /* of the room's program: message_type, bytes, size, reliable. It may come while the
                                * client is joining */
    ORRERY_EVENT_BOARD = 8,    /* text: the key; bytes and size: the value that it got; removed: the key is gone */
    ORRERY_EVENT_WORLD = 9,    /* world_kind says what happened in the step to `tick`, which may be later than the tick
                                * that is shown now */
    ORRERY_EVENT_SCENE = 10,   /* the scene that was asked for has come; bytes and size: its binary form. A mirror asks
                                * for it by itself, unless it was given */
    ORRERY_EVENT_DIVERGED = 11 /* the mirror's world was another than the server's at `tick`; text: the part that
                                * differs first (for example "bodies"), or "unknown". The mirror goes on from a new
                                * state of the server by itself */
};

/* What happened in the world. The room decides which events it tells. At most 64 come for a tick; then hits of the
 * least impulse are left out. */
enum {
    ORRERY_WORLD_HIT = 1,           /* body, other: what touched; point, normal, impulse (N s) */
    ORRERY_WORLD_SENSOR_BEGIN = 2,  /* body: the sensor; other: what entered it */
    ORRERY_WORLD_SENSOR_END = 3,    /* body: the sensor; other: what left it, or one of them was removed */
    ORRERY_WORLD_JOINT_BROKEN = 4,  /* joint; impulse: the force (N) */
    ORRERY_WORLD_JOINT_CREATED = 5, /* joint; body, other: the bodies that it joins */
    ORRERY_WORLD_SPAWNED = 6,       /* body: it exists now */
    ORRERY_WORLD_DESPAWNED = 7      /* body: it exists no more */
};

/* Why a connection ended. Later versions may add reasons: `text` says each in words. */
enum {
    ORRERY_END_NONE = 0,             /* not the event of an end */
    ORRERY_END_BY_CLIENT = 1,        /* orrery_client_disconnect() */
    ORRERY_END_NO_ANSWER = 2,        /* no server answered */
    ORRERY_END_TOKEN = 3,            /* the connect token has expired, was used from another address, or is not for this
                                      * server: ask for a new one */
    ORRERY_END_DENIED = 4,           /* the server has its largest number of clients (--max-clients) */
    ORRERY_END_TIMED_OUT = 5,        /* the server fell silent */
    ORRERY_END_REFUSED = 6,          /* client and server do not fit, or the server takes no new clients for now */
    ORRERY_END_UNREADABLE = 7,       /* the server sent what this client cannot read */
    ORRERY_END_BY_SERVER = 8,        /* the server ended it, and its reason did not arrive */
    ORRERY_END_SERVER_STOPPED = 9,   /* the server was stopped */
    ORRERY_END_PROTOCOL_ERROR = 10,  /* the server could not read what this client sent */
    ORRERY_END_TOO_SLOW = 11,        /* this client did not take what the server sent fast enough, or does not step its
                                      * mirror as fast as the server steps the world */
    ORRERY_END_HANDSHAKE = 12,       /* this client did not finish the handshake in time */
    ORRERY_END_WORLD_TOO_LARGE = 13, /* the world has more bodies than a joining client can be told */
    ORRERY_END_UNACKNOWLEDGED = 14,  /* this client acknowledged nothing that the server sent, for 10 s */
    ORRERY_END_KICKED = 15,          /* the server removed this player, who may not come back yet */
    ORRERY_END_REPLACED = 16,        /* another connection of this player, with a newer token, took its place */
    ORRERY_END_REFUSED_BY_GAME = 17, /* the game on the server does not take this player */
    ORRERY_END_MESSAGE_LIMITS = 18,  /* this client sent more messages than it may, or its program left more than
                                      * 4 MiB of messages unread */
    ORRERY_END_ALREADY_CONNECTED = 19, /* another connection of this player is there, with a token that expires not
                                        * earlier */
    ORRERY_END_MIRROR = 20             /* this client cannot mirror the room: text says why */
};

/* A thing that happened to the connection or to a body. */
typedef struct orrery_event {
    uint32_t struct_size; /* set by the caller: sizeof of this struct */
    int32_t kind;         /* ORRERY_EVENT_* */
    uint64_t tick;        /* of the server; DISCONNECTED, MESSAGE: that of the newest snapshot, or 0 */
    orrery_body_id body;  /* BODY_ADDED, BODY_REMOVED, WORLD; otherwise ORRERY_NO_BODY */
    uint64_t late_ns;     /* SLIPPED; otherwise 0 */
    const char* text;     /* DISCONNECTED, TOKEN_NEEDED: the reason in English; BOARD: the key; DIVERGED: the part of
                           * the state; otherwise "" */
    int32_t end_reason;   /* DISCONNECTED: ORRERY_END_*; otherwise ORRERY_END_NONE */
    int32_t reserved;     /* 0 */
    /* MESSAGE, BOARD, SCENE: valid until the next call of orrery_client_next_event(); otherwise null and 0 */
    const uint8_t* bytes;
    size_t size;
    uint32_t message_type; /* MESSAGE: 0 to 65535 */
    int32_t reliable;      /* MESSAGE: 1 or 0 */
    int32_t removed;       /* BOARD: 1 if the key is gone, else 0 */
    int32_t world_kind;    /* WORLD: ORRERY_WORLD_*, which says what the fields below hold */
    orrery_body_id other;  /* WORLD; otherwise ORRERY_NO_BODY */
    uint64_t joint;        /* index in the low 32 bits, generation in the high 32 bits, or ORRERY_NO_JOINT */
    float point[3];        /* m, world */
    float normal[3];       /* unit, world, from body to other */
    float impulse;         /* N s; ORRERY_WORLD_JOINT_BROKEN: N */
    int32_t certainty;     /* WORLD: ORRERY_CERTAINTY_* */
} orrery_event;

/* Of an event of a mirror's own world (orrery_client_set_mirror_events()). An event is told once as CERTAIN or
 * PREDICTED. A PREDICTED one is followed by CONFIRMED or CANCELLED with the same kind, bodies and joint; its tick may
 * be another by a few. So a sound is played at CERTAIN and PREDICTED, and may be broken off at CANCELLED. */
enum {
    ORRERY_CERTAINTY_CERTAIN = 0,   /* it has happened, and was not told before */
    ORRERY_CERTAINTY_PREDICTED = 1, /* it is expected to happen */
    ORRERY_CERTAINTY_CONFIRMED = 2, /* what was predicted has happened */
    ORRERY_CERTAINTY_CANCELLED = 3  /* what was predicted does not happen */
};

/* Takes the next event. ORRERY_EMPTY: no event is waiting. ORRERY_INVALID_ARGUMENT: struct_size is not set; the event
 * stays. Take all events after each poll. At most 65,536 events wait; further ones about bodies and the world are
 * dropped, and the bodies themselves stay right. More than 4 MiB of unread messages end the connection. */
ORRERY_API orrery_status orrery_client_next_event(orrery_client* client, orrery_event* event);

/* ------------------------------------------------------------------------------------------------------- world */

/* The room of this client. */
typedef struct orrery_session {
    uint32_t struct_size;    /* set by the caller: sizeof of this struct */
    float tick_rate_hz;      /* ticks in a second */
    uint64_t scene_hash;     /* of the server's scene */
    uint64_t client_index;   /* number of this client among those of the server, from 0; used again after it has left */
    uint32_t slot;           /* the player's slot, or ORRERY_NO_SLOT for a spectator */
    uint32_t engine_version; /* of the server */
    uint32_t shape_count;    /* shapes that orrery_client_get_shape() gives */
    uint32_t body_count;     /* bodies that exist */
    const char* scene_name;  /* never null; "" for a scene without a name */
    uint32_t role;           /* ORRERY_ROLE_* */
    uint32_t scene_bytes;    /* size of the scene's binary form; 0: the server does not give it away */
    uint64_t scene_bytes_hash; /* its XXH3-64: who has the scene from before need not ask for it */
} orrery_session;
/* What the server says of its room. ORRERY_WRONG_STATE: its answer has not arrived (at the latest it arrives in
 * JOINING). This function and those below also answer after a connection has ended, until the next
 * orrery_client_connect(). */
ORRERY_API orrery_status orrery_client_get_session(const orrery_client* client, orrery_session* session);
/* What a client is. A player without a slot is told that it is a spectator. */
enum { ORRERY_ROLE_PLAYER = 0, ORRERY_ROLE_SPECTATOR = 1, ORRERY_ROLE_DIRECTOR = 2 };

/* Asks for the scene's binary form, from the server's hello on. It comes beside the game, and ORRERY_EVENT_SCENE tells
 * when it is complete and agrees with scene_bytes_hash. ORRERY_EMPTY: the server does not give it away.
 * ORRERY_WRONG_STATE: not connected, or asked for before. */
ORRERY_API orrery_status orrery_client_request_scene(orrery_client* client);
/* The scene, after ORRERY_EVENT_SCENE; ORRERY_EMPTY before. Valid until the next connect or destroy, or until a lost
 * connection is made anew; then it has to be asked for again. */
ORRERY_API orrery_status orrery_client_scene(const orrery_client* client, const uint8_t** bytes, size_t* size);

/* The board: values by name that the room's program sets for all, as they are now; of the last connection after its
 * end. Pointers are valid until the next orrery_client_poll(). Null pointers for results are allowed. */
ORRERY_API orrery_status orrery_client_board_get(const orrery_client* client, const char* key, const uint8_t** bytes,
                                                 size_t* size);
/* The number of keys on the board. */
ORRERY_API uint32_t orrery_client_board_count(const orrery_client* client);
/* By `index` in the order of the keys, below orrery_client_board_count(). */
ORRERY_API orrery_status orrery_client_board_at(const orrery_client* client, uint32_t index, const char** key,
                                                const uint8_t** bytes, size_t* size);

enum {
    ORRERY_SHAPE_SPHERE = 0,       /* radius */
    ORRERY_SHAPE_BOX = 1,          /* half_extents */
    ORRERY_SHAPE_CAPSULE = 2,      /* radius, half_height; its axis is local y */
    ORRERY_SHAPE_PLANE = 3,        /* the half space below local y = 0 */
    ORRERY_SHAPE_CYLINDER = 4,     /* radius, half_height; its axis is local y */
    ORRERY_SHAPE_HULL = 5,         /* convex; half_extents bound it, as the three below */
    ORRERY_SHAPE_MESH = 6,         /* triangles */
    ORRERY_SHAPE_HEIGHT_FIELD = 7, /* heights over a grid */
    ORRERY_SHAPE_COMPOUND = 8      /* convex shapes that are rigidly connected */
};
/* A shape to draw, in the frame of its body. The server does not send the points of hulls, the triangles of meshes and
 * height fields, or the children of compounds: a client that draws these takes them from the scene, by
 * orrery_scene_shape_triangles(). */
typedef struct orrery_shape {
    uint32_t struct_size;  /* set by the caller: sizeof of this struct */
    int32_t type;          /* ORRERY_SHAPE_* */
    float radius;          /* m; sphere, capsule, cylinder */
    float half_height;     /* m, along local y: of a cylinder, or of a capsule's cylindrical part */
    float half_extents[3]; /* m; of a box. Of a hull, mesh, height field or compound: a box about the body's origin that
                            * contains it. A plane is the half space below local y = 0 */
} orrery_shape;
/* `shape`: 0 to shape_count - 1 of the session. ORRERY_EMPTY: there is no such shape. ORRERY_WRONG_STATE: as for
 * orrery_client_get_session(). */
ORRERY_API orrery_status orrery_client_get_shape(const orrery_client* client, uint32_t shape, orrery_shape* out);

/* Types of bodies. */
enum { ORRERY_BODY_FIXED = 0, ORRERY_BODY_KINEMATIC = 1, ORRERY_BODY_DYNAMIC = 2 };
/* What can be known of a body, beside its motion. */
typedef struct orrery_body {
    uint32_t struct_size; /* set by the caller: sizeof of this struct */
    int32_t type;         /* ORRERY_BODY_*; FIXED is what scenes call static */
    uint32_t shape;       /* for orrery_client_get_shape(); ORRERY_NO_SHAPE: none */
    uint32_t slot;        /* slot of the player for whom the body was spawned, or ORRERY_NO_SLOT */
    const char* name;     /* in the scene; "" for a body without a name; of a spawned body see member_name */
    /* The template that the body was spawned from, and which of its bodies it is: numbers in the scene's order and
     * names; ORRERY_NO_TEMPLATE and "" if there is none. */
    uint32_t template_index;
    uint32_t member_index;
    const char* template_name;
    const char* member_name;
    const char* material_name; /* in the scene; "" for a material without a name */
    uint64_t user_data;        /* the number that the scene or the room's program gave the body */
} orrery_body;
/* ORRERY_EMPTY: there is no such body. */
ORRERY_API orrery_status orrery_client_get_body(const orrery_client* client, orrery_body_id id, orrery_body* out);

/* The body with the lowest index among those that were spawned for this player: normally the first body of the slot's
 * template (a vehicle's chassis). ORRERY_NO_BODY: there is none. */
ORRERY_API orrery_body_id orrery_client_own_body(const orrery_client* client);

/* Arrays of the caller, each with room for `capacity` bodies. Null arrays are not filled. Entry i of each array belongs
 * to the body ids[i]. */
typedef struct orrery_samples {
    uint32_t struct_size;      /* set by the caller: sizeof of this struct */
    uint32_t capacity;         /* in: bodies that fit into each array */
    uint32_t count;            /* out: bodies that were filled in */
    uint32_t available;        /* out: bodies with a known state */
    double tick;               /* out: the time that the states belong to, in ticks of the server, with a fraction */
    orrery_body_id* ids;       /* 1 for each body */
    float* positions;          /* 3 for each body: x, y, z of the centre of mass, m, world */
    float* orientations;       /* 4 for each body: x, y, z, w, body to world */
    float* linear_velocities;  /* 3 for each body: m/s, world */
    float* angular_velocities; /* 3 for each body: rad/s, world */
} orrery_samples;

/* Reads all bodies, static ones included, in order of index, at the time that the jitter buffer shows at `now_ns`:
 * between two snapshots by interpolation, after the newest one for a short time by its linear velocity. A body whose
 * first state has not arrived yet is left out. The network rounds positions by at most 1 mm on each axis, orientations
 * by 1.3 mrad. A mirror shows its own world, which is not rounded; with prediction, ahead of the server.
 * ORRERY_TOO_SMALL: `capacity` bodies were filled in, and there are `available`. ORRERY_WRONG_STATE: the key frame has
 * not arrived. */
ORRERY_API orrery_status orrery_client_sample(orrery_client* client, uint64_t now_ns, orrery_samples* samples);

/* ------------------------------------------------------------------------------------------ what there is to see */

/* The shapes of a scene, to be drawn in any mode. */
typedef struct orrery_scene orrery_scene;
/* Reads a scene, JSON (but not in WebAssembly) or binary (orrery_client_scene()); the bytes are not kept.
 * ORRERY_INVALID_ARGUMENT: a null pointer, or the scene has a fault. ORRERY_UNSUPPORTED: this build of the library does
 * not simulate. After a failure *scene is null. */
ORRERY_API orrery_status orrery_scene_open(const uint8_t* bytes, size_t size, orrery_scene** scene);
/* Frees a scene. Null is allowed. */
ORRERY_API void orrery_scene_close(orrery_scene* scene);
/* The number of its shapes. Their numbers, from 0, are those of orrery_body. */
ORRERY_API uint32_t orrery_scene_shape_count(const orrery_scene* scene);
/* As orrery_client_get_shape(). */
ORRERY_API orrery_status orrery_scene_get_shape(const orrery_scene* scene, uint32_t shape, orrery_shape* out);

/* A shape as triangles: arrays of the caller. Null arrays are not filled. Positions are in the frame of the body, so
 * that the position and orientation of a sample put them into the world: the frame's origin is the centre of mass. So
 * the points of a hull and the children of a compound stand elsewhere in it than in the scene file. */
typedef struct orrery_triangles {
    uint32_t struct_size;     /* set by the caller: sizeof of this struct */
    uint32_t vertex_capacity; /* in: vertices that fit into positions and normals */
    uint32_t index_capacity;  /* in: numbers that fit into indices */
    uint32_t vertex_count;    /* out: of the shape */
    uint32_t index_count;     /* out: of the shape; 3 for each triangle */
    uint32_t reserved;        /* 0 */
    float* positions;         /* 3 for each vertex: m, in the body's frame */
    float* normals; /* 3 for each vertex: unit; of meshes and height fields the mean of the triangles about a vertex */
    uint32_t* indices; /* of vertices, counter-clockwise as seen from outside; of meshes and height fields from the side
                        * that collides */
} orrery_triangles;
/* Spheres, capsules and cylinders have 24 sides. A hull has its faces, a compound the triangles of all its children, a
 * plane none. ORRERY_EMPTY: there is no such shape, or it needs more than 2,000,000 vertices. ORRERY_TOO_SMALL: the
 * counts were filled in, and nothing else; a call with larger arrays then makes nothing anew. */
ORRERY_API orrery_status orrery_scene_shape_triangles(orrery_scene* scene, uint32_t shape, orrery_triangles* triangles);

/* A child of a compound. */
typedef struct orrery_child {
    uint32_t struct_size; /* set by the caller: sizeof of this struct */
    uint32_t shape;       /* its shape, which is no compound */
    float
        position[3]; /* m, in the body's frame; that of the child's own frame, which for a hull is its centre of mass */
    float orientation[4]; /* x, y, z, w; child to body */
} orrery_child;
/* `child`: from 0; contacts and the scene have the same numbers. ORRERY_EMPTY: there is no such shape or child. */
ORRERY_API orrery_status orrery_scene_get_child(orrery_scene* scene, uint32_t shape, uint32_t child, orrery_child* out);

/* Contacts of the world of a mirror, in arrays of the caller. Null arrays are not filled. Those of a last step: of the
 * predicted tick with prediction. */
typedef struct orrery_contacts {
    uint32_t struct_size;   /* set by the caller: sizeof of this struct */
    uint32_t capacity;      /* in: contacts that fit into each array */
    uint32_t count;         /* out: contacts that were filled in */
    uint32_t available;     /* out: contacts that there are */
    orrery_body_id* bodies; /* 2 for each contact */
    uint32_t* parts;    /* 2 for each contact: the child of a compound; of a mesh or height field a triangle, with the
                         * highest bit for an edge of it; otherwise 0 */
    float* points;      /* 3 for each contact: the deepest point at the start of the step, m, world */
    float* normals;     /* 3 for each contact: unit, world, from the first body to the second */
    float* separations; /* m; negative: the bodies overlap */
    float* impulses;    /* N s, along the normal, in the whole step */
    uint8_t* touching;  /* 1: the bodies touch; 0: they are only near */
} orrery_contacts;
/* Of a body, in order of the other one; or of ORRERY_NO_BODY: those of all bodies that are awake, each once. The time
 * that it takes grows with the number of contacts of the whole world times that of the bodies that are asked for.
 * Points and normals of sleeping bodies are 0, and so are all after a state of the server until the next step.
 * ORRERY_WRONG_STATE: not a mirror, or its world is not there. ORRERY_EMPTY: there is no such body. ORRERY_TOO_SMALL:
 * `capacity` contacts were filled in. */
ORRERY_API orrery_status orrery_client_contacts(orrery_client* client, orrery_body_id body, orrery_contacts* contacts);

/* Joints of the world of a mirror, in arrays of the caller. Null arrays are not filled. The ball sockets and rods of
 * rigs (ropes, nets) are joints, too. */
typedef struct orrery_joints {
    uint32_t struct_size;   /* set by the caller: sizeof of this struct */
    uint32_t capacity;      /* in: joints that fit into each array */
    uint32_t count;         /* out: joints that were filled in */
    uint32_t available;     /* out: joints that there are */
    uint64_t* ids;          /* as the joint of an orrery_event */
    uint32_t* kinds;        /* for orrery_joint_kind_name() */
    orrery_body_id* bodies; /* 4 for each joint: A, B, C, D; ORRERY_NO_BODY: the world as A, or no such body */
    float* anchors;         /* 6 for each joint: the point of A, then that of B, m, world; of a kind without anchors the
                             * centres of the bodies */
    float* forces;          /* N, which it exerts; mean of the last step */
    float* torques;         /* N m, likewise */
} orrery_joints;
/* Of a body, or of ORRERY_NO_BODY: all. Statuses are those of orrery_client_contacts(). */
ORRERY_API orrery_status orrery_client_joints(orrery_client* client, orrery_body_id body, orrery_joints* joints);
/* The name that scenes give a kind of joint, for example "ball_socket". "": there is no such kind, or this build of the
 * library does not simulate. Never null; valid for ever. */
ORRERY_API const char* orrery_joint_kind_name(uint32_t kind);

/* All bodies of the world of a mirror, in order of index, in arrays of the caller. Null arrays are not filled. */
typedef struct orrery_marks {
    uint32_t struct_size; /* set by the caller: sizeof of this struct */
    uint32_t capacity;    /* in: bodies that fit into each array */
    uint32_t count;       /* out: bodies that were filled in */
    uint32_t available;   /* out: bodies that there are */
    orrery_body_id* ids;  /* 1 for each body */
    uint8_t* asleep;      /* 1 for each body: 1 or 0 */
    float* bounds; /* 6 for each body: the least x, y, z and the most of a box that contains it, m, world; of a body
                    * without a shape its position, of a plane 3e38 m in each direction */
} orrery_marks;
/* ORRERY_WRONG_STATE and ORRERY_TOO_SMALL: as orrery_client_contacts(). */
ORRERY_API orrery_status orrery_client_marks(orrery_client* client, orrery_marks* marks);

/* The state of a body, for an inspector. In mode SNAPSHOTS: the newest one that has arrived. Of a mirror: that of its
 * world, which with prediction is ahead of the server; smoothing is left out. */
typedef struct orrery_body_state {
    uint32_t struct_size;      /* set by the caller: sizeof of this struct */
    int32_t known;             /* 1: a mirror's, with all fields; 0: those from asleep to bounds_max are 0 */
    uint64_t tick;             /* that the state belongs to */
    double age_ticks;          /* by how much that is older than the newest snapshot; of a mirror 0 */
    float position[3];         /* m, world */
    float orientation[4];      /* x, y, z, w; body to world */
    float linear_velocity[3];  /* m/s, world */
    float angular_velocity[3]; /* rad/s, world */
    int32_t asleep;            /* 1 or 0 */
    int32_t sensor;            /* 1 or 0 */
    float mass_kg;             /* 0: not dynamic */
    float gravity_scale;       /* factor of gravity */
    float linear_damping;      /* 1/s */
    float angular_damping;     /* 1/s */
    uint32_t category;    /* bits: a body collides with another if the category of each shares one with the other's */
    uint32_t mask;        /* mask */
    orrery_body_id group; /* the first body that was made together with it; ORRERY_NO_BODY: it is of the scene */
    float bounds_min[3];  /* as the bounds of orrery_marks */
    float bounds_max[3];  /* likewise */
    /* Of a mirror: what the server has confirmed. With prediction only while orrery_client_set_confirmed() is on. */
    uint64_t confirmed_tick;        /* 0: not known, and then all below are 0 */
    float confirmed_position[3];    /* m, world, at that tick */
    float confirmed_orientation[4]; /* x, y, z, w; body to world */
    float error_mm;                 /* from there to where this tick was predicted before, mm */
    float error_deg;                /* the angle between the two, degrees */
    /* In mode SNAPSHOTS: what the body took of the snapshots that have arrived. Of a mirror 0, since it gets commands
     * and no bodies. The last second is that before the newest snapshot, but at most 128 ticks. */
    float bytes_last_second;      /* of its own bits, without what it shares with others, bytes */
    uint32_t updates_last_second; /* snapshots that had it */
    uint32_t snapshots_left_out;  /* that have arrived since its newest state did: it did not change, or others came
                                   * first */
    uint32_t baseline_age_ticks;  /* by how much the state that the newest one was coded against is older, at most
                                   * 65,535; 0: it was coded whole, or is of the key frame */
} orrery_body_state;
/* ORRERY_EMPTY: there is no such body, or its first state has not arrived. ORRERY_WRONG_STATE: as for
 * orrery_client_sample(). */
ORRERY_API orrery_status orrery_client_get_body_state(const orrery_client* client, orrery_body_id id,
                                                      orrery_body_state* out);

/* Whether a mirror with prediction keeps the bodies of each predicted tick, to show what the server has confirmed
 * beside what is predicted. 0, the default: it does not. ORRERY_WRONG_STATE: the mode is not ORRERY_MODE_MIRROR. */
ORRERY_API orrery_status orrery_client_set_confirmed(orrery_client* client, int32_t on);
/* As orrery_client_sample(), but of the last tick that the server has confirmed, and not between ticks: the bodies as
 * the server has them. ORRERY_WRONG_STATE: not a mirror, its world is not there, or it predicts and
 * orrery_client_set_confirmed() is off or has only just been turned on. */
ORRERY_API orrery_status orrery_client_sample_confirmed(orrery_client* client, orrery_samples* samples);

/* ------------------------------------------------------------------------------------------------- statistics */

/* Numbers of the present connection, or of the last one; bytes and datagrams are those since the client was created. 0
 * where nothing is known yet. */
typedef struct orrery_client_stats {
    uint32_t struct_size;           /* set by the caller: sizeof of this struct */
    uint32_t late_inputs;           /* controls that reached the server after their tick */
    double rtt_s;                   /* round-trip time, smoothed, s */
    double rtt_variation_s;         /* its variation, smoothed, s */
    double snapshot_loss;           /* share of snapshots that did not arrive, 0 to 1, since the start of the session */
    double delay_ticks;             /* delay that the jitter buffer aims at behind the newest snapshot, ticks */
    double input_slack_ticks;       /* time by which controls reach the server early, ticks */
    uint64_t snapshots_received;    /* arrived and were read, each counted once */
    uint64_t snapshots_lost;        /* did not arrive, or not yet */
    uint64_t snapshots_undecodable; /* arrived, but could not be read */
    uint64_t bytes_sent;            /* of datagrams, without UDP and IP headers; over a stream, of messages */
    uint64_t bytes_received;        /* likewise */
    uint64_t datagrams_sent;        /* UDP datagrams that left; over a stream, messages */
    uint64_t datagrams_received;    /* UDP datagrams that arrived; over a stream, messages */
    uint64_t newest_tick;           /* of the newest snapshot; before the first, of the key frame */
    uint64_t world_events_dropped;  /* world events that the server left out */
} orrery_client_stats;
/* Answers in every state. */
ORRERY_API orrery_status orrery_client_get_stats(const orrery_client* client, orrery_client_stats* stats);

/* Numbers of a mirror, of the present connection or the last one. A rollback is a return to the last confirmed tick;
 * its depth is the number of ticks that were stepped again. */
typedef struct orrery_mirror_stats {
    uint32_t struct_size;        /* set by the caller: sizeof of this struct */
    uint32_t last_depth;         /* of the last rollback, ticks */
    uint32_t max_depth;          /* the greatest, ticks */
    uint32_t cuts;               /* groups of bodies whose correction was too large to be smoothed */
    uint64_t confirmed_tick;     /* the last one that was stepped with the server's commands */
    uint64_t predicted_tick;     /* the last one that was stepped; 0 without prediction */
    uint64_t waiting_ticks;      /* whose commands have arrived, and that are not stepped yet */
    uint64_t hashes_compared;    /* ticks whose hash the server told, and that were compared with it */
    uint64_t divergences;        /* of these, those that were not equal */
    uint64_t states;             /* states of the world that the server sent: 1, and one for each divergence */
    uint64_t ticks_as_predicted; /* confirmed ticks that were predicted right */
    uint64_t rollbacks;          /* how often the world went back */
    uint64_t ticks_again;        /* ticks that were stepped again, in all rollbacks */
    uint64_t others_controls;    /* confirmed ticks in which another player's control changed */
    uint64_t own_controls;       /* confirmed ticks in which the server applied another control of this player than was
                                  * predicted: one that was late */
    uint64_t other_commands;     /* confirmed ticks with joins, leaves or commands of the room's program */
    double last_rollback_ms;     /* time that the last rollback took, ms; 0 without a clock, as the two below */
    double max_rollback_ms;      /* the longest, ms */
    double sum_rollback_ms;      /* all, ms */
    double last_correction_mm;   /* by which the last rollback moved the own body (orrery_client_own_body()), mm */
    double max_correction_mm;    /* the greatest, mm */
    double sum_correction_mm;    /* all, mm */
    uint64_t events_dropped;     /* events of the client's own world (orrery_client_set_mirror_events()) that were lost
                                  * because too many were not read */
} orrery_mirror_stats;
/* ORRERY_WRONG_STATE: the client's mode is not ORRERY_MODE_MIRROR. */
ORRERY_API orrery_status orrery_client_get_mirror_stats(const orrery_client* client, orrery_mirror_stats* stats);

/* Where the time of a world's steps goes, in sums since the clock was set. Ticks that are stepped again count, too. */
typedef struct orrery_step_times {
    uint32_t struct_size; /* set by the caller: sizeof of this struct */
    int32_t measured;     /* 1: a clock is set; 0: all below is 0 */
    uint64_t steps;       /* how many were measured */
    double collision_ms;  /* bounds of bodies, pairs, and contacts between them, ms */
    double solver_ms;     /* constraints and motion, but for rigs, ms */
    double rigs_ms;       /* ropes, nets, ragdolls and vehicles, which are solved as a whole, ms */
    double rest_ms;       /* commands, events and sleep, ms */
    double state_ms;      /* hashes, the states that are kept to go back to, and going back, ms */
} orrery_step_times;
/* Measures the steps of a mirror from now on, with a clock in nanoseconds: 6 readings a step, and some dozens with
 * rigs, which cost 1 to 3 % of the step. Null, the default: they are not measured. ORRERY_WRONG_STATE: the client's
 * mode is not ORRERY_MODE_MIRROR. */
ORRERY_API orrery_status orrery_client_set_step_clock(orrery_client* client, uint64_t (*clock)(void* user), void* user);
/* ORRERY_WRONG_STATE: likewise. */
ORRERY_API orrery_status orrery_client_get_step_times(const orrery_client* client, orrery_step_times* times);

/* ----------------------------------------------------------------------------------------------------- replays */

/* A player steps the world of a recording (a file that ends in .orr) with the recorded commands, without a server, and
 * compares the hash of each tick, and the whole state at each keyframe, with what was recorded. It needs no client.
 * Threads: as for clients.
 *
 *   orrery_player_open(bytes, size, &player, text, sizeof text);
 *   each frame: orrery_player_step(player, 1); orrery_player_sample(player, 1.0, &samples);
 *   orrery_player_get_verdict(player, &verdict); orrery_player_close(player);
 *
 * Opens a recording, before its first tick. The bytes are not copied: they stay as they are until
 * orrery_player_close(). Of a long file only the scene and the headers of the chunks are read here; a tick is checked
 * when it is stepped. `text`, which may be null, gets a reason of at most text_size bytes with the 0 at its end, "" for
 * none. ORRERY_UNREADABLE: not a recording, damaged at its start, or recorded by another engine version; `text` says
 * it. ORRERY_UNSUPPORTED: this build of the library does not simulate. After a failure *player is null. */
ORRERY_API orrery_status orrery_player_open(const uint8_t* bytes, size_t size, orrery_player** player, char* text,
                                            size_t text_size);
/* Frees a player. Null is allowed. */
ORRERY_API void orrery_player_close(orrery_player* player);

/* What a recording is, and where its player stands. */
typedef struct orrery_player_info {
    uint32_t struct_size;     /* set by the caller: sizeof of this struct */
    float tick_rate_hz;       /* ticks in a second */
    uint64_t first_tick;      /* 0: the scene as it is before the first step; above 0: the recording was cut */
    uint64_t last_tick;       /* of those that can be stepped: the last one before a damaged place */
    uint64_t tick;            /* that the world is at */
    uint32_t engine_version;  /* that recorded */
    uint32_t program_version; /* engine version of this library */
    int32_t complete;         /* 1: the recording was closed at its end; 0: the end is missing */
    uint32_t keyframes;       /* whole states in the file */
    uint64_t bytes;           /* size of the file */
    uint64_t start_unix_s;    /* when the recording began: seconds since 1970, UTC */
    uint64_t scene_hash;      /* of the recorded scene */
    uint32_t shape_count;     /* shapes that orrery_player_get_shape() gives */
    uint32_t body_count;      /* bodies that exist */
    const char* scene_name;   /* never null */
    const char* room;         /* that was recorded; never null */
} orrery_player_info;
/* Valid until orrery_player_close(), with the strings. */
ORRERY_API orrery_status orrery_player_get_info(const orrery_player* player, orrery_player_info* info);

/* Steps by so many ticks. ORRERY_EMPTY: the last tick was reached before; the verdict says whether by a damaged place.
 * After a difference it goes on with what the recording has. */
ORRERY_API orrery_status orrery_player_step(orrery_player* player, uint32_t ticks);
/* Goes to a tick, or to the last one: to the nearest state at or before it (a keyframe, one that the player has kept
 * in its 64 MiB, or the present one), and from there by at most `ticks_at_most` steps. ORRERY_EMPTY: it is on its way:
 * call again with the same tick. The state at a tick is the same on any way to it, unless the recording differs. */
ORRERY_API orrery_status orrery_player_seek(orrery_player* player, uint64_t tick, uint32_t ticks_at_most);
/* Reads on through the file by at most about so many bytes, from its start, and checks them without a simulation, so
 * that damage is found before the player is there. ORRERY_EMPTY: all was read, or up to the damage. */
ORRERY_API orrery_status orrery_player_check(orrery_player* player, size_t bytes);

/* What a player has found. */
enum {
    ORRERY_VERDICT_SAME_SO_FAR = 0, /* all that was stepped; not all was */
    ORRERY_VERDICT_SAME = 1,        /* all ticks and keyframes, and the recording is complete */
    ORRERY_VERDICT_END_MISSING = 2, /* all ticks and keyframes; the recording was cut off, or not closed */
    ORRERY_VERDICT_DIFFERS = 3,     /* a tick or a keyframe is another than was recorded */
    ORRERY_VERDICT_DAMAGED = 4      /* the file's bytes contradict each other; comes before DIFFERS */
};
/* The result so far; it does not depend on the order in which ticks were visited. */
typedef struct orrery_player_verdict {
    uint32_t struct_size;        /* set by the caller: sizeof of this struct */
    int32_t state;               /* ORRERY_VERDICT_* */
    uint64_t ticks_compared;     /* each counted once */
    uint64_t ticks_equal;        /* of these, those with the recorded hash each time */
    uint32_t keyframes_compared; /* with the state that was stepped to */
    uint32_t reserved;           /* 0 */
    uint64_t differs_at;         /* the first tick that differs, of those that were compared; 0: none */
    const char* part;            /* that differs there: a subsystem, "keyframe" or "root"; otherwise "" */
    uint64_t recorded_hash;      /* of this part; 0 for a keyframe */
    uint64_t found_hash;         /* likewise */
    uint64_t broken_at;     /* DAMAGED: the byte of the file; the end is missing: where it breaks off; otherwise 0 */
    uint64_t bytes_checked; /* by orrery_player_check() */
    const char* text;       /* in English; "" for SAME and SAME_SO_FAR of a complete recording */
} orrery_player_verdict;
/* Strings are valid until the next call with this player. */
ORRERY_API orrery_status orrery_player_get_verdict(orrery_player* player, orrery_player_verdict* verdict);

/* All bodies, as orrery_client_sample(): `part` of the way from the tick before to the present one, 0 to 1. After a
 * jump nothing lies between. */
ORRERY_API orrery_status orrery_player_sample(orrery_player* player, double part, orrery_samples* samples);
/* As orrery_client_get_body(), of the present tick. */
ORRERY_API orrery_status orrery_player_get_body(const orrery_player* player, orrery_body_id id, orrery_body* out);
/* As orrery_client_get_shape(). */
ORRERY_API orrery_status orrery_player_get_shape(const orrery_player* player, uint32_t shape, orrery_shape* out);
/* The recorded scene in its binary form; valid until orrery_player_close(). */
ORRERY_API orrery_status orrery_player_scene(const orrery_player* player, const uint8_t** bytes, size_t* size);
/* What there is to see at the present tick, as orrery_client_contacts(), _joints(), _marks() and _get_body_state(). */
ORRERY_API orrery_status orrery_player_contacts(orrery_player* player, orrery_body_id body, orrery_contacts* contacts);
ORRERY_API orrery_status orrery_player_joints(orrery_player* player, orrery_body_id body, orrery_joints* joints);
ORRERY_API orrery_status orrery_player_marks(orrery_player* player, orrery_marks* marks);
ORRERY_API orrery_status orrery_player_get_body_state(const orrery_player* player, orrery_body_id id,
                                                      orrery_body_state* out);
/* As orrery_client_set_step_clock() and orrery_client_get_step_times(). Jumps to a state are not measured. */
ORRERY_API orrery_status orrery_player_set_step_clock(orrery_player* player, uint64_t (*clock)(void* user), void* user);
ORRERY_API orrery_status orrery_player_get_step_times(const orrery_player* player, orrery_step_times* times);

#ifdef __cplusplus
}
#endif
#endif
