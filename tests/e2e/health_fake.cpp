// The health port before rooms that are none, for tests/e2e/metrics.py.
//
//   health_fake     serves on a free port of 127.0.0.1 until its input ends
//
// The first line of the output is the address. Lines of the input: "stalled SECONDS", "draining 0|1", "failing ROOMS";
// each is answered by "done".
#include <iostream>
#include <string>

#include "server/control/health_server.h"
#include "tests/support/still_rooms.h"

int main() {
    using namespace orrery;
    test::StillRooms rooms(false);
    rooms.set([](server::HostView& view) {
        view.clients = 3;
        view.totals.ticks = 100;
        for (int i = 0; i < 100; ++i) view.totals.tick_s.note(0.0005), view.totals.lateness_s.note(0.0001);
    });
    const auto server = server::HealthServer::start({protocol::Address::ipv4(127, 0, 0, 1, 0)}, rooms);
    if (!server) {
        std::cerr << server.error().to_string() << "\n";
        return 3;
    }
    std::cout << (*server)->address().to_string() << std::endl;
    std::string name;
    for (double value; std::cin >> name >> value;) {
        rooms.set([&](server::HostView& view) {
            if (name == "stalled") view.stalled_s = value;
            if (name == "draining") view.draining = value != 0.0;
            if (name == "failing") view.recordings_failing = static_cast<std::uint32_t>(value);
        });
        std::cout << "done" << std::endl;
    }
    return 0;
}
