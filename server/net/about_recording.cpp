#include "server/net/about_recording.h"

#include <cstdio>

#include "server/base/build_info.h"

namespace orrery::server {

std::vector<protocol::replay::KeyValue> about_recording(const GameServerConfig& config, float tick_rate_hz) {
    std::vector<protocol::replay::KeyValue> about = about_build(config.target);
    const auto flag = [&](const char* name, bool value) { about.push_back({name, value ? "on" : "off"}); };
    const auto number = [&](const char* name, double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", value);
        about.push_back({name, text});
    };
    flag("room.allow_mirror", config.allow_mirror);
    flag("room.hands", config.hands);
    flag("room.serve_scene", config.serve_scene);
    number("room.hold_seat_s", config.hold_seat_s);
    number("room.max_clients", config.max_clients);
    number("room.tick_rate_hz", double{tick_rate_hz});
    if (!config.rules.empty()) about.push_back({"rules", config.rules});
    if (!config.rules_version.empty()) about.push_back({"rules.version", config.rules_version});
    return about;
}

}  // namespace orrery::server
