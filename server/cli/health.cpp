#include "server/cli/health.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "orrery/server.hpp"
#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/cli/settings.h"
#include "server/control/health_probe.h"

namespace orrery::server {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr double kMaxWait_s = 3600.0;
constexpr std::chrono::milliseconds kAskEvery{100};

ProbeAnswer ask_until(const protocol::Address& server, const std::string& path, double wait_s) {
    const auto ends = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait_s);
    for (;;) {
        const ProbeAnswer answer = ask_health(server, path);
        if (answer.status == 200 || std::chrono::steady_clock::now() >= ends) return answer;
        std::this_thread::sleep_for(kAskEvery);
    }
}

}  // namespace

int health_command(const std::vector<std::string>& arguments) {
    std::string url;
    std::uint16_t port = kDefaultHealthPort;
    double wait_s = 0.0;
    bool ask_ready = false, json = false;
    CLI::App app(
        "Asks the health port of a server that runs: 0 it is live, 1 it is not, 3 nothing answers within 2 s. For the "
        "health check of a container.",
        "orrery health");
    const auto port_option =
        app.add_option("--health-port", port, "the port on 127.0.0.1 [ORRERY_HEALTH_PORT, or else 7791]")
            ->check(whole_number(1, 65'535));
    app.add_option("--url", url, "ADDR:PORT of the health port, or http://ADDR:PORT")->excludes(port_option);
    app.add_flag("--ready", ask_ready, "ask whether it takes joins (/readyz), not whether its ticks advance (/livez)");
    app.add_option("--wait-s", wait_s, "ask again until the answer is good, for so many seconds")
        ->check(CLI::Range(0.0, kMaxWait_s));
    app.add_flag("--json", json, "print one JSON object");
    std::vector<std::string> all = arguments;
    const auto named = [&](std::string_view option) {
        return std::any_of(arguments.begin(), arguments.end(),
                           [&](const std::string& text) { return text.starts_with(option); });
    };
    if (const auto value = setting_in(environment_of_process(), "health-port");
        value && !named("--health-port") && !named("--url"))
        all.push_back("--health-port=" + *value);
    if (const auto exit = parse_arguments(app, all)) return *exit;

    protocol::Address server = protocol::Address::ipv4(127, 0, 0, 1, port);
    if (!url.empty()) {
        std::string_view rest = url;
        if (rest.starts_with(kHttp)) rest.remove_prefix(kHttp.size());
        if (rest.ends_with('/')) rest.remove_suffix(1);
        const Result<protocol::Address> parsed = protocol::Address::parse(rest);
        if (!parsed) return complain(Error{ErrorCode::parse, "--url", parsed.error().message}, kExitUsage);
        server = *parsed;
    }
    const std::string path = ask_ready ? "/readyz" : "/livez";
    const ProbeAnswer answer = ask_until(server, path, wait_s);
    const bool good = answer.status == 200;
    if (json) {
        JsonLine line;
        line.text("check", path.substr(1)).text("address", server.to_string()).boolean("good", good);
        line.number("status", answer.status > 0 ? std::optional<double>(answer.status) : std::nullopt);
        std::printf("%s\n", line.text("reason", answer.reason).str().c_str());
    } else {
        const std::string status = answer.status > 0 ? std::to_string(answer.status) : "no answer";
        std::printf("%s%s: %s: %s\n", server.to_string().c_str(), path.c_str(), status.c_str(), answer.reason.c_str());
    }
    return good ? kExitGood : answer.status > 0 ? kExitFalse : kExitMachine;
}

}  // namespace orrery::server
