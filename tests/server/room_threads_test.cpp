#include "server/net/room_threads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "server/net/network_thread.h"
#include "server/net/room_routes.h"

using namespace orrery;
using server::NetworkThread;
using server::RoomThreads;
using server::Turns;

namespace {

// Notes its turns in `order`. It is always due: as a room is whose ticks take too long.
class Late final : public Turns {
  public:
    Late(char name, int turns, std::string& order, std::mutex& mutex)
        : name_(name), left_(turns), order_(order), mutex_(mutex) {}
    protocol::TimeNs next_deadline() const override { return 0; }
    bool turn() override {
        const std::lock_guard lock(mutex_);
        order_ += name_;
        return --left_ > 0;
    }

  private:
    char name_;
    int left_;
    std::string& order_;
    std::mutex& mutex_;
};

class Timed final : public Turns {
  public:
    Timed(protocol::TimeNs first, int turns) : at_(first), left_(turns) {}
    protocol::TimeNs next_deadline() const override { return at_; }
    bool turn() override {
        early += NetworkThread::now() < at_ ? 1 : 0;
        at_ += protocol::kNsPerMs;
        return --left_ > 0;
    }
    int early = 0;

  private:
    protocol::TimeNs at_;
    int left_;
};

struct Ended {
    std::mutex mutex;
    std::condition_variable changed;
    int count = 0;
    void note() {
        const std::lock_guard lock(mutex);
        ++count;
        changed.notify_all();
    }
    bool wait_for(int wanted) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(20), [&] { return count == wanted; });
    }
};

struct Room {
    int number = 0;
};

}  // namespace

TEST_CASE("rooms that are always late take turns: none waits for more than a turn of each other one") {
    std::string order;
    std::mutex mutex;
    Ended ended;
    {
        std::unique_lock hold(mutex);  // until all are there
        RoomThreads threads(1, [&](auto) { ended.note(); });
        for (const char name : {'a', 'b', 'c'}) threads.add(std::make_shared<Late>(name, 50, order, mutex));
        hold.unlock();
        REQUIRE(ended.wait_for(3));
    }
    CHECK(order.size() == 150);
    for (std::size_t i = 3; i + 3 <= order.size(); i += 3) {
        std::string three = order.substr(i, 3);
        std::sort(three.begin(), three.end());
        CHECK(three == "abc");
    }
}

TEST_CASE("no turn comes before its time, on any number of threads, and each one comes") {
    for (const std::uint32_t count : {1u, 3u}) {
        Ended ended;
        std::vector<std::shared_ptr<Timed>> all;
        RoomThreads threads(count, [&](auto) { ended.note(); });
        const protocol::TimeNs now = NetworkThread::now();
        for (int i = 0; i < 20; ++i) {
            all.push_back(
                std::make_shared<Timed>(now + static_cast<protocol::TimeNs>(20 - i) * protocol::kNsPerMs, 20));
            threads.add(all.back());
        }
        REQUIRE(ended.wait_for(20));
        for (const auto& one : all) CHECK(one->early == 0);
    }
}

TEST_CASE("a pool that ends leaves what waits") {
    int turns_ended = 0;
    {
        RoomThreads threads(2, [&](auto) { ++turns_ended; });
        threads.add(std::make_shared<Timed>(NetworkThread::now() + 3600 * protocol::kNsPerSecond, 1));
    }
    CHECK(turns_ended == 0);
}

TEST_CASE("a datagram reaches the room that its request names, or that has answered its sender") {
    server::RoomRoutes<Room> routes;
    const auto a = std::make_shared<Room>(Room{1}), b = std::make_shared<Room>(Room{2});
    routes.add(7, a);
    routes.add(8, b);
    protocol::ConnectionRequest request;
    request.protocol_id = 8;
    std::array<std::uint8_t, protocol::kRequestBytes> bytes{};
    protocol::write_request(request, bytes);
    CHECK(routes.find(server::protocol_id_of_request(bytes)) == b);
    CHECK(routes.find(server::protocol_id_of_request(protocol::Bytes(bytes).first(100))) == nullptr);
    request.protocol_id = 9;
    protocol::write_request(request, bytes);
    CHECK(routes.find(server::protocol_id_of_request(bytes)) == nullptr);

    const protocol::Address client = protocol::Address::ipv4(10, 0, 0, 1, 1000);
    const auto rooms_of = [&] {
        std::string numbers;
        routes.for_each(client, [&](const Room& room) { numbers += static_cast<char>('0' + room.number); });
        return numbers;
    };
    CHECK(rooms_of().empty());
    routes.sent(a, client, 0);
    routes.sent(a, client, 5 * protocol::kNsPerSecond);
    CHECK(rooms_of() == "1");
    // Whoever shows the token of another room from this address takes no datagram away from the first one.
    routes.sent(b, client, 9 * protocol::kNsPerSecond);
    CHECK(rooms_of() == "12");
    routes.forget(16 * protocol::kNsPerSecond, 10 * protocol::kNsPerSecond);
    CHECK(rooms_of() == "2");
    routes.remove(b.get());
    CHECK(rooms_of().empty());
    CHECK(routes.all().size() == 1);
}
