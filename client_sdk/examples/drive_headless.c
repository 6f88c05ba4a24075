/* The C interface in a page: joins a room by a token, drives straight for some seconds, says how far it came.
 *
 *   drive_headless TOKEN_FILE [SECONDS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "orrery/client.h"

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int read_token(const char *path, uint8_t token[ORRERY_TOKEN_BYTES]) {
    FILE *file = fopen(path, "rb");
    size_t size;
    if (!file) return 0;
    size = fread(token, 1, ORRERY_TOKEN_BYTES, file);
    fclose(file);
    return size == ORRERY_TOKEN_BYTES;
}

/* Where the own vehicle is shown now; 0 if it is not known yet. */
static int own_position(orrery_client *client, float out[3]) {
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

int main(int argc, char **argv) {
    const double seconds = argc > 2 ? atof(argv[2]) : 10.0;
    const float forward[] = {1.0f, 0.0f};
    const struct timespec frame = {0, 8000000};
    uint8_t token[ORRERY_TOKEN_BYTES];
    orrery_client *client = NULL;
    float start[3] = {0}, end[3] = {0};
    int have_start = 0;
    uint64_t give_up = now_ns() + (uint64_t)((seconds + 20.0) * 1e9), finish = 0;
    double distance;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: drive_headless TOKEN_FILE [SECONDS]   (orrery serve writes TOKEN_FILE at its start)\n");
        return 64;
    }
    if (!read_token(argv[1], token)) {
        fprintf(stderr, "%s: cannot be read, or is too short for a connect token; orrery serve writes one at its start\n", argv[1]);
        return 2;
    }
    if (orrery_client_create(NULL, &client) != ORRERY_OK ||
        orrery_client_connect(client, token, sizeof token, now_ns()) != ORRERY_OK) {
        fprintf(stderr, "%s is not a connect token\n", argv[1]);
        return 2;
    }
    while (now_ns() < give_up && (finish == 0 || now_ns() < finish)) {
        orrery_event event = {0};
        event.struct_size = sizeof event;
        orrery_client_set_control(client, forward, 2);
        orrery_client_poll(client, now_ns());
        while (orrery_client_next_event(client, &event) == ORRERY_OK) {
            if (event.kind != ORRERY_EVENT_DISCONNECTED) continue;
            fprintf(stderr, "disconnected: %s\n", event.text);
            orrery_client_destroy(client);
            return 1;
        }
        if (own_position(client, end) && !have_start) {
            have_start = 1;
            start[0] = end[0], start[1] = end[1], start[2] = end[2];
            finish = now_ns() + (uint64_t)(seconds * 1e9);
        }
        nanosleep(&frame, NULL);
    }
    orrery_client_disconnect(client, now_ns());
    orrery_client_destroy(client);
    if (!have_start) {
        fprintf(stderr, "no body of this player's own was seen: no answer, no free seat, or a seat that steers what stands in the scene\n");
        return 1;
    }
    distance = sqrt(pow(end[0] - start[0], 2) + pow(end[1] - start[1], 2) + pow(end[2] - start[2], 2));
    printf("start %.2f %.2f %.2f m, end %.2f %.2f %.2f m, distance %.2f m\n", start[0], start[1], start[2], end[0], end[1],
           end[2], distance);
    return distance > 5.0 ? 0 : 1;
}
