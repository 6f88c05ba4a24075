// What a process must know before it starts its rooms: where the sidecar is, and where players reach the process.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

#include "server/control/agones.h"
#include "server/control/agones_json.h"
#include "server/control/agones_sidecar.h"

namespace orrery::server {

Result<AgonesConfig> agones_config_from_environment() {
    AgonesConfig config;
    const char* const text = std::getenv("AGONES_SDK_HTTP_PORT");
    if (!text || !*text) return config;
    const std::string_view digits = text;
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) {
        return Error{ErrorCode::invalid_argument, "AGONES_SDK_HTTP_PORT",
                     "\"" + std::string(digits) + "\" is no port; set a number from 1 to 65535, or unset it"};
    }
    config.port = port;
    return config;
}

Result<protocol::Address> agones_public_address(const AgonesConfig& config, const std::string& port_name,
                                                double within_s, const std::function<bool()>& go_on) {
    AgonesSidecar sidecar(config);
    const auto seconds = [](double s) { return std::chrono::microseconds(static_cast<std::int64_t>(s * 1e6)); };
    const std::string place = "GET /gameserver";
    std::string missing = "no sidecar answers";
    for (const std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now() + seconds(within_s);
         std::chrono::steady_clock::now() < end && (!go_on || go_on());) {
        const AgonesSidecar::Answer answer = sidecar.send(AgonesSidecar::Verb::get, "/gameserver");
        const std::optional<AgonesPlace> found = answer.good() ? read_agones_place(answer.body) : std::nullopt;
        if (found && (found->addresses.empty() || found->ports.empty())) missing = "the fleet has given no address yet";
        if (found && !found->addresses.empty() && !found->ports.empty()) {
            const auto port = std::find_if(found->ports.begin(), found->ports.end(),
                                           [&](const auto& entry) { return entry.first == port_name; });
            if (port == found->ports.end()) {
                return Error{ErrorCode::not_found, place,
                             "no port is called \"" + port_name + "\"; name it so under spec.ports of the Fleet"};
            }
            for (const std::string& text : found->addresses) {
                const std::string host = text.find(':') == std::string::npos ? text : "[" + text + "]";
                Result<protocol::Address> address = protocol::Address::parse(host + ":" + std::to_string(port->second));
                if (address) return *address;
            }
            return Error{ErrorCode::not_found, place,
                         "no address of the node is an IP address (the first is " + found->addresses.front() +
                             "); give --public"};
        }
        std::this_thread::sleep_for(seconds(config.retry_first_s));
    }
    return Error{ErrorCode::io, "http://" + config.host + ":" + std::to_string(config.port) + "/gameserver",
                 missing + "; run in a pod of a Fleet, or without --agones, or give --public"};
}

}  // namespace orrery::server
