// Drives a vehicle of a room: by hand on a terminal, or by itself with --auto.
//
//   orrery_drive --token FILE [--auto --seconds N]
//   orrery_drive --server ADDR:PORT ...      a server that was started with --insecure mints the token
//   orrery_drive --predict ...               simulates the room by itself, ahead of a server with --allow-mirror
//
// Channel 0 is the throttle, channel 1 the steering: what the yard's vehicles expect.
// Exit codes: 0 good (with --auto: the vehicle moved more than 5 m); 1 it did not, or the connection was lost or
// refused; 2 no usable token; 64 usage.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client_sdk/examples/picture.h"
#include "client_sdk/examples/terminal.h"
#include "orrery/client.hpp"

namespace {

using orrery::client::Client;
using orrery::client::Event;
using orrery::client::Samples;
using orrery::drive::Terminal;

constexpr double kMinDistance_m = 5.0;
constexpr double kConnectTimeout_s = 20.0;  // a token's own timeout of 15 s ends with the causes that there may be
constexpr double kJoinTimeout_s = 120.0;    // a large scene's bodies take a while to arrive
constexpr double kOwnBodyTimeout_s = 5.0;   // of a seat that gets a vehicle: it is spawned when the player joins
constexpr double kKeyHold_s = 0.25;         // terminals report key presses, not releases: a press holds this long
constexpr auto kFrame = std::chrono::milliseconds(8);

struct Options {
    std::string token = "build/replays/connect.token", server;
    bool automatic = false;
    bool mirror = false, predict = false;
    double seconds = 0.0;  // 0: until the user leaves
};

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

double seconds_since(std::uint64_t start_ns) { return static_cast<double>(now_ns() - start_ns) * 1e-9; }

void print_usage(std::FILE* to) {
    std::fprintf(
        to,
        "usage: orrery_drive [--token FILE | --server ADDR:PORT] [--auto] [--mirror | --predict] [--seconds "
        "N]\n"
        "  --token FILE        connect token (default: build/replays/connect.token, which `orrery serve` writes)\n"
        "  --server ADDR:PORT  get a token from a server that runs with --insecure\n"
        "  --auto              drive straight ahead; without it: W A S D on the terminal, space for the third channel "
        "(brakes or\n"
        "                      jumps), X to let go, Q to leave\n"
        "  --mirror            simulate the room here, with the commands of a server that runs with --allow-mirror\n"
        "  --predict           the same, ahead of the server, so that controls act at once\n"
        "  --seconds N         time to drive (default with --auto: 10)\n"
        "exit codes: 0 success (--auto: moved more than 5 m), 1 no such motion or no connection, 2 no usable token, 64 "
        "usage\n");
}

// Says what is wrong where there are none.
std::optional<Options> parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const bool has_value = i + 1 < argc;
        if (argument == "--token" && has_value)
            options.token = argv[++i];
        else if (argument == "--server" && has_value)
            options.server = argv[++i];
        else if (argument == "--auto")
            options.automatic = true;
        else if (argument == "--mirror")
            options.mirror = true;
        else if (argument == "--predict")
            options.mirror = options.predict = true;
        else if (argument == "--seconds" && has_value) {
            char* end = nullptr;
            options.seconds = std::strtod(argv[++i], &end);
            if (*end != 0 || !(options.seconds > 0.0 && options.seconds < 1e6)) {
                std::fprintf(stderr, "orrery_drive: --seconds: %s is not a number of seconds from 0 to 1000000\n",
                             argv[i]);
                return std::nullopt;
            }
        } else {
            const bool known = argument == "--token" || argument == "--server" || argument == "--seconds";
            std::fprintf(stderr, "orrery_drive: %s: %s\n", argument.c_str(),
                         known ? "a value is missing" : "is not an option");
            return std::nullopt;
        }
    }
    if (options.automatic && options.seconds == 0.0) options.seconds = 10.0;
    return options;
}

// Where one player's vehicle is, and how it has moved.
struct Track {
    bool known = false;
    std::array<float, 3> start{}, position{}, velocity{};
    double distance_m() const {
        double sum = 0.0;
        for (std::size_t i = 0; i < 3; ++i) sum += (position[i] - start[i]) * (position[i] - start[i]);
        return std::sqrt(sum);
    }
    double speed_mps() const {
        return std::sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
    }
    void update(const Samples& samples, orrery_body_id own) {
        for (std::size_t i = 0; i < samples.ids.size(); ++i) {
            if (samples.ids[i] != own) continue;
            position = samples.positions[i];
            velocity = samples.linear_velocities[i];
            if (!known) start = position;
            known = true;
        }
    }
};

class Drive {
  public:
    Drive(Client client, const Options& options) : client_(std::move(client)), options_(options) {}

    bool connect() {
        if (options_.mirror) client_.set_mode(ORRERY_MODE_MIRROR);
        if (options_.predict) {
            orrery_prediction prediction{};
            prediction.struct_size = sizeof prediction;
            prediction.on = 1;
            prediction.clock = [](void*) { return now_ns(); };
            client_.set_prediction(prediction);
        }
        if (!options_.server.empty()) {
            if (client_.connect_insecure(options_.server, now_ns()) == ORRERY_OK) return true;
            std::fprintf(stderr, "orrery_drive: %s is not an address like 127.0.0.1:7770\n", options_.server.c_str());
            return false;
        }
        std::ifstream file(options_.token, std::ios::binary);
        const std::vector<std::uint8_t> token{std::istreambuf_iterator<char>(file), {}};
        if (!file.is_open()) {
            std::fprintf(stderr,
                         "orrery_drive: %s: cannot be read; start a server, which writes it, or name another file with "
                         "--token\n",
                         options_.token.c_str());
            return false;
        }
        if (client_.connect(token, now_ns()) == ORRERY_OK) return true;
        std::fprintf(stderr, "orrery_drive: %s: is not a connect token\n", options_.token.c_str());
        return false;
    }

    int run() {
        std::optional<Terminal> terminal;
        if (!options_.automatic)
            terminal.emplace();
        else
            Terminal::watch_signals();
        const std::uint64_t begun = now_ns();
        std::uint64_t driving_since = 0, playing_since = 0;
        while (!Terminal::stop_requested() && lost_.empty() && !leave_) {
            const bool joining = client_.state() == ORRERY_STATE_JOINING;
            if (!playing() && !joining && seconds_since(begun) > kConnectTimeout_s)
                lost_ = "no answer in 20 s from " + whom();
            if (joining && seconds_since(begun) > kJoinTimeout_s) lost_ = "the scene did not arrive in 120 s";
            if (options_.automatic && watching())
                lost_ =
                    "the room has no free slot, and --auto needs a vehicle; to watch, leave out --auto, or use "
                    "drive_headless --watch";
            if (playing() && playing_since == 0) playing_since = now_ns();
            if (options_.automatic && !track_.known && playing_since != 0 &&
                seconds_since(playing_since) > kOwnBodyTimeout_s)
                lost_ =
                    "this slot has no body of its own that --auto can measure: it controls bodies of the scene; leave "
                    "out --auto";
            if ((track_.known || (playing() && !options_.automatic)) && driving_since == 0) driving_since = now_ns();
            if (driving_since != 0 && options_.seconds > 0.0 && seconds_since(driving_since) >= options_.seconds) break;
            if (terminal) steer(terminal->keys());
            const float forward[] = {1.0f, 0.0f};
            if (options_.automatic) client_.set_control(forward);
            client_.poll(now_ns());
            read_events();
            if (client_.sample(now_ns(), samples_)) track_.update(samples_, client_.own_body());
            if (terminal && now_ns() - last_drawn_ > 33'000'000) {
                last_drawn_ = now_ns();
                terminal->show(
                    orrery::drive::picture(client_, samples_, track_.position, track_.speed_mps(), *terminal));
            }
            std::this_thread::sleep_for(kFrame);
        }
        const orrery_client_stats stats = client_.stats();
        client_.disconnect(now_ns());
        terminal.reset();
        return report(stats);
    }

  private:
    void read_events() {
        Event event;
        while (client_.next_event(event)) {
            if (event.kind != ORRERY_EVENT_DISCONNECTED) continue;
            lost_ = "disconnected from " + whom() + ": " + event.text;
        }
    }

    std::string whom() const { return options_.server.empty() ? "the server of " + options_.token : options_.server; }
    bool playing() const { return client_.state() == ORRERY_STATE_PLAYING; }
    bool watching() const { return playing() && client_.session() && client_.session()->slot == ORRERY_NO_SLOT; }

    void steer(const std::string& keys) {
        const std::uint64_t now = now_ns();
        for (const char key : keys) {
            switch (key) {
                case 'w':
                case 'W':
                    throttle_ = 1.0f;
                    throttle_until_ = now + static_cast<std::uint64_t>(kKeyHold_s * 4e9);
                    break;
                case 's':
                case 'S':
                    throttle_ = -1.0f;
                    throttle_until_ = now + static_cast<std::uint64_t>(kKeyHold_s * 4e9);
                    break;
                case 'a':
                case 'A':
                    steering_ = -1.0f;
                    steering_until_ = now + static_cast<std::uint64_t>(kKeyHold_s * 1e9);
                    break;
                case 'd':
                case 'D':
                    steering_ = 1.0f;
                    steering_until_ = now + static_cast<std::uint64_t>(kKeyHold_s * 1e9);
                    break;
                case ' ':
                    third_until_ = now + static_cast<std::uint64_t>(kKeyHold_s * 1e9);
                    break;
                case 'x':
                case 'X':
                    throttle_ = steering_ = 0.0f;
                    break;
                case 'q':
                case 'Q':
                    leave_ = true;
                    break;
                default:
                    break;
            }
        }
        if (now > throttle_until_) throttle_ = 0.0f;
        if (now > steering_until_) steering_ = 0.0f;
        const float channels[] = {throttle_, steering_, now > third_until_ ? 0.0f : 1.0f};
        client_.set_control(channels);
    }

    static void report(const orrery_mirror_stats& m) {
        const double rollbacks = m.rollbacks > 0 ? static_cast<double>(m.rollbacks) : 1.0;
        std::printf(
            "ticks %llu, hashes compared %llu, different %llu; rollbacks %llu, depth mean %.1f, most %u, ms mean %.2f, "
            "most %.2f; corrections of the own body mm mean %.1f, most %.1f\n",
            static_cast<unsigned long long>(m.confirmed_tick), static_cast<unsigned long long>(m.hashes_compared),
            static_cast<unsigned long long>(m.divergences), static_cast<unsigned long long>(m.rollbacks),
            static_cast<double>(m.ticks_again) / rollbacks, m.max_depth, m.sum_rollback_ms / rollbacks,
            m.max_rollback_ms, m.sum_correction_mm / rollbacks, m.max_correction_mm);
    }

    int report(const orrery_client_stats& stats) {
        if (!lost_.empty()) std::fprintf(stderr, "orrery_drive: %s\n", lost_.c_str());
        if (!lost_.empty() && !track_.known) return 1;
        const std::array<float, 3>&a = track_.start, &b = track_.position;
        std::printf(
            "start %.2f %.2f %.2f m, end %.2f %.2f %.2f m, distance %.2f m, snapshots received %llu, lost %llu, rtt "
            "%.1f ms\n",
            a[0], a[1], a[2], b[0], b[1], b[2], track_.distance_m(),
            static_cast<unsigned long long>(stats.snapshots_received),
            static_cast<unsigned long long>(stats.snapshots_lost), stats.rtt_s * 1e3);
        if (const std::optional<orrery_mirror_stats> m = client_.mirror_stats()) report(*m);
        if (!lost_.empty()) return 1;
        return options_.automatic && track_.distance_m() <= kMinDistance_m ? 1 : 0;
    }

    Client client_;
    Options options_;
    Samples samples_;
    Track track_;
    std::string lost_;
    bool leave_ = false;
    float throttle_ = 0.0f, steering_ = 0.0f;
    std::uint64_t throttle_until_ = 0, steering_until_ = 0, third_until_ = 0, last_drawn_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return 0;
    }
    const std::optional<Options> options = parse(argc, argv);
    if (!options) {
        print_usage(stderr);
        return 64;
    }
    if (!options->automatic && !Terminal::available()) {
        std::fprintf(stderr, "orrery_drive: this is not a terminal; use --auto --seconds 10\n");
        return 64;
    }
    std::optional<Client> client = Client::create();
    if (!client) {
        std::fprintf(stderr, "orrery_drive: out of memory\n");
        return 1;
    }
    Drive drive(std::move(*client), *options);
    return drive.connect() ? drive.run() : 2;
}
