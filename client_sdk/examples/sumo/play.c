/* sumo_play [--auto] IP:PORT | TOKEN_FILE: a player of the game in a terminal. Keys: w a s d walk, space jumps, f
 * shoves with the star, q quits. --auto plays without keys. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "game.h"
#include "orrery/client.h"

enum { WIDTH = 48, HEIGHT = 24, CAPACITY = 256 };

static struct termios saved_terminal;
static int keys_on;
static volatile sig_atomic_t interrupted; /* by Ctrl-C: the terminal is set back first */

static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void keys_begin(void) {
    struct termios raw;
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved_terminal) != 0) return;
    raw = saved_terminal;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    keys_on = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void keys_end(void) {
    if (keys_on) tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
}

/* A value of the board as text; "" if there is none. */
static const char* board_text(orrery_client* client, const char* key, char out[32]) {
    const uint8_t* bytes = NULL;
    size_t size = 0;
    out[0] = 0;
    if (orrery_client_board_get(client, key, &bytes, &size) != ORRERY_OK || size >= 32) return out;
    memcpy(out, bytes, size);
    out[size] = 0;
    return out;
}

typedef struct {
    float own[3], ball[3];
    char map[HEIGHT][WIDTH + 1];
} view;

/* Where everything is now, and a map of it: O the ball, 1 and 2 the players, * the star. */
static void look(orrery_client* client, view* out) {
    static orrery_body_id ids[CAPACITY];
    static float positions[3 * CAPACITY];
    orrery_samples samples = {0};
    const orrery_body_id own = orrery_client_own_body(client);
    uint32_t i;
    int row, column;
    samples.struct_size = sizeof samples;
    samples.capacity = CAPACITY;
    samples.ids = ids;
    samples.positions = positions;
    for (row = 0; row < HEIGHT; ++row) {
        for (column = 0; column < WIDTH; ++column) {
            const double x = (column - WIDTH / 2) / 3.0, z = (row - HEIGHT / 2) / 1.5;
            out->map[row][column] = x * x + z * z < 49.0 ? '.' : ' ';
        }
        out->map[row][WIDTH] = 0;
    }
    if (orrery_client_sample(client, now_ns(), &samples) < 0) return;
    for (i = 0; i < samples.count; ++i) {
        const float* p = positions + 3 * i;
        orrery_body body = {0};
        char mark;
        body.struct_size = sizeof body;
        if (orrery_client_get_body(client, ids[i], &body) != ORRERY_OK) continue;
        if (strcmp(body.name, "ball") == 0)
            mark = 'O', memcpy(out->ball, p, sizeof out->ball);
        else if (strcmp(body.template_name, "star") == 0)
            mark = '*';
        else if (body.slot != ORRERY_NO_SLOT)
            mark = (char)('1' + body.slot);
        else
            continue;
        if (ids[i] == own) memcpy(out->own, p, sizeof out->own);
        column = (int)lround(p[0] * 3.0f) + WIDTH / 2, row = (int)lround(p[2] * 1.5f) + HEIGHT / 2;
        if (row >= 0 && row < HEIGHT && column >= 0 && column < WIDTH) out->map[row][column] = mark;
    }
}

static void draw(orrery_client* client, const view* seen, const char* said) {
    static int cleared;
    char phase[32], score[32], star[32];
    int row;
    printf(cleared++ ? "\033[H" : "\033[2J\033[H");
    for (row = 0; row < HEIGHT; ++row) printf("%s\033[K\n", seen->map[row]);
    printf("%s  score %s  star %s  %s\033[K\n", board_text(client, SUMO_PHASE, phase),
           board_text(client, SUMO_SCORE, score), board_text(client, SUMO_STAR, star), said);
    fflush(stdout);
}

/* Sets `control` by the keys that are waiting; 0 to quit. A jump lasts a few ticks, so that one of them sees it. */
static int read_keys(orrery_client* client, float control[3]) {
    static int jump_frames;
    char key;
    control[2] = jump_frames > 0 ? 1.0f : 0.0f;
    if (jump_frames > 0) --jump_frames;
    while (keys_on && read(STDIN_FILENO, &key, 1) == 1) {
        if (key == 'q') return 0;
        if (key == 'f') orrery_client_send(client, SUMO_SHOVE, NULL, 0, 1);
        if (key == ' ') jump_frames = 4;
        if (key == 'a' || key == 'd') control[0] = key == 'd' ? 1.0f : -1.0f, control[1] = 0.0f;
        if (key == 'w' || key == 's') control[1] = key == 's' ? 1.0f : -1.0f, control[0] = 0.0f;
        if (key == 'x') control[0] = control[1] = 0.0f;
    }
    return 1;
}

/* Runs at the ball, and shoves when it has the star. */
static void play_alone(orrery_client* client, uint32_t slot, const view* seen, float control[3]) {
    char star[32];
    const float x = seen->ball[0] - seen->own[0], z = seen->ball[2] - seen->own[2];
    const float far_off = (float)fmax(0.1, sqrt(x * x + z * z));
    control[0] = x / far_off;
    control[1] = z / far_off;
    board_text(client, SUMO_STAR, star);
    if (star[0] == (char)('0' + slot) && star[1] == 0) orrery_client_send(client, SUMO_SHOVE, NULL, 0, 1);
}

static orrery_status connect_to(orrery_client* client, const char* where) {
    uint8_t token[ORRERY_TOKEN_BYTES];
    size_t size;
    FILE* file = fopen(where, "rb");
    if (!file) return orrery_client_connect_insecure(client, where, now_ns());
    size = fread(token, 1, sizeof token, file);
    fclose(file);
    return orrery_client_connect(client, token, size, now_ns());
}

static int play(orrery_client* client, int alone) {
    const struct timespec frame = {0, 15000000};
    char said[200] = "";
    float control[3] = {0.0f, 0.0f, 0.0f};
    uint64_t drawn = 0;
    view seen;
    memset(&seen, 0, sizeof seen);
    while (!interrupted) {
        orrery_event event = {0};
        orrery_session session = {0};
        event.struct_size = sizeof event;
        session.struct_size = sizeof session;
        orrery_client_poll(client, now_ns());
        while (orrery_client_next_event(client, &event) == ORRERY_OK) {
            if (event.kind == ORRERY_EVENT_DISCONNECTED) {
                printf("\nthe end: %s\n", event.text);
                return event.end_reason == ORRERY_END_SERVER_STOPPED ? 0 : 1;
            }
            if (event.kind == ORRERY_EVENT_MESSAGE && event.message_type == SUMO_SAYS) {
                snprintf(said, sizeof said, "%.*s", (int)event.size, (const char*)event.bytes);
                if (alone) printf("tick %llu: %s\n", (unsigned long long)event.tick, said);
            }
            if (event.kind == ORRERY_EVENT_BOARD && alone && event.removed)
                printf("board %s is gone\n", event.text);
            else if (event.kind == ORRERY_EVENT_BOARD && alone)
                printf("board %s = %.*s\n", event.text, (int)event.size, (const char*)event.bytes);
        }
        if (orrery_client_get_state(client) == ORRERY_STATE_PLAYING) {
            orrery_client_get_session(client, &session);
            look(client, &seen);
            if (alone) play_alone(client, session.slot, &seen, control);
            if (session.slot == ORRERY_NO_SLOT && said[0] == 0)
                snprintf(said, sizeof said, "you watch: no seat, or a spectator's token");
            orrery_client_set_control(client, control, 3);
            if (!alone && now_ns() - drawn > 50000000u) drawn = now_ns(), draw(client, &seen, said);
        }
        if (!alone && !read_keys(client, control)) return 0;
        nanosleep(&frame, NULL);
    }
    return 0;
}

int main(int argc, char** argv) {
    const int alone = argc > 2 && strcmp(argv[1], "--auto") == 0;
    orrery_client* client = NULL;
    int result;
    if (argc != 2 + alone || argv[1 + alone][0] == '-') {
        fprintf(stderr, "usage: sumo_play [--auto] IP:PORT | TOKEN_FILE\n");
        return 64;
    }
    signal(SIGINT, interrupt);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (orrery_client_create(NULL, &client) != ORRERY_OK || connect_to(client, argv[1 + alone]) != ORRERY_OK) {
        fprintf(stderr, "%s is no token file, and no IP address and port of a server\n", argv[1 + alone]);
        orrery_client_destroy(client);
        return 2;
    }
    if (!alone) keys_begin(), printf("connecting to %s\n", argv[1]);
    result = play(client, alone);
    keys_end();
    orrery_client_disconnect(client, now_ns());
    orrery_client_destroy(client);
    return result;
}
