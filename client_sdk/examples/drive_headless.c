/* The C interface in two pages: joins a room by a token and drives straight for some seconds, or watches it.
 *
 *   drive_headless [--watch] TOKEN_FILE [SECONDS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "orrery/client.h"

static const double key_frame_timeout_s = 150.0; /* the server ends a join after 120 s, and says why */
static const double silence_timeout_s = 10.0;    /* between snapshots */

static const char usage[] =
    "usage: drive_headless [--watch] TOKEN_FILE [SECONDS]   (orrery serve writes TOKEN_FILE when it starts)\n"
    "  drives straight ahead for SECONDS (default 10) and prints the distance\n"
    "  --watch  sends no controls, needs no slot, and prints lines of key=value: one each second, and\n"
    "             key_frame  when it is complete: seconds since connecting, its tick, bodies, bytes\n"
    "             watched    after SECONDS of snapshots: bodies, snapshots, bytes per second (mean, and of the "
    "largest\n"
    "                        whole second), ticks of the first and the last snapshot\n"
    "           These seconds are the server's: the ticks that it steps in a second at its rate. wall_s is real\n"
    "           time. Bytes are those of datagrams, without UDP and IP headers.\n"
    "exit codes: 0 success (drove more than 5 m; --watch: key frame and snapshots came), 1 failure; 2 no usable\n"
    "token; 64 usage\n";

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double seconds_since(uint64_t then_ns) { return (double)(now_ns() - then_ns) * 1e-9; }

static void wait_a_frame(void) {
    const struct timespec frame = {0, 8000000};
    nanosleep(&frame, NULL);
}

static int read_token(const char* path, uint8_t token[ORRERY_TOKEN_BYTES]) {
    FILE* file = fopen(path, "rb");
    size_t size;
    if (!file) return 0;
    size = fread(token, 1, ORRERY_TOKEN_BYTES, file);
    fclose(file);
    return size == ORRERY_TOKEN_BYTES;
}

/* Receives, answers, sends. 0 if the connection has ended. `connected` becomes that event when it comes. */
static int poll_client(orrery_client* client, orrery_event* connected) {
    orrery_event event = {0};
    event.struct_size = sizeof event;
    orrery_client_poll(client, now_ns());
    while (orrery_client_next_event(client, &event) == ORRERY_OK) {
        if (event.kind == ORRERY_EVENT_CONNECTED) *connected = event;
        if (event.kind != ORRERY_EVENT_DISCONNECTED) continue;
        fprintf(stderr, "disconnected: %s\n", event.text);
        return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------------------------------------------- driving */

/* Where the own vehicle is shown now; 0 if it is not known yet. */
static int own_position(orrery_client* client, float out[3]) {
    enum { CAPACITY = 4096 };
    static orrery_body_id ids[CAPACITY];
    static float positions[3 * CAPACITY];
    orrery_samples samples = {0};
    const orrery_body_id own = orrery_client_own_body(client);
    uint32_t i;
    samples.struct_size = sizeof samples;
    samples.capacity = CAPACITY;
    samples.ids = ids;
    samples.positions = positions;
    if (own == ORRERY_NO_BODY || orrery_client_sample(client, now_ns(), &samples) < 0) return 0;
    for (i = 0; i < samples.count; ++i) {
        if (ids[i] != own) continue;
        out[0] = positions[3 * i];
        out[1] = positions[3 * i + 1];
        out[2] = positions[3 * i + 2];
        return 1;
    }
    return 0;
}

static int drive(orrery_client* client, double seconds) {
    const float forward[] = {1.0f, 0.0f};
    orrery_event connected = {0};
    float start[3] = {0}, end[3] = {0};
    int have_start = 0;
    uint64_t give_up = now_ns() + (uint64_t)((seconds + 20.0) * 1e9), finish = 0;
    double distance;

    while (now_ns() < give_up && (finish == 0 || now_ns() < finish)) {
        orrery_client_set_control(client, forward, 2);
        if (!poll_client(client, &connected)) return 1;
        if (own_position(client, end) && !have_start) {
            have_start = 1;
            start[0] = end[0], start[1] = end[1], start[2] = end[2];
            finish = now_ns() + (uint64_t)(seconds * 1e9);
        }
        wait_a_frame();
    }
    if (!have_start) {
        fprintf(stderr,
                "this player has no body of its own: no answer, no free slot (--watch needs none), or a slot that "
                "controls bodies of the scene\n");
        return 1;
    }
    distance = sqrt(pow(end[0] - start[0], 2) + pow(end[1] - start[1], 2) + pow(end[2] - start[2], 2));
    printf("start %.2f %.2f %.2f m, end %.2f %.2f %.2f m, distance %.2f m\n", start[0], start[1], start[2], end[0],
           end[1], end[2], distance);
    return distance > 5.0 ? 0 : 1;
}

/* --------------------------------------------------------------------------------------------------- watching */

static orrery_client_stats stats_of(const orrery_client* client) {
    orrery_client_stats stats = {0};
    stats.struct_size = sizeof stats;
    orrery_client_get_stats(client, &stats);
    return stats;
}

static orrery_session session_of(const orrery_client* client) {
    orrery_session session = {0};
    session.struct_size = sizeof session;
    orrery_client_get_session(client, &session);
    return session;
}

/* 0 if it did not come. */
static int await_key_frame(orrery_client* client, uint64_t begun) {
    orrery_event connected = {0};
    uint64_t told = begun;
    while (poll_client(client, &connected)) {
        const unsigned long long bytes = stats_of(client).bytes_received;
        if (connected.kind == ORRERY_EVENT_CONNECTED) {
            const orrery_session session = session_of(client);
            printf("key_frame seconds=%.3f tick=%llu bodies=%u bytes=%llu\n", seconds_since(begun),
                   (unsigned long long)connected.tick, session.body_count, bytes);
            fflush(stdout);
            if (session.slot != ORRERY_NO_SLOT)
                fprintf(stderr, "the room gave its free slot %u, which gets no controls\n", session.slot);
            return 1;
        }
        if (seconds_since(begun) > key_frame_timeout_s) {
            fprintf(stderr, "no key frame within %.0f s of connecting\n", key_frame_timeout_s);
            return 0;
        }
        if (seconds_since(told) >= 1.0) {
            told = now_ns();
            printf("joining seconds=%.0f bodies=%u bytes=%llu\n", seconds_since(begun), session_of(client).body_count,
                   bytes);
            fflush(stdout);
        }
        wait_a_frame();
    }
    return 0;
}

/* Bytes a second of the server between two moments at which a snapshot was the newest. */
static double bytes_per_s(const orrery_client_stats* from, const orrery_client_stats* to, double tick_rate_hz) {
    const uint64_t ticks = to->newest_tick - from->newest_tick;
    return ticks == 0 ? 0.0 : (double)(to->bytes_received - from->bytes_received) * tick_rate_hz / (double)ticks;
}

static int watch(orrery_client* client, double seconds, uint64_t begun) {
    orrery_event connected = {0};
    orrery_client_stats first, second, now; /* `second`: where the current one began */
    double rate_hz, largest = 0.0;
    uint64_t first_ns, last_ns;
    int going = 1, silent = 0;

    if (!await_key_frame(client, begun)) return 1;
    rate_hz = session_of(client).tick_rate_hz;
    now = first = second = stats_of(client);
    first_ns = last_ns = now_ns();
    while (going && !silent && (double)(now.newest_tick - first.newest_tick) < seconds * rate_hz) {
        const uint64_t received = now.snapshots_received;
        wait_a_frame();
        going = poll_client(client, &connected);
        now = stats_of(client);
        if (now.snapshots_received != received) last_ns = now_ns();
        silent = seconds_since(last_ns) > silence_timeout_s;
        if (first.snapshots_received == 0 && now.snapshots_received != 0) {
            first = second = now;
            first_ns = last_ns;
        }
        if ((double)(now.newest_tick - second.newest_tick) < rate_hz || first.snapshots_received == 0) continue;
        if (bytes_per_s(&second, &now, rate_hz) > largest) largest = bytes_per_s(&second, &now, rate_hz);
        printf("watching tick=%llu snapshots=%llu bytes_per_s=%.0f\n", (unsigned long long)now.newest_tick,
               (unsigned long long)now.snapshots_received, bytes_per_s(&second, &now, rate_hz));
        fflush(stdout);
        second = now;
    }
    if (bytes_per_s(&first, &now, rate_hz) > largest)
        largest = bytes_per_s(&first, &now, rate_hz); /* its last second was cut short */
    if (silent) fprintf(stderr, "no snapshot for %.0f s\n", silence_timeout_s);
    printf(
        "watched wall_s=%.1f bodies=%u snapshots=%llu snapshots_lost=%llu bytes_per_s=%.0f bytes_per_s_max=%.0f "
        "first_tick=%llu last_tick=%llu\n",
        seconds_since(first_ns), session_of(client).body_count, (unsigned long long)now.snapshots_received,
        (unsigned long long)now.snapshots_lost, bytes_per_s(&first, &now, rate_hz), largest,
        (unsigned long long)first.newest_tick, (unsigned long long)now.newest_tick);
    return going && !silent ? 0 : 1;
}

/* ------------------------------------------------------------------------------------------------------- main */

int main(int argc, char** argv) {
    const int watches = argc > 1 && strcmp(argv[1], "--watch") == 0;
    const int first = watches ? 2 : 1;
    const char* path;
    double seconds = 10.0;
    uint8_t token[ORRERY_TOKEN_BYTES];
    orrery_client* client = NULL;
    uint64_t begun;
    int result;

    if (argc > first && (strcmp(argv[first], "--help") == 0 || strcmp(argv[first], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc <= first || argc > first + 2 || argv[first][0] == '-') {
        fputs(usage, stderr);
        return 64;
    }
    if (argc > first + 1) {
        char* end = NULL;
        seconds = strtod(argv[first + 1], &end);
        if (*end != 0 || !(seconds > 0.0 && seconds < 1e6)) {
            fprintf(stderr, "%s is not a number of seconds from 0 to 1000000\n%s", argv[first + 1], usage);
            return 64;
        }
    }
    path = argv[first];
    if (!read_token(path, token)) {
        fprintf(stderr,
                "%s: cannot be read, or is too short for a connect token; orrery serve writes one when it starts\n",
                path);
        return 2;
    }
    begun = now_ns();
    if (orrery_client_create(NULL, &client) != ORRERY_OK ||
        orrery_client_connect(client, token, sizeof token, begun) != ORRERY_OK) {
        fprintf(stderr, "%s is not a connect token\n", path);
        return 2;
    }
    result = watches ? watch(client, seconds, begun) : drive(client, seconds);
    orrery_client_disconnect(client, now_ns());
    orrery_client_destroy(client);
    return result;
}
