// host_a_game SCENE SECONDS [virtual]: a game's server. Each second it drops a body of the scene's first prefab, prints
// its tick, and it stops after SECONDS. With `virtual` it runs without a network, as fast as it can.
#include <cstdio>
#include <cstdlib>

#include "orrery/server.hpp"

using namespace orrery::server;

class Rain final : public Director {
  public:
    Rain(const RoomInfo& room, std::uint64_t seconds)
        : request_stop_(room.request_stop), ticks_per_s_(room.definition.tick_rate_hz), seconds_(seconds) {}

    void on_tick(const orrery::sim::World& world, std::vector<orrery::sim::Command>& orders) override {
        if (world.tick() % ticks_per_s_ != 0) return;
        std::printf("tick %llu\n", static_cast<unsigned long long>(world.tick()));
        if (world.tick() >= seconds_ * ticks_per_s_) return request_stop_("the rain is over");
        orders.push_back(orrery::sim::Command::spawn(0, {{0.0f, 30.0f, 0.0f}, {}}));
    }

  private:
    std::function<void(std::string)> request_stop_;
    std::uint64_t ticks_per_s_, seconds_;
};

int main(int argc, char** argv) {
    if (argc < 3) return std::fprintf(stderr, "usage: host_a_game SCENE SECONDS [virtual]\n"), 64;
    GameServerConfig config;
    config.scene = argv[1];
    config.port = 0;
    config.insecure = true;  // for development: every client on this machine may play
    if (argc > 3) config.clock = GameClock::virtual_time;
    const std::uint64_t seconds = std::strtoull(argv[2], nullptr, 10);
    return serve(config, [&](const RoomInfo& room) { return std::make_unique<Rain>(room, seconds); });
}
