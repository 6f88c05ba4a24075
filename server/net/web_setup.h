// The web server's settings from those of a game's server.
#pragma once

#include "orrery/server.hpp"
#include "server/net/web_server.h"

namespace orrery::server {

inline constexpr std::uint16_t kDefaultHttpPort = 7780;
inline constexpr std::uint32_t kPageTokenExpires_s = 30;  // a page connects at once
inline constexpr std::int32_t kPageTokenTimeout_s = 10;   // silence after which the connection ends

// The address to listen on. GameServerConfig::http_port says where it is not named.
protocol::Address http_bind(const GameServerConfig& config, const protocol::Address& udp_bind);

// See check(const GameServerConfig&). Only where there is a network.
Result<Ok> check_web(const GameServerConfig& config);

// Whether POST /token gives tokens: only this machine reaches the server, and nobody else makes tokens.
bool gives_tokens(const GameServerConfig& config, const protocol::Address& udp_bind);

// Reads the files of GameServerConfig::web, errors not_found and limit_reached. `token_server` is the address that
// tokens name. Null `scene`: scenes come and go with their rooms.
Result<WebConfig> web_config(const GameServerConfig& config, const protocol::Address& udp_bind,
                             const protocol::Key& key, const protocol::Address& token_server,
                             const protocol::SharedScene* scene);

// Where the web server gives a scene's binary form away.
std::string scene_path(const std::vector<std::uint8_t>& binary);

}  // namespace orrery::server
