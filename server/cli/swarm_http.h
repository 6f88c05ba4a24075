// The requests of a bot over WebSocket, and the head of what it is answered. Without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/netcode/crypto.h"

namespace orrery::server {

inline constexpr std::size_t kMaxAnswerBytes = 16u << 10;  // of a head and its body
inline constexpr std::size_t kMaxRefusalBytes = 200;       // of a sentence that a server gives

std::string token_request(std::string_view host);
std::string play_request(std::string_view host, std::string_view key);
std::string random_handshake_key(protocol::RandomSource& random);  // 16 bytes in base64

struct HttpAnswer {
    int status = 0;
    std::string phrase;                                       // "Not Found"
    std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

    const std::string* field(std::string_view name) const;  // the first; null: there is none
    // Whether `body` is all that follows the head. Nothing: the connection's end says so.
    std::optional<bool> is_whole(std::string_view body) const;
    bool opens_web_socket(std::string_view key) const;
    // For people: the status and, of a body that is text, the first line.
    std::string refusal(std::string_view body) const;
};

// `head` ends with the empty line. Nothing: it is not HTTP/1.
std::optional<HttpAnswer> read_http_answer(std::string_view head);

}  // namespace orrery::server
