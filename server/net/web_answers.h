// What the web server answers to a request, without I/O.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/net/http_request.h"
#include "server/net/web_server.h"

namespace orrery::server {

struct WebAnswer {
    std::string head;                                       // with its empty line
    std::shared_ptr<const std::vector<std::uint8_t>> body;  // null: none
    bool upgraded = false;                                  // what follows are frames of a WebSocket
};

// A sentence as plain text.
WebAnswer answer_error(const HttpError& error, const std::string& more_fields = {});

// `port` is that of the server. `may_mint` is asked for each token, so that its caller can limit their rate.
WebAnswer answer(const HttpRequest& request, const WebConfig& config, std::uint16_t port,
                 const std::function<bool()>& may_mint);

}  // namespace orrery::server
