// Which pages may use the web server: their Origin, and the Host by which a browser came.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/net/http_request.h"

namespace orrery::server {

// "https://play.example.com" or "http://localhost:5173": scheme, host and, unless it is the scheme's own, a port.
// Nothing: `text` is not an origin.
std::optional<std::string> normal_origin(std::string_view text);

// Whether a page may open a WebSocket or ask for a token: it is of the same host as the server, or its origin is in
// `allowed` (normal ones). What is no page of a browser sends no Origin, and may.
bool origin_allowed(const HttpRequest& request, const std::vector<std::string>& allowed);

// Whether the Host is localhost, an address, or that of one of `origins` (normal ones). Another name may be one that
// somebody else's DNS gives this machine, and a page of that name would be of the same host.
bool host_is_known(const HttpRequest& request, const std::vector<std::string>& origins);

// Whether the Host is 127.0.0.1, localhost or [::1] with this port. Then the request was not led here by a name that
// somebody else's DNS gives this machine.
bool host_is_loopback(const HttpRequest& request, std::uint16_t port);

}  // namespace orrery::server
