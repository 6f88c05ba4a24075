#include "server/cli/swarm.h"

#include <poll.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "server/base/key_file.h"
#include "server/cli/command_line.h"
#include "server/cli/swarm_bot.h"
#include "server/cli/swarm_figures.h"
#include "server/cli/swarm_plan.h"
#include "server/control/control_client.h"

namespace orrery::server {

namespace {

constexpr std::uint32_t kMaxBots = 4096;
constexpr std::uint32_t kOtherFiles = 64;      // that the program has open beside the bots' sockets
constexpr std::uint32_t kWebFiles = 2;         // sockets of a bot over WebSocket, which may leave and join again
constexpr std::uint64_t kBeat_ns = 8'000'000;  // a bot is called at least so often
constexpr double kMaxSeconds = 1e6, kMaxEvery_s = 3600.0, kLeastEvery_s = 0.1;

volatile std::sig_atomic_t stop_asked = 0;
void ask_to_stop(int) { stop_asked = 1; }

struct SwarmOptions {
    std::string server, key_file, token_server, control, control_keys;
    std::uint32_t clients = 0;
    double seconds = 60.0, status_every_s = 1.0;
    std::uint64_t seed = 1;
    std::uint32_t channels = 2;
    SwarmPace pace;
    double join_timeout_s = 10.0;
    bool web = false, json = false;
};

void describe(CLI::App& app, SwarmOptions& options) {
    const auto seconds = CLI::Range(0.0, kMaxSeconds);
    app.add_option(
           "SERVER", options.server,
           "address of a running `orrery serve`, for example 127.0.0.1:7770: the one that it prints as udp=, or "
           "with --ws as http=")
        ->required();
    app.add_option("--clients", options.clients, "number of bots")->required()->check(whole_number(1, kMaxBots));
    const auto web =
        app.add_flag("--ws", options.web, "bots play over WebSocket, at the web port of the server, instead of UDP");
    const auto key =
        app.add_option("--key-file", options.key_file,
                       "file with the key of the server: 64 hex digits, mode 0600; each bot makes its tokens with it. "
                       "Without it: the server gives tokens (serve --insecure; with --ws: a server on loopback "
                       "without --key-file)");
    app.add_option("--token-server", options.token_server,
                   "with --ws and --key-file: UDP address of the server (udp=), which tokens have to name")
        ->needs(web)
        ->needs(key);
    app.add_option("--control", options.control,
                   "address of the server's control API, which gives the tokens: the bots are spread over its rooms")
        ->excludes(key);
    app.add_option("--control-keys", options.control_keys,
                   "with --control: file with a key of it that may operate, like RECORD/control.key");
    app.add_option("--seconds", options.seconds, "time in which bots join; 0: until SIGINT or SIGTERM")
        ->check(seconds)
        ->capture_default_str();
    app.add_option("--seed", options.seed, "of client ids, times and controls: the same seed, the same bots")
        ->check(whole_number(0, UINT64_MAX))
        ->capture_default_str();
    app.add_option("--join-within-s", options.pace.join_within_s, "time in which all bots first join, s")
        ->check(seconds)
        ->capture_default_str();
    app.add_option("--stay-s", options.pace.stay_s, "mean time until a bot leaves, s; 0: none leaves before the end")
        ->check(seconds)
        ->capture_default_str();
    app.add_option("--away-s", options.pace.away_s, "mean time until a bot that has left or was refused tries again, s")
        ->check(CLI::Range(kLeastEvery_s, kMaxSeconds))
        ->capture_default_str();
    app.add_option("--join-timeout-s", options.join_timeout_s, "time after which a try to join has failed, s")
        ->check(CLI::Range(kLeastEvery_s, kMaxEvery_s))
        ->capture_default_str();
    app.add_option("--channels", options.channels, "channels of the control that move; the others are 0")
        ->check(whole_number(0, kBotChannels))
        ->capture_default_str();
    app.add_option("--status-every-s", options.status_every_s, "seconds between status lines")
        ->check(CLI::Range(kLeastEvery_s, kMaxEvery_s))
        ->capture_default_str();
    app.add_flag("--json", options.json, "print one JSON object for each line instead of text");
}

std::uint64_t now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

double cpu_s() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Result<Ok> raise_file_limit(std::uint32_t bots, std::uint32_t sockets_of_each) {
    rlimit limit{};
    const rlim_t wanted = bots * sockets_of_each + kOtherFiles;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return Ok{};
    limit.rlim_cur = std::min(limit.rlim_max, wanted);
    if (limit.rlim_cur == wanted && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) return Ok{};
    return Error{ErrorCode::limit_reached, "--clients " + std::to_string(bots),
                 "this process may open " + std::to_string(limit.rlim_max) + " files, and " + std::to_string(wanted) +
                     " are needed; raise the limit with ulimit -n"};
}

// Each bot has a room of those that are open. Which ones these are is asked again when a room lets nobody in.
class RoomsDoor {
  public:
    explicit RoomsDoor(std::unique_ptr<ControlClient> client) : client_(std::move(client)) {}

    Result<protocol::PublicTokenBytes> mint(std::uint32_t bot, std::uint64_t client_id) {
        if (rooms_.empty()) {
            Result<std::vector<std::string>> rooms = client_->open_rooms();
            if (!rooms) return rooms.error();
            if (rooms->empty()) return Error{ErrorCode::not_found, "rooms", "none is open"};
            rooms_ = std::move(rooms).value();
        }
        const Result<protocol::PublicTokenBytes> token = client_->mint(rooms_[bot % rooms_.size()], client_id);
        if (!token) rooms_.clear();
        return token;
    }

  private:
    std::unique_ptr<ControlClient> client_;
    std::vector<std::string> rooms_;
};

class Swarm {
  public:
    Swarm(const SwarmOptions& options, const SwarmDoor& door) : options_(options), door_(door), start_(now_ns()) {
        for (std::uint32_t i = 0; i < options.clients; ++i) {
            bots_.push_back(std::make_unique<Bot>(door_, BotPlan(options.seed, i, options.pace), options.channels,
                                                  totals_, start_));
        }
        calls_.assign(bots_.size(), start_);
        polled_.resize(bots_.size());
    }

    int run() {
        std::uint64_t status_at = start_ + every_ns();
        while (!over(now_ns())) {
            const std::uint64_t next = call_bots();
            const std::uint64_t now = now_ns();
            if (now >= status_at) {
                print_status(now);
                status_at = std::max(status_at + every_ns(), now);
            }
            wait_until(std::min(next, status_at));
        }
        const std::uint64_t now = now_ns();
        for (const auto& bot : bots_) bot->finish(now);
        let_all_leave();
        return finish(seconds_until(now));
    }

  private:
    std::uint64_t every_ns() const { return static_cast<std::uint64_t>(options_.status_every_s * 1e9); }
    double seconds_until(std::uint64_t now) const { return static_cast<double>(now - start_) * 1e-9; }

    // Calls those bots that have something to read or whose time has come; gives the time of the next one.
    std::uint64_t call_bots() {
        std::uint64_t next = now_ns() + kBeat_ns;
        for (std::size_t i = 0; i < bots_.size(); ++i) {
            Bot& bot = *bots_[i];
            const std::uint64_t now = now_ns();
            const bool readable = polled_[i].fd >= 0 && polled_[i].revents != 0;
            if (readable || now >= calls_[i]) {
                if (now > calls_[i]) lag_s_ = std::max(lag_s_, static_cast<double>(now - calls_[i]) * 1e-9);
                bot.update(now);
                calls_[i] = now + kBeat_ns;
            }
            next = std::min(next, calls_[i]);
            polled_[i] = {bot.handle(), bot.events(), 0};
        }
        return next;
    }

    void wait_until(std::uint64_t until) {
        const std::uint64_t now = now_ns();
        const std::uint64_t left = until > now ? until - now : 0;
        const timespec time{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
        if (::ppoll(polled_.data(), polled_.size(), &time, nullptr) >= 0) return;
        for (pollfd& polled : polled_) polled.revents = 0;  // a signal
    }

    // Each of them limits the time that this takes.
    void let_all_leave() {
        const auto leaves = [](const auto& bot) { return bot->leaves(); };
        while (std::any_of(bots_.begin(), bots_.end(), leaves)) {
            for (const auto& bot : bots_) bot->update(now_ns());
            std::this_thread::sleep_for(std::chrono::nanoseconds(kBeat_ns));
        }
    }

    bool over(std::uint64_t now) {
        if (stop_asked != 0) return true;
        if (!answered_ && unanswered(now)) return true;
        if (options_.seconds <= 0.0 || seconds_until(now) < options_.seconds) return false;
        for (const auto& bot : bots_) bot->try_no_more();
        return std::none_of(bots_.begin(), bots_.end(),
                            [](const auto& bot) { return bot->state() == Bot::State::trying; });
    }

    // Whether there is nothing to wait for: nobody has answered anyone.
    bool unanswered(std::uint64_t now) {
        bool refused = false;
        for (const auto& bot : bots_) {
            answered_ = answered_ || bot->traffic().bytes_in > 0;
            refused = refused || bot->unreachable();
        }
        if (answered_ || totals_.tried == 0) return false;
        if (first_try_ == 0) first_try_ = now;
        const double since_s = static_cast<double>(now - first_try_) * 1e-9;
        return since_s > (refused ? kNobodyListens_s : options_.join_timeout_s + kNobodyListens_s);
    }

    SwarmTraffic traffic() const {
        SwarmTraffic out;
        for (const auto& bot : bots_) {
            const SwarmTraffic one = bot->traffic();
            out.snapshots += one.snapshots;
            out.lost += one.lost;
            out.late += one.late;
            out.bytes_in += one.bytes_in;
            out.bytes_out += one.bytes_out;
        }
        return out;
    }

    void print_status(std::uint64_t now) {
        SwarmStatus status;
        status.at_s = seconds_until(now);
        status.length_s = status.at_s - told_at_s_;
        for (const auto& bot : bots_) {
            status.connected += bot->connected() ? 1 : 0;
            status.trying += bot->state() == Bot::State::trying && !bot->connected() ? 1 : 0;
            status.seated += bot->seated() ? 1 : 0;
            if (bot->state() != Bot::State::playing) continue;
            ++status.playing;
            const double round_trip_s = bot->round_trip_s();
            if (round_trip_s <= 0.0) continue;
            status.round_trip.add(round_trip_s);
            totals_.round_trip.add(round_trip_s);
        }
        SwarmTraffic all = traffic();
        all.lost = std::max(all.lost, told_.lost);  // one that was missing may have come
        status.traffic = {all.snapshots - told_.snapshots, all.lost - told_.lost, all.late - told_.late,
                          all.bytes_in - told_.bytes_in, all.bytes_out - told_.bytes_out};
        const double cpu = cpu_s();
        status.cpu_share = (cpu - told_cpu_s_) / std::max(status.length_s, 1e-9);
        status.lag_max_s = lag_s_;
        status.may_lose = !options_.web;
        print(options_.json ? swarm_status_json(status) : swarm_status_text(status));
        told_ = all;
        told_cpu_s_ = cpu;
        told_at_s_ = status.at_s;
        lag_all_s_ = std::max(lag_all_s_, lag_s_);
        lag_s_ = 0.0;
    }

    int finish(double seconds) {
        totals_.traffic = traffic();
        SwarmSummary summary{totals_, options_.clients, seconds, cpu_s(), std::max(lag_all_s_, lag_s_)};
        for (const auto& bot : bots_) summary.by_client.push_back(bot->traffic());
        summary.may_lose = !options_.web;
        print(options_.json ? swarm_summary_json(summary) : swarm_summary_text(summary));
        const std::string place = door_.server.to_string();
        if (totals_.tried > 0 && totals_.traffic.bytes_in == 0) {
            const bool reasons = totals_.refused.count() > 0;
            return complain(
                place +
                    ": nothing answers: " + (reasons ? totals_.refused.all().begin()->first + "; " : std::string()) +
                    "start a server there, or name the address that it prints as " + (options_.web ? "http=" : "udp="),
                kExitMachine);
        }
        if (totals_.refused.count() == 0 && totals_.disconnected.count() == 0) return kExitGood;
        return complain(place + ": " + std::to_string(totals_.refused.count()) + " of " +
                            std::to_string(totals_.tried) + " joins were refused, and " +
                            std::to_string(totals_.disconnected.count()) + " bots were thrown out",
                        kExitFalse);
    }

    static void print(const std::string& lines) {
        std::printf("%s\n", lines.c_str());
        std::fflush(stdout);
    }

    const SwarmOptions& options_;
    const SwarmDoor& door_;
    const std::uint64_t start_;
    SwarmTotals totals_;
    std::vector<std::unique_ptr<Bot>> bots_;
    std::vector<std::uint64_t> calls_;  // when each bot is to be called next
    std::vector<pollfd> polled_;
    bool answered_ = false;
    std::uint64_t first_try_ = 0;
    SwarmTraffic told_;  // up to the last status line
    double told_at_s_ = 0.0, told_cpu_s_ = 0.0, lag_s_ = 0.0, lag_all_s_ = 0.0;
};

}  // namespace

int swarm_command(const std::vector<std::string>& arguments) {
    SwarmOptions options;
    CLI::App app(
        "Bots join a server over UDP or WebSocket, drive by a random walk of their controls, leave, and come back with "
        "new tokens. What they see is printed. All bots run on one thread.",
        "orrery swarm");
    app.footer(
        "Exit code 0: all that wanted to be in were let in, and none was thrown out. 1: some were not. 3: nothing "
        "answers.");
    describe(app, options);
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    const Result<protocol::Address> server = protocol::Address::parse(options.server);
    if (!server) return complain(server.error(), kExitUsage);
    if (server->port == 0)
        return complain("SERVER " + options.server + ": name the port that it listens on", kExitUsage);
    if (const Result<Ok> files = raise_file_limit(options.clients, options.web ? kWebFiles : 1); !files)
        return complain(files.error(), kExitMachine);
    if (options.control.empty() != options.control_keys.empty())
        return complain("--control and --control-keys go together: name both", kExitUsage);
    if (options.web && !options.key_file.empty() && options.token_server.empty()) {
        return complain(
            "--key-file with --ws: name by --token-server the UDP address of the server (udp=): tokens have it",
            kExitUsage);
    }
    SwarmDoor door{*server, options.web ? make_web_way : make_udp_way, std::nullopt, *server, options.join_timeout_s,
                   {}};
    if (!options.token_server.empty()) {
        const Result<protocol::Address> token_server = protocol::Address::parse(options.token_server);
        if (!token_server) return complain("--token-server " + token_server.error().to_string(), kExitUsage);
        if (token_server->port == 0)
            return complain("--token-server " + options.token_server + ": name the UDP port of the server", kExitUsage);
        door.token_server = *token_server;
    }
    std::optional<RoomsDoor> rooms;
    if (!options.control.empty()) {
        const Result<protocol::Address> control = protocol::Address::parse(options.control);
        if (!control) return complain("--control " + control.error().to_string(), kExitUsage);
        Result<std::unique_ptr<ControlClient>> client = ControlClient::open(*control, options.control_keys);
        if (!client) return complain(client.error(), kExitInput);
        rooms.emplace(std::move(client).value());
        door.mint = [&](std::uint32_t bot, std::uint64_t client_id) { return rooms->mint(bot, client_id); };
    }
    if (!options.key_file.empty()) {
        Result<protocol::Key> key = read_key_file(options.key_file);
        if (!key) return complain(key.error(), kExitInput);
        forbid_core_files();
        door.key = *key;
        protocol::wipe(*key);
    }
    std::signal(SIGINT, ask_to_stop);
    std::signal(SIGTERM, ask_to_stop);
    const int code = Swarm(options, door).run();
    if (door.key) protocol::wipe(*door.key);
    return code;
}

}  // namespace orrery::server
