// The control API before rooms that are none, for tests/e2e/control.py and for a look at its page.
//
//   control_fake --routes               prints what the server answers to
//   control_fake KEYS FOLDER [PORT]     serves on 127.0.0.1 with the keys of a file; FOLDER's files are the recordings
//
// The first line of the output is the address. Lines of the input: "fault none|io|throws", "hold", "release", "reset";
// each is answered by the number of calls that are held.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "server/control/control_server.h"
#include "tests/support/fake_rooms.h"

namespace {

using orrery::testing::FakeRooms;

int serve(const std::string& keys_path, const std::string& folder, int port) {
    using namespace orrery;
    Result<server::ControlKeys> keys = server::ControlKeys::read(keys_path);
    if (!keys) {
        std::cerr << keys.error().to_string() << "\n";
        return 2;
    }
    spdlog::set_default_logger(spdlog::stderr_logger_mt("control"));  // as the program does
    FakeRooms rooms;
    std::size_t number = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        char run_id[40];
        std::snprintf(run_id, sizeof run_id, "%032zx", ++number);
        rooms.add_recording(run_id, file.path().string(), file.file_size());
    }
    server::ControlConfig config;
    config.bind = protocol::Address::ipv4(127, 0, 0, 1, static_cast<std::uint16_t>(port));
    config.keys = std::move(keys).value();
    config.version = "0.1.0";
    config.commit = "0000000000000000000000000000000000000000";
    Result<std::unique_ptr<server::ControlServer>> control = server::ControlServer::start(std::move(config), rooms);
    if (!control) {
        std::cerr << control.error().to_string() << "\n";
        return 3;
    }
    std::cout << (*control)->address().to_string() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "fault none") rooms.set_fault(FakeRooms::Fault::none);
        if (line == "fault io") rooms.set_fault(FakeRooms::Fault::io);
        if (line == "fault throws") rooms.set_fault(FakeRooms::Fault::throws);
        if (line == "hold") rooms.hold(true);
        if (line == "release") rooms.hold(false);
        if (line == "reset") rooms.reset();
        std::cout << rooms.waiting_calls() << std::endl;
    }
    rooms.hold(false);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "--routes") {
        for (const std::string& route : orrery::server::control_routes()) std::cout << route << "\n";
        return 0;
    }
    if (argc != 3 && argc != 4) {
        std::cerr << "control_fake --routes | KEYS FOLDER [PORT]\n";
        return 64;
    }
    return serve(argv[1], argv[2], argc == 4 ? std::atoi(argv[3]) : 0);
}
