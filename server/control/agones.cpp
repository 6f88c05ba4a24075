#include "server/control/agones.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "orrery/sim.hpp"
#include "server/base/json_line.h"
#include "server/control/agones_json.h"
#include "server/control/agones_sidecar.h"

namespace orrery::server {

namespace {

using Clock = std::chrono::steady_clock;
using Verb = AgonesSidecar::Verb;
using Answer = AgonesSidecar::Answer;

constexpr double kAskAgain_s = 10.0;      // for a state that the fleet was asked for and has not taken
constexpr double kMissingRetry_s = 60.0;  // for a counter or list that the fleet does not have

Clock::duration seconds(double s) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

// A write to a sidecar that has gone is an error of the call, not the end of the process.
void block_sigpipe() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

std::string hex_of(std::uint64_t id) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(id));
    return digits;
}

// A 64-bit number is a string in the sidecar's JSON.
std::string number_body(std::string_view name, std::uint64_t value) {
    return JsonLine().text(name, std::to_string(value)).str();
}

bool is_before_ready(const std::string& state) {
    constexpr std::string_view kBefore[] = {"", "PortAllocation", "Creating", "Starting", "Scheduled"};
    return std::find(std::begin(kBefore), std::end(kBefore), state) != std::end(kBefore);
}

}  // namespace

class AgonesAgent::Impl {
  public:
    Impl(AgonesConfig config, Rooms& rooms)
        : config_(std::move(config)), rooms_(rooms), sidecar_(config_), address_(address_of(config_)) {
        owner_ = std::thread([this] { run(); });
        watcher_ = std::thread([this] { watch(); });
    }
    ~Impl() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_all();
        // What is begun just now is not interrupted by one call.
        std::unique_lock lock(mutex_);
        while (ended_threads_ < 2) {
            sidecar_.interrupt();
            changed_.wait_for(lock, std::chrono::milliseconds(20), [&] { return ended_threads_ == 2; });
        }
        lock.unlock();
        owner_.join();
        watcher_.join();
    }

    bool shut_down() {
        std::unique_lock lock(mutex_);
        shutdown_wanted_ = true;
        changed_.notify_all();
        changed_.wait_for(lock, seconds(config_.shutdown_s), [&] { return said_; });
        return shutdown_answered_;
    }

  private:
    static std::string address_of(const AgonesConfig& config) {
        return "http://" + config.host + ":" + std::to_string(config.port);
    }

    // ---- the thread that owns the state ----

    void run() {
        block_sigpipe();
        double pause_s = config_.retry_first_s;
        while (go_on()) {
            if (stream_ended_.exchange(false)) reached_ = false;  // the sidecar may be another one
            if (!reached_ && !reach()) {
                wait(Clock::now() + seconds(pause_s));
                pause_s = std::min(2.0 * pause_s, config_.retry_longest_s);
                continue;
            }
            pause_s = config_.retry_first_s;
            step();
            wait(std::min(health_due_, update_due_));
        }
        last_word();
        note_end();
    }

    bool go_on() {
        const std::lock_guard lock(mutex_);
        return !stopping_ && !shutdown_wanted_;
    }
    void wait(Clock::time_point until) {
        std::unique_lock lock(mutex_);
        changed_.wait_until(lock, until, [&] { return stopping_ || shutdown_wanted_ || seen_ || stream_ended_; });
    }
    void note_end() {
        const std::lock_guard lock(mutex_);
        ++ended_threads_;
        changed_.notify_all();
    }

    // The first contact, or the first one after a loss: the sidecar may have forgotten all.
    bool reach() {
        {
            const std::lock_guard lock(mutex_);
            seen_.reset();  // older than what is asked for now
        }
        const Answer answer = sidecar_.send(Verb::get, "/gameserver");
        const std::optional<AgonesObject> object = answer.good() ? read_agones_object(answer.body) : std::nullopt;
        if (!object) {
            if (!lost_logged_) {
                const std::string why = answer.good()   ? "GET /gameserver: the answer is no GameServer"
                                        : answer.came() ? "GET /gameserver: " + std::to_string(answer.status)
                                                        : answer.body;
                spdlog::warn("agones: no sidecar at {} yet ({}); attempts go on", address_, why);
            }
            lost_logged_ = true;
            return false;
        }
        if (lost_logged_ || !met_) {
            spdlog::info("agones: the sidecar at {} answers; the state is {}", address_,
                         object->state.empty() ? "not known" : object->state);
        }
        met_ = true;
        lost_logged_ = false;
        sent_ = {};
        reached_ = true;
        reached_flag_ = true;
        health_due_ = update_due_ = Clock::now();
        note(*object);
        return true;
    }

    void lose(const std::string& what, const Answer& answer) {
        if (!lost_logged_ && go_on()) spdlog::warn("agones: {}: {}; attempts go on", what, answer.body);
        lost_logged_ = true;
        reached_ = false;
        reached_flag_ = false;
    }

    void step() {
        std::optional<AgonesObject> seen;
        {
            const std::lock_guard lock(mutex_);
            seen.swap(seen_);
        }
        if (seen) note(*seen);
        const HostView host = rooms_.host();
        if (Clock::now() >= health_due_) health(host);
        if (reached_ && (seen || Clock::now() >= update_due_)) {
            update_due_ = Clock::now() + seconds(config_.update_every_s);
            update(host);
        }
    }

    // ---- what the fleet says ----

    void note(const AgonesObject& object) {
        if (object.state != object_.state) state_since_ = Clock::now();
        if (object.last_allocated != object_.last_allocated) idle_since_ = Clock::now();
        object_ = object;
        if (object_.state == asked_for_) asked_for_.clear();
        obey();
    }

    void obey() {
        std::string wish, reason;
        double within_s = config_.drain_s;
        if (object_.deleted || object_.state == "Shutdown") {
            wish = "end";
            reason = "the fleet ends this server";
        } else if (!object_.drain.empty()) {
            wish = "drain=" + object_.drain;
            reason = "the fleet drains this server";
            if (const std::optional<double> given = drain_time(object_.drain)) {
                within_s = *given;
            } else {
                if (wish != obeyed_) {
                    spdlog::warn("agones: {} is \"{}\", which asks for nothing: set \"true\", or seconds from 0 to {}",
                                 kAgonesDrainKey, object_.drain, kMaxDrain_s);
                }
                obeyed_ = wish;
                return;
            }
        }
        if (wish == obeyed_) return;
        obeyed_ = wish;
        if (wish.empty()) return;
        spdlog::info("agones: {}, within {:g} s", reason, within_s);
        rooms_.drain_all(within_s, reason);
    }

    std::optional<double> drain_time(const std::string& text) const {
        if (text == "true") return config_.drain_s;
        double value = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
        if (!(value >= 0.0 && value <= kMaxDrain_s)) return std::nullopt;
        return value;
    }

    // ---- what the fleet is told ----

    // Logs a refusal once, until the same request succeeds again.
    bool told(const std::string& what, const Answer& answer) {
        if (answer.good()) {
            complained_.erase(what);
        } else if (!answer.came()) {
            lose(what, answer);
        } else if (complained_.insert(what).second) {
            spdlog::warn("agones: {}: the sidecar answers {} {}", what, answer.status, answer.body);
        }
        return answer.good();
    }
    bool post(const std::string& path) { return told("POST " + path, sidecar_.send(Verb::post, path)); }

    void health(const HostView& host) {
        health_due_ = Clock::now() + seconds(config_.health_every_s);
        const bool stalled = host.stalled_s >= config_.stalled_s;
        if (stalled && !stalled_logged_) {
            spdlog::error("agones: a room has not ticked for {:.1f} s: no health is told until it does",
                          host.stalled_s);
        }
        stalled_logged_ = stalled;
        if (!stalled) post("/health");
    }

    void update(const HostView& host) {
        label("engine-version", std::to_string(sim::kEngineVersion), sent_.engine_version);
        label("draining", host.draining ? "true" : "false", sent_.draining);
        counter(host);
        if (reached_) state(host);
        if (reached_) players(host);
    }

    void label(const char* key, const std::string& value, std::string& sent) {
        if (!reached_ || sent == value) return;
        const std::string body = JsonLine().text("key", key).text("value", value).str();
        if (told("PUT /metadata/label", sidecar_.send(Verb::put, "/metadata/label", body))) sent = value;
    }

    // One number a request, as the sidecar demands; the count never exceeds the capacity.
    void counter(const HostView& host) {
        if (!reached_ || config_.rooms_counter.empty() || Clock::now() < sent_.counter_retry) return;
        const std::uint64_t count = host.rooms, capacity = host.draining ? count : std::max(host.max_rooms, host.rooms);
        const auto patch = [&](const char* name, std::uint64_t value, std::optional<std::uint64_t>& sent) {
            if (!reached_ || sent == value) return;
            const std::string path = "/counters/" + config_.rooms_counter;
            const Answer answer = sidecar_.send_counted(Verb::patch, path, number_body(name, value));
            if (told("PATCH " + path, answer)) {
                sent = value;
            } else if (answer.came()) {
                sent_.counter_retry = Clock::now() + seconds(kMissingRetry_s);
            }
        };
        if (sent_.count && capacity < *sent_.count) patch("count", count, sent_.count);
        patch("capacity", capacity, sent_.capacity);
        patch("count", count, sent_.count);
    }

    void state(const HostView& host) {
        const Clock::time_point now = Clock::now();
        const bool in_use = host.may_create ? host.rooms > 0 : host.clients > 0;
        if (in_use) idle_since_ = now;
        if (host.draining) return;
        const bool open = host.may_create || host.open_rooms > 0;
        // A sidecar on its own, for development, begins as "Ready".
        const bool begins = is_before_ready(object_.state) || (!was_ready_ && object_.state == "Ready");
        if (begins) {
            if (open) ask_for("Ready", "/ready");
        } else if (object_.state == "Ready") {
            if (in_use) ask_for("Allocated", "/allocate");
        } else if (object_.state == "Allocated" && !in_use && host.may_create && config_.idle_ready_s > 0.0) {
            if (now >= std::max(idle_since_, state_since_) + seconds(config_.idle_ready_s)) ask_for("Ready", "/ready");
        }
    }

    void ask_for(const std::string& state, const std::string& path) {
        if (asked_for_ == state && Clock::now() < asked_at_ + seconds(kAskAgain_s)) return;
        if (!post(path)) return;
        asked_for_ = state;
        asked_at_ = Clock::now();
        was_ready_ = was_ready_ || state == "Ready";
    }

    void players(const HostView& host) {
        if (config_.players_list.empty() || Clock::now() < sent_.list_retry) return;
        const std::string path = "/lists/" + config_.players_list;
        const auto refused = [&](const Answer& answer) {
            if (answer.came()) sent_.list_retry = Clock::now() + seconds(kMissingRetry_s);
        };
        if (!sent_.players) {
            const Answer answer = sidecar_.send_counted(Verb::get, path);
            const std::optional<std::vector<std::string>> values =
                answer.good() ? read_agones_list(answer.body) : std::nullopt;
            if (!told("GET " + path, answer) || !values) return refused(answer);
            sent_.players.emplace(values->begin(), values->end());
        }
        const std::uint64_t capacity =
            std::min<std::uint64_t>(kMaxAgonesList, std::uint64_t{std::max(host.max_rooms, 1u)} * host.max_clients);
        if (sent_.list_capacity != capacity) {
            const Answer answer = sidecar_.send_counted(Verb::patch, path, number_body("capacity", capacity));
            if (!told("PATCH " + path, answer)) return refused(answer);
            sent_.list_capacity = capacity;
        }
        std::set<std::string> wanted;
        for (const RoomView& room : rooms_.list()) {
            for (const RoomMember& member : room.members) {
                if (wanted.size() < capacity) wanted.insert(hex_of(member.client_id));
            }
        }
        bring(path + ":removeValue", minus(*sent_.players, wanted),
              [&](const std::string& id) { sent_.players->erase(id); });
        if (sent_.players)
            bring(path + ":addValue", minus(wanted, *sent_.players),
                  [&](const std::string& id) { sent_.players->insert(id); });
    }

    static std::vector<std::string> minus(const std::set<std::string>& from, const std::set<std::string>& what) {
        std::vector<std::string> rest;
        std::set_difference(from.begin(), from.end(), what.begin(), what.end(), std::back_inserter(rest));
        return rest;
    }

    // Of many changes, those for which there is time before the next health, and one at least; the next update goes on.
    template <class Note>
    void bring(const std::string& path, const std::vector<std::string>& ids, Note note) {
        for (const std::string& id : ids) {
            if (&id != &ids.front() && Clock::now() >= health_due_) return;
            const Answer answer = sidecar_.send_counted(Verb::post, path, JsonLine().text("value", id).str());
            if (!told("POST " + path, answer)) {
                sent_.players.reset();  // it has others than it was told: it is asked
                return;
            }
            note(id);
        }
    }

    void last_word() {
        {
            const std::lock_guard lock(mutex_);
            if (!shutdown_wanted_ || stopping_) return;
        }
        if (reached_) update(rooms_.host());
        const Answer answer = sidecar_.send(Verb::post, "/shutdown");
        if (!answer.good()) spdlog::warn("agones: POST /shutdown: {} {}", answer.status, answer.body);
        const std::lock_guard lock(mutex_);
        said_ = true;
        shutdown_answered_ = answer.good();
        changed_.notify_all();
    }

    // ---- the thread that reads the stream ----

    void watch() {
        block_sigpipe();
        double pause_s = config_.retry_first_s;
        while (go_on()) {
            if (reached_flag_) {
                bool came = false;
                sidecar_.watch([&](std::string_view line) {
                    came = true;
                    const std::optional<AgonesObject> object = read_agones_object(line);
                    const std::lock_guard lock(mutex_);
                    if (object) seen_ = object;
                    changed_.notify_all();
                    return !stopping_ && !shutdown_wanted_;
                });
                // Where there is no stream, the object is asked for again and again, by and by less often.
                pause_s = came ? config_.retry_first_s : std::min(2.0 * pause_s, config_.retry_longest_s);
                const std::lock_guard lock(mutex_);
                stream_ended_ = true;
                changed_.notify_all();
            }
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, seconds(pause_s), [&] { return stopping_ || shutdown_wanted_; });
        }
        note_end();
    }

    // What the sidecar has been told since it was reached.
    struct Sent {
        std::string engine_version, draining;
        std::optional<std::uint64_t> count, capacity, list_capacity;
        std::optional<std::set<std::string>> players;
        Clock::time_point counter_retry{}, list_retry{};
    };

    const AgonesConfig config_;
    Rooms& rooms_;
    AgonesSidecar sidecar_;
    const std::string address_;

    // of the owner's thread
    bool reached_ = false, lost_logged_ = false, stalled_logged_ = false, met_ = false, was_ready_ = false;
    Sent sent_;
    AgonesObject object_;
    std::string asked_for_, obeyed_;
    Clock::time_point asked_at_{}, state_since_{}, idle_since_{}, health_due_{}, update_due_{};
    std::set<std::string> complained_;

    // of both
    std::atomic<bool> reached_flag_{false}, stream_ended_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false, shutdown_wanted_ = false, said_ = false, shutdown_answered_ = false;
    int ended_threads_ = 0;
    std::optional<AgonesObject> seen_;  // by the stream, and not yet by the owner

    std::thread owner_, watcher_;
};

AgonesAgent::AgonesAgent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AgonesAgent::~AgonesAgent() = default;

std::unique_ptr<AgonesAgent> AgonesAgent::start(AgonesConfig config, Rooms& rooms) {
    return std::unique_ptr<AgonesAgent>(new AgonesAgent(std::make_unique<Impl>(std::move(config), rooms)));
}

bool AgonesAgent::shut_down() { return impl_->shut_down(); }

}  // namespace orrery::server
