/* Plays what a client over a stream was given (a file of operations), and writes all that it gives: events, messages and
 * samples. The npm package's test plays the same file in WebAssembly and compares the bytes.
 *
 *   stream_replay OPERATIONS RESULTS
 *
 * Operation: u8 kind, u64 now_ns, u32 size, bytes. Kinds: 0 connect (token), 1 opened, 2 received (message), 3 poll,
 * 4 sample, 5 control (floats). Result: u8 'E': kind i32, tick u64, body u64; 'M': size u32, bytes; 'S': status i32, count
 * u32, tick f64, then ids, positions, orientations, linear and angular velocities. Little endian. */
#include <orrery/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxBodies = 65536, kMaxOperation = 1 << 16 };

static FILE *results;
static uint8_t bytes[kMaxOperation];
static orrery_body_id ids[kMaxBodies];
static float positions[3 * kMaxBodies], orientations[4 * kMaxBodies], linear[3 * kMaxBodies], angular[3 * kMaxBodies];

static void put(const void *data, size_t size) {
    if (size > 0 && fwrite(data, size, 1, results) != 1) exit(2);
}

static void tell(orrery_client *client) {
    orrery_event event;
    const uint8_t *message;
    size_t size;
    memset(&event, 0, sizeof event);
    event.struct_size = sizeof event;
    while (orrery_client_next_event(client, &event) == ORRERY_OK) {
        put("E", 1);
        put(&event.kind, 4);
        put(&event.tick, 8);
        put(&event.body, 8);
    }
    while (orrery_client_stream_next(client, &message, &size) == ORRERY_OK) {
        const uint32_t length = (uint32_t)size;
        put("M", 1);
        put(&length, 4);
        put(message, size);
    }
}

static void sample(orrery_client *client, uint64_t now) {
    orrery_samples samples;
    memset(&samples, 0, sizeof samples);
    samples.struct_size = sizeof samples;
    samples.capacity = kMaxBodies;
    samples.ids = ids;
    samples.positions = positions;
    samples.orientations = orientations;
    samples.linear_velocities = linear;
    samples.angular_velocities = angular;
    const orrery_status status = orrery_client_sample(client, now, &samples);
    const size_t n = samples.count;
    put("S", 1);
    put(&status, 4);
    put(&samples.count, 4);
    put(&samples.tick, 8);
    put(ids, 8 * n);
    put(positions, 12 * n);
    put(orientations, 16 * n);
    put(linear, 12 * n);
    put(angular, 12 * n);
}

int main(int argc, char **argv) {
    FILE *operations = argc == 3 ? fopen(argv[1], "rb") : NULL;
    results = operations ? fopen(argv[2], "wb") : NULL;
    orrery_client *client;
    uint8_t head[13];
    if (!results || orrery_client_create_stream(NULL, &client) != ORRERY_OK) return 2;
    while (fread(head, sizeof head, 1, operations) == 1) {
        uint64_t now;
        uint32_t size;
        memcpy(&now, head + 1, 8);
        memcpy(&size, head + 9, 4);
        if (size > sizeof bytes || (size > 0 && fread(bytes, size, 1, operations) != 1)) return 2;
        switch (head[0]) {
            case 0:
                if (orrery_client_connect(client, bytes, size, now) != ORRERY_OK) return 2;
                break;
            case 1:
                orrery_client_stream_opened(client, now);
                break;
            case 2:
                orrery_client_stream_received(client, bytes, size, now);
                break;
            case 3:
                orrery_client_poll(client, now);
                break;
            case 4:
                sample(client, now);
                break;
            case 5:
                orrery_client_set_control(client, (const float *)(const void *)bytes, size / 4);
                break;
            default:
                return 2;
        }
        tell(client);
    }
    orrery_client_destroy(client);
    return fclose(results) == 0 ? 0 : 2;
}
