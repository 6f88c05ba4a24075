/* client_31 TOKEN: a program that was built with the header of engine version 31 (tests/data/client_31.h) plays for two
 * seconds by the shared library of today. Every struct that the library fills is followed by bytes that it must leave.
 */
#include <orrery/client.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define GUARDED(type)             \
    struct {                      \
        type it;                  \
        unsigned char guard[256]; \
    }
#define PREPARE(s) \
    (memset(&(s), 0xa5, sizeof(s)), memset(&(s).it, 0, sizeof((s).it)), (s).it.struct_size = sizeof((s).it))
#define EXPECT(condition)                                           \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            return 1;                                               \
        }                                                           \
    } while (0)

_Static_assert(sizeof(void*) != 8 || (sizeof(orrery_client_config) == 88 && sizeof(orrery_event) == 40),
               "the header is another one than version 31's");

static int untouched(const unsigned char guard[256]) {
    for (int i = 0; i < 256; ++i) {
        if (guard[i] != 0xa5) return 0;
    }
    return 1;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char** argv) {
    uint8_t token[ORRERY_TOKEN_BYTES];
    FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(token, 1, sizeof token, file) != sizeof token) return 2;
    fclose(file);

    GUARDED(orrery_client_config) config;
    GUARDED(orrery_event) event;
    GUARDED(orrery_session) session;
    GUARDED(orrery_body) body;
    GUARDED(orrery_shape) shape;
    GUARDED(orrery_samples) samples;
    GUARDED(orrery_client_stats) stats;
    PREPARE(config);
    orrery_client_config_init(&config.it);
    EXPECT(config.it.struct_size == sizeof config.it && untouched(config.guard));
    orrery_client* client = NULL;
    EXPECT(orrery_client_create(&config.it, &client) == ORRERY_OK);
    EXPECT(orrery_client_connect(client, token, sizeof token, now_ns()) == ORRERY_OK);

    const float controls[1] = {1.0f};
    static orrery_body_id ids[4096];
    static float positions[3 * 4096];
    int connected = 0, added = 0;
    uint32_t shown = 0;
    const uint64_t start = now_ns();
    uint64_t playing_since = 0;
    while (now_ns() - start < 20000000000u && (!playing_since || now_ns() - playing_since < 2000000000u)) {
        EXPECT(orrery_client_set_control(client, controls, 1) == ORRERY_OK);
        EXPECT(orrery_client_poll(client, now_ns()) == ORRERY_OK);
        for (PREPARE(event); orrery_client_next_event(client, &event.it) == ORRERY_OK; PREPARE(event)) {
            EXPECT(untouched(event.guard));
            EXPECT(event.it.kind != ORRERY_EVENT_DISCONNECTED);
            connected += event.it.kind == ORRERY_EVENT_CONNECTED;
            added += event.it.kind == ORRERY_EVENT_BODY_ADDED;
        }
        if (orrery_client_get_state(client) == ORRERY_STATE_PLAYING) {
            if (!playing_since) playing_since = now_ns();
            PREPARE(samples);
            samples.it.capacity = 4096;
            samples.it.ids = ids;
            samples.it.positions = positions;
            EXPECT(orrery_client_sample(client, now_ns(), &samples.it) == ORRERY_OK);
            EXPECT(untouched(samples.guard));
            shown = samples.it.count;
        }
        nanosleep(&(struct timespec){.tv_nsec = 8000000}, NULL);
    }
    EXPECT(connected == 1 && added > 50 && shown > 50);

    PREPARE(session);
    EXPECT(orrery_client_get_session(client, &session.it) == ORRERY_OK && untouched(session.guard));
    EXPECT(session.it.tick_rate_hz == 60.0f && session.it.slot == 0 && strcmp(session.it.scene_name, "yard") == 0);
    PREPARE(body);
    EXPECT(orrery_client_get_body(client, orrery_client_own_body(client), &body.it) == ORRERY_OK);
    EXPECT(untouched(body.guard) && body.it.slot == 0 && body.it.type == ORRERY_BODY_DYNAMIC);
    PREPARE(shape);
    EXPECT(orrery_client_get_shape(client, body.it.shape, &shape.it) == ORRERY_OK && untouched(shape.guard));
    EXPECT(shape.it.type == ORRERY_SHAPE_BOX && shape.it.half_extents[0] > 0.0f);
    PREPARE(stats);
    EXPECT(orrery_client_get_stats(client, &stats.it) == ORRERY_OK && untouched(stats.guard));
    EXPECT(stats.it.snapshots_received > 60 && stats.it.bytes_received > 1000 && stats.it.newest_tick > 60);

    EXPECT(orrery_client_disconnect(client, now_ns()) == ORRERY_OK);
    int ends = 0;
    for (PREPARE(event); orrery_client_next_event(client, &event.it) == ORRERY_OK; PREPARE(event)) {
        ends += event.it.kind == ORRERY_EVENT_DISCONNECTED && strcmp(event.it.text, "this client disconnected") == 0;
        EXPECT(untouched(event.guard));
    }
    EXPECT(ends == 1);
    orrery_client_destroy(client);
    printf("%d bodies were added, %u shown, %llu snapshots\n", added, shown,
           (unsigned long long)stats.it.snapshots_received);
    return 0;
}
