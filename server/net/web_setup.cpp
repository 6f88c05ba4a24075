#include "server/net/web_setup.h"

#include <ctime>

#include "protocol/session/handshake.h"
#include "server/net/web_origin.h"

namespace orrery::server {

using protocol::Address;

namespace {

constexpr std::string_view kNoPage =
    "<!doctype html>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"refresh\" content=\"5\">\n<title>Orrery</title>\n"
    "<p>The server runs and has no page to show yet. In a checkout <code>deploy/page</code> builds it, and then it "
    "appears here by itself; <code>deploy/run</code> does so unless it has <code>--no-page</code>. The image and an "
    "installed package with the component <code>page</code> have it. <code>--web DIR</code> names the folder of "
    "another one.\n<p>Clients connect by WebSocket at <code>/play</code>.\n";

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace

std::string scene_path(const std::vector<std::uint8_t>& binary) {
    std::array<char, 32> path;
    std::snprintf(path.data(), path.size(), "/scene/%016llx",
                  static_cast<unsigned long long>(protocol::hash_of_scene_bytes(binary)));
    return path.data();
}

void WebConfig::look_for_page() {
    if (awaited_page.empty()) return;
    const Result<bool> found = files.look_for(awaited_page);
    if (found && *found) awaited_page.clear();
}

Address http_bind(const GameServerConfig& config, const Address& udp_bind) {
    Address bind = udp_bind;
    bind.port = config.http_port.value_or(config.port == 0 ? std::uint16_t{0} : kDefaultHttpPort);
    return bind;
}

Result<Ok> check_web(const GameServerConfig& config) {
    for (std::size_t i = 0; i < config.allowed_origins.size(); ++i) {
        if (normal_origin(config.allowed_origins[i])) continue;
        return Error{ErrorCode::invalid_argument, "allowed_origins[" + std::to_string(i) + "] (--allow-origin)",
                     "\"" + config.allowed_origins[i] +
                         "\" is not an origin: write scheme, host and port alone, like https://play.example.com"};
    }
    if (!config.http && (!config.web.empty() || config.http_port || !config.allowed_origins.empty()))
        return Error{ErrorCode::invalid_argument, "http (--no-http)",
                     "without the web server http_port (--http-port), web (--web) and allowed_origins "
                     "(--allow-origin) have no effect: leave them out"};
    return Ok{};
}

bool gives_tokens(const GameServerConfig& config, const Address& udp_bind) {
    return udp_bind.is_loopback() && config.key_file.empty();
}

Result<WebConfig> web_config(const GameServerConfig& config, const Address& udp_bind, const protocol::Key& key,
                             const Address& token_server, const protocol::SharedScene* scene) {
    WebConfig web;
    web.bind = http_bind(config, udp_bind);
    if (!config.web.empty()) {
        Result<WebFiles> files = WebFiles::read(config.web);
        if (!files) return files.error();
        web.files = std::move(files).value();
    } else {
        web.files.add("/index.html", bytes_of(kNoPage));
        web.awaited_page = config.page;
        web.look_for_page();
    }
    if (config.serve_scene && scene) web.files.add(scene_path(scene->binary), scene->binary, true);
    for (const std::string& origin : config.allowed_origins)
        web.origins.push_back(normal_origin(origin).value_or(std::string()));
    web.no_tokens = "this server gives no tokens away: the owner of the page has its own source of them";
    if (!gives_tokens(config, udp_bind)) return web;
    web.directors = config.hands;
    web.mint = [key, token_server, random = protocol::SystemRandom()](
                   protocol::TokenRole role, const std::string& room) mutable -> Result<protocol::PublicTokenBytes> {
        if (!room.empty()) return Error{ErrorCode::not_found, "room", "this server has one room: name none"};
        protocol::TokenRequest request;
        request.protocol_id = protocol::kNetcodeProtocolId;
        request.client_id = random.next_u64();
        request.servers.add(token_server);
        request.create_timestamp = static_cast<std::uint64_t>(std::time(nullptr));
        request.expires_in_seconds = kPageTokenExpires_s;
        request.timeout_seconds = kPageTokenTimeout_s;
        if (role != protocol::TokenRole::player) request.user_data = *protocol::write_token_identity(role, {});
        return protocol::mint_connect_token(request, key, random);
    };
    return web;
}

}  // namespace orrery::server
