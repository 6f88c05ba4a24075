#include "orrery/rooms_server.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "server/base/hex.h"
#include "server/base/key_file.h"
#include "server/base/thread_priority.h"
#include "server/net/fact_line.h"
#include "server/net/game_config.h"
#include "server/net/hosted_room.h"
#include "server/net/operator_ports.h"
#include "server/net/room_list.h"
#include "server/net/room_threads.h"
#include "server/net/rooms_config.h"
#include "server/net/rooms_lines.h"
#include "server/net/scene_shelf.h"
#include "server/net/serve_program.h"
#include "server/net/shared_limits.h"
#include "server/net/web_setup.h"

namespace orrery::server {

using protocol::Address;

namespace {

constexpr std::uint32_t kClosers = 4;                       // threads in which rooms end: each waits for its disk
constexpr auto kLookEvery = std::chrono::milliseconds(20);  // while the server ends

std::string what_was_thrown() {
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "something that is no std::exception";
    }
}

// Steps a room. What its director throws ends this room alone.
class RoomTurns final : public Turns {
  public:
    explicit RoomTurns(std::shared_ptr<HostedRoom> hosted) : room(std::move(hosted)) {}
    protocol::TimeNs next_deadline() const override { return room->host().next_deadline(); }
    bool turn() override {
        try {
            if (room->host().turn(1)) return true;
            room->host().say_goodbye();
        } catch (...) {
            spdlog::error("room {}: its director threw: {}", room->id(), what_was_thrown());
            room->room().set_director(nullptr);
            room->request_stop("the game's program has failed");
            room->host().say_goodbye();
        }
        return false;
    }

    const std::shared_ptr<HostedRoom> room;
};

}  // namespace

// In the order in which they are made; destroyed in the opposite one.
struct RoomsServer::State {
    explicit State(const RoomsServerConfig& configuration, const DirectorFactory& factory)
        : config(configuration), make_director(factory), shelf(config.scenes, config.process.max_bodies) {}
    ~State() {
        if (network) network->drop_calls();
        operators.stop();
        threads.reset();
        {
            const std::lock_guard lock(mutex);
            closers_end = true;
            to_close.notify_all();
        }
        for (std::thread& closer : closers) closer.join();
        protocol::wipe(key);
    }

    RoomsServerConfig config;
    const DirectorFactory make_director;
    protocol::Key key{};
    SharedLimits limits;
    SceneShelf shelf;
    std::atomic<bool> joinable{false};  // the control API is there, which gives tokens
    std::unique_ptr<NetworkThread> network;
    std::vector<Address> addresses;
    std::unique_ptr<RoomList> list;
    OperatorPorts operators;

    std::mutex mutex;  // guards the next nine
    std::condition_variable changed, to_close;
    protocol::SystemRandom random;
    std::set<std::uint32_t> used_protocol_ids;
    std::map<std::string, std::uint32_t> scene_uses;  // by path of the web server
    std::deque<std::shared_ptr<HostedRoom>> closing;
    bool closers_end = false, fast_end = false;
    std::optional<std::string> stop_reason;
    RoomsServerEnd end;
    bool ran = false;

    std::vector<std::thread> closers;
    std::unique_ptr<RoomThreads> threads;

    Result<std::shared_ptr<HostedRoom>> make(const RoomWish& wish) {
        const Result<Ok> good = check(wish, config.process);
        if (!good) return good.error();
        const Result<protocol::SharedScene> scene = shelf.take(wish.scene, wish.tick_rate_hz);
        if (!scene) return scene.error();
        return make(wish, *scene, nullptr);
    }

    // Of a recording without an end.
    Result<std::shared_ptr<HostedRoom>> go_on(const std::string& path) {
        Result<std::unique_ptr<Resumption>> from = Resumption::open(system_files(), path);
        if (!from) return from.error();
        const Result<protocol::SharedScene> scene = recorded_scene(**from, config.process.max_bodies);
        if (!scene) return scene.error();
        const protocol::replay::FileHeader& header = (*from)->seen().header;
        RoomWish wish;
        wish.name = header.room;
        for (const protocol::replay::KeyValue& pair : header.about) {
            if (pair.key == "room.allow_mirror") wish.allow_mirror = pair.value == "on" && config.process.serve_scene;
            if (pair.key == "room.end_when_empty_s")
                wish.end_when_empty_s = std::clamp(std::strtod(pair.value.c_str(), nullptr), 0.0, kMaxEndWhenEmpty_s);
            if (pair.key == "room.max_clients")
                wish.max_clients = static_cast<std::uint32_t>(
                    std::clamp(std::strtoul(pair.value.c_str(), nullptr, 10), 1ul, 1ul * config.process.max_clients));
        }
        return make(wish, *scene, std::move(from).value());
    }

    void resume_rooms() {
        for (const std::string& path : unfinished_recordings(config.process.record)) {
            const Result<RoomView> room = list->create_by([&] { return go_on(path); });
            if (!room) spdlog::error("{}: its room does not go on: {}", path, room.error().to_string());
        }
    }

    Result<std::shared_ptr<HostedRoom>> make(const RoomWish& wish, const protocol::SharedScene& scene,
                                             std::unique_ptr<Resumption> resumption) {
        RoomPlace place;
        place.network = network.get();
        place.key = key;
        place.addresses = addresses;
        place.limits = &limits;
        place.phase = free_phase();
        place.joinable = &joinable;
        std::string id;
        {
            const std::lock_guard lock(mutex);
            std::array<std::uint8_t, 8> bytes{};
            random.fill(bytes);
            id = to_hex(bytes);
            std::uint32_t drawn = 0;
            while (drawn == 0 || !used_protocol_ids.insert(drawn).second)
                drawn = static_cast<std::uint32_t>(random.next_u64());
            place.protocol_id = drawn;
        }
        GameServerConfig room = config.process;
        room.room = wish.name.empty() ? id : wish.name;
        room.max_clients = wish.max_clients.value_or(room.max_clients);
        room.allow_mirror = wish.allow_mirror.value_or(room.allow_mirror);
        if (!wish.record.value_or(true)) room.record.clear(), room.sign_key.clear();
        Result<std::unique_ptr<HostedRoom>> made = HostedRoom::create(
            room, scene, std::move(place), id, wish.end_when_empty_s, make_director, std::move(resumption));
        if (!made) return made.error();
        const std::shared_ptr<HostedRoom> hosted = std::move(made).value();
        if (config.process.serve_scene) offer_scene(scene);
        list->add(hosted);
        threads->add(std::make_shared<RoomTurns>(hosted));
        return hosted;
    }

    // The middle of the largest gap between the times at which other rooms begin their ticks: ticks that begin at once
    // would wait for each other.
    double free_phase() const {
        std::vector<double> phases;
        for (const auto& room : list->rooms()) phases.push_back(room->phase().value_or(0.0));
        if (phases.empty()) return 0.0;
        std::sort(phases.begin(), phases.end());
        double best = 0.0, widest = -1.0;
        for (std::size_t i = 0; i < phases.size(); ++i) {
            const double next = i + 1 < phases.size() ? phases[i + 1] : phases[0] + 1.0;
            if (next - phases[i] <= widest) continue;
            widest = next - phases[i];
            best = phases[i] + widest / 2;
        }
        return best < 1.0 ? best : best - 1.0;
    }

    void offer_scene(const protocol::SharedScene& scene) {
        const std::string path = scene_path(scene.binary);
        const std::lock_guard lock(mutex);
        if (scene_uses[path]++ == 0) network->add_file(path, scene.binary, true);
    }

    void withdraw_scene(const std::string& path) {
        const std::lock_guard lock(mutex);
        const auto uses = scene_uses.find(path);
        if (uses == scene_uses.end() || --uses->second > 0) return;
        scene_uses.erase(uses);
        network->remove_file(path);
    }

    Result<Ok> finish(HostedRoom& room) {
        try {
            return room.host().finish();
        } catch (...) {
            return Error{ErrorCode::io, room.replay(), what_was_thrown()};
        }
    }

    void close_rooms() {
        for (;;) {
            std::shared_ptr<HostedRoom> room;
            {
                std::unique_lock lock(mutex);
                to_close.wait(lock, [this] { return closers_end || !closing.empty(); });
                if (closing.empty()) return;
                room = std::move(closing.front());
                closing.pop_front();
            }
            const Result<Ok> closed = finish(*room);
            if (!closed)
                spdlog::error("room {}: its recording is not complete: {}", room->id(), closed.error().to_string());
            if (config.process.serve_scene) withdraw_scene(room->scene_path());
            {
                const std::lock_guard lock(mutex);
                ++end.rooms;
                end.failed_rooms += !closed || room->room().halted() ? 1 : 0;
            }
            list->remove(*room);
            const std::lock_guard lock(mutex);
            changed.notify_all();
        }
    }

    // A token for a page of this machine: of the room with this id, or of the one that was made first.
    Result<protocol::PublicTokenBytes> mint_for_page(protocol::TokenRole role, const std::string& id) {
        TokenWish wish;
        wish.role = role;
        wish.expires_s = kPageTokenExpires_s;
        wish.timeout_s = kPageTokenTimeout_s;
        const auto rooms = list->rooms();
        if (rooms.empty()) return Error{ErrorCode::not_found, "room", "there is none yet: make one by the control API"};
        const Result<MintedToken> token = list->mint(id.empty() ? rooms.front()->id() : id, wish);
        if (!token) return token.error();
        return token->bytes;
    }

    void stop_all(const std::string& reason) {
        for (const auto& room : list->rooms()) room->request_stop(reason);
    }

    // Waits until their recordings are closed.
    void end_rooms(const std::string& reason) {
        while (!list->empty()) {
            stop_all(reason);
            std::this_thread::sleep_for(kLookEvery);
        }
    }

    // The first signal begins the drain, the second one ends the rooms at once, the third one the process.
    void listen_to_signals() {
        network->on_signal([this](int count) {
            if (count == 1 && config.process.drain_s > 0.0) {
                list->drain_all(config.process.drain_s, "the server is being stopped");
                return true;
            }
            const std::lock_guard lock(mutex);
            stop_reason = "";
            changed.notify_all();
            return false;
        });
    }

    void announce() const;
    void print_status(HostTotals& before, double seconds) const;
};

void RoomsServer::State::announce() const {
    if (!config.process.print) return;
    FactLine first("listening", config.process.json);
    first.text("udp", network->local_address().to_string());
    if (const std::optional<Address> http = network->web_address()) first.text("http", http->to_string());
    for (const auto& [name, address] : operators.addresses()) first.text(name, address.to_string());
    first.number("rooms", list->rooms().size()).number("max_rooms", config.max_rooms);
    std::string lines = first.str();
    for (const auto& room : list->rooms()) lines += room_line(room->view(), room->replay(), config.process.json);
    std::fputs(lines.c_str(), stdout);
    std::fflush(stdout);
}

void RoomsServer::State::print_status(HostTotals& before, double seconds) const {
    if (!config.process.print) return;
    const HostView host = list->host();
    write_if_ready(STDOUT_FILENO, rooms_status(host, list->list(), before, seconds, config.process.json));
    before = host.totals;
}

RoomsServer::RoomsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
RoomsServer::~RoomsServer() = default;

Result<std::unique_ptr<RoomsServer>> RoomsServer::create(const RoomsServerConfig& config,
                                                         const DirectorFactory& make_director) {
    const Result<Ok> good = check(config);
    if (!good) return good.error();
    auto made = std::make_unique<State>(config, make_director);
    State& s = *made;
    std::unique_ptr<RoomsServer> server(new RoomsServer(std::move(made)));
    const GameServerConfig& process = s.config.process;
    if (process.key_file.empty()) {
        s.key = s.random.next_key();
    } else {
        const Result<protocol::Key> key = read_key_file(process.key_file);
        if (!key) return input_error(key.error());
        s.key = *key;
    }
    Result<std::unique_ptr<NetworkThread>> network = NetworkThread::start(*bind_address(process));
    if (!network) return coded(ErrorCode::io, network.error());
    s.network = std::move(network).value();
    if (const Result<Ok> asked = ask_fleet(s.config.process, *s.network); !asked) return asked.error();
    s.addresses = token_addresses(process, s.network->local_address());
    RoomListSettings list;
    list.recordings = process.record;
    list.max_rooms = config.max_rooms;
    list.max_clients = process.max_clients;
    list.network = s.network.get();
    list.make = [&s](const RoomWish& wish) { return s.make(wish); };
    list.scenes = [&s] { return s.shelf.names(); };
    list.on_drain = [&s] {
        const std::lock_guard lock(s.mutex);
        s.changed.notify_all();
    };
    s.list = std::make_unique<RoomList>(std::move(list));
    for (std::uint32_t i = 0; i < kClosers; ++i)
        s.closers.emplace_back([&s] {
            give_way();
            s.close_rooms();
        });
    const std::uint32_t threads =
        config.threads > 0 ? config.threads : std::clamp(std::thread::hardware_concurrency(), 1u, kMaxRoomThreads);
    s.threads = std::make_unique<RoomThreads>(threads, [&s](std::shared_ptr<Turns> ended) {
        const std::lock_guard lock(s.mutex);
        s.closing.push_back(static_cast<RoomTurns&>(*ended).room);
        s.to_close.notify_one();
    });
    if (process.http) {
        Result<WebConfig> web = web_config(process, *bind_address(process), s.key, s.addresses[0], nullptr);
        if (!web) return web.error();
        if (web->mint)
            web->mint = [&s](protocol::TokenRole role, const std::string& room) { return s.mint_for_page(role, room); };
        const Result<Ok> serving = s.network->serve_web(std::move(web).value());
        if (!serving) return coded(ErrorCode::io, serving.error());
    }
    if (config.resume_rooms) s.resume_rooms();
    for (std::size_t i = 0; i < config.rooms.size(); ++i) {
        const Result<RoomView> room = s.list->create(config.rooms[i]);
        if (room) continue;
        s.end_rooms("the server does not start");
        return Error{room.error().code, "rooms[" + std::to_string(i) + "]." + room.error().place, room.error().message};
    }
    s.listen_to_signals();
    const Result<Ok> operators = s.operators.start(process, *s.list);
    if (!operators) {
        s.end_rooms("the server does not start");
        return operators.error();
    }
    s.joinable = true;
    s.announce();
    return server;
}

Result<RoomsServerEnd> RoomsServer::run() {
    State& s = *state_;
    if (s.ran) return config_error("RoomsServer::run", "has been called before: make another server");
    s.ran = true;
    using Clock = std::chrono::steady_clock;
    const auto status_every =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s.config.process.status_every_s));
    HostTotals before;
    Clock::time_point last = Clock::now();
    for (;;) {
        bool stopping = false;
        std::optional<std::string> reason;
        {
            std::unique_lock lock(s.mutex);
            const bool prints = status_every > Clock::duration::zero();
            const auto until = s.stop_reason || s.list->draining() ? Clock::now() + kLookEvery
                               : prints                            ? last + status_every
                                                                   : Clock::now() + std::chrono::seconds(1);
            s.changed.wait_until(lock, until);
            reason = s.stop_reason;
            stopping = reason || s.list->draining();
        }
        if (reason && !s.list->draining()) s.list->drain_all(0.0, *reason);
        if (reason) s.stop_all(*reason);
        if (stopping && s.list->empty()) break;
        const Clock::time_point now = Clock::now();
        if (status_every > Clock::duration::zero() && now - last >= status_every) {
            s.print_status(before, std::chrono::duration<double>(now - last).count());
            last = now;
        }
    }
    s.operators.stop();
    s.print_status(before, std::max(1e-3, std::chrono::duration<double>(Clock::now() - last).count()));
    const std::lock_guard lock(s.mutex);
    return s.end;
}

Result<std::string> RoomsServer::create_room(const RoomWish& wish) {
    const Result<RoomView> room = state_->list->create(wish);
    if (!room) return room.error();
    return room->id;
}

void RoomsServer::request_stop(std::string reason) {
    const std::lock_guard lock(state_->mutex);
    if (!state_->stop_reason) state_->stop_reason = std::move(reason);
    state_->changed.notify_all();
}

Address RoomsServer::address() const { return state_->network->local_address(); }
std::optional<Address> RoomsServer::http_address() const { return state_->network->web_address(); }

int serve_rooms(const RoomsServerConfig& config, const DirectorFactory& make_director) {
    return serve_program<RoomsServer>(config, make_director, [](const RoomsServerEnd& end) {
        if (end.failed_rooms == 0) return kExitGood;
        write_if_ready(STDERR_FILENO, "orrery: " + std::to_string(end.failed_rooms) + " of " +
                                          std::to_string(end.rooms) +
                                          " rooms halted or have no complete recording: the log has the reasons\n");
        return kExitMachine;
    });
}

}  // namespace orrery::server
