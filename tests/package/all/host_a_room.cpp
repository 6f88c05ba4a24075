// host_a_room SCENE: a host of its own around the installed server library: it owns clock and wire, and directs the
// room.
#include <orrery/protocol/scene/scene.h>
#include <orrery/server/room/room.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

// Where a host's own network would stand.
class NoNetwork final : public orrery::protocol::DatagramSink {
  public:
    void send(const orrery::protocol::Address&, orrery::protocol::Bytes) override {}
};

class Spawner final : public orrery::server::Director {
  public:
    void on_tick(const orrery::sim::World& world, std::vector<orrery::sim::Command>& orders) override {
        if (world.tick() != 30) return;
        orrery::sim::Command order;
        order.kind = orrery::sim::CommandKind::spawn;
        order.prefab = 0;
        order.pose.position = {0.0f, 30.0f, 0.0f};
        orders.push_back(order);
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 64;
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto scene = orrery::protocol::load_scene(bytes, argv[1]);
    if (!scene) return 2;
    orrery::protocol::SystemRandom random;
    orrery::server::RoomConfig config;
    config.netcode.protocol_id = 1;
    config.netcode.private_key = random.next_key();
    config.netcode.public_addresses = {orrery::protocol::Address::ipv4(127, 0, 0, 1, 7770)};
    NoNetwork wire;
    const auto room = orrery::server::Room::create(config, *scene, nullptr, random, wire, 0);
    if (!room) {
        std::fprintf(stderr, "%s\n", room.error().to_string().c_str());
        return 1;
    }
    Spawner spawner;
    (*room)->set_director(&spawner);
    const std::uint32_t before = (*room)->world().stats().bodies;
    while ((*room)->world().tick() < 60) (*room)->advance((*room)->next_deadline(), 1'800'000'000);
    const std::uint32_t after = (*room)->world().stats().bodies;
    std::printf("%s: %u bodies, %u after a spawn\n", scene->name.c_str(), before, after);
    return after > before ? 0 : 1;
}
