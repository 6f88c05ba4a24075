#include "server/cli/swarm_http.h"

#include <algorithm>
#include <charconv>

#include "server/net/handshake_key.h"

namespace orrery::server {

namespace {

constexpr std::string_view kNewLine = "\r\n";
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kFullDigits = 21;  // of 16 bytes; the next digit has their last two bits

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

std::string token_request(std::string_view host) {
    return "POST /token HTTP/1.1\r\nHost: " + std::string(host) + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
}

std::string play_request(std::string_view host, std::string_view key) {
    return "GET /play HTTP/1.1\r\nHost: " + std::string(host) +
           "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + std::string(key) +
           "\r\nSec-WebSocket-Version: 13\r\n\r\n";
}

std::string random_handshake_key(protocol::RandomSource& random) {
    std::array<std::uint8_t, kFullDigits + 1> bytes;
    random.fill(bytes);
    std::string out;
    for (std::size_t i = 0; i < kFullDigits; ++i) out += kDigits[bytes[i] & 63];
    out += kDigits[bytes[kFullDigits] & 48];
    return out + "==";
}

const std::string* HttpAnswer::field(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
    return found == fields.end() ? nullptr : &found->second;
}

std::optional<bool> HttpAnswer::is_whole(std::string_view body) const {
    const std::string* const length = field("content-length");
    std::size_t bytes = 0;
    if (!length || std::from_chars(length->data(), length->data() + length->size(), bytes).ec != std::errc())
        return std::nullopt;
    return body.size() >= bytes;
}

bool HttpAnswer::opens_web_socket(std::string_view key) const {
    const std::string* const upgrade = field("upgrade");
    const std::string* const accept = field("sec-websocket-accept");
    return status == 101 && upgrade && lower(*upgrade) == "websocket" && accept && *accept == handshake_answer(key);
}

std::string HttpAnswer::refusal(std::string_view body) const {
    std::string out = std::to_string(status) + (phrase.empty() ? "" : " " + phrase);
    const std::string_view line = trimmed(body.substr(0, std::min(body.find_first_of("\r\n"), kMaxRefusalBytes)));
    if (!line.empty() && std::none_of(line.begin(), line.end(), is_control)) out.append(": ").append(line);
    return out;
}

std::optional<HttpAnswer> read_http_answer(std::string_view head) {
    HttpAnswer out;
    std::string_view line = head.substr(0, head.find(kNewLine));
    if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return std::nullopt;
    const char* const end = line.data() + 12;
    if (std::from_chars(line.data() + 9, end, out.status).ptr != end || out.status < 100) return std::nullopt;
    out.phrase = trimmed(line.substr(12, kMaxRefusalBytes));
    if (std::any_of(out.phrase.begin(), out.phrase.end(), is_control)) return std::nullopt;
    for (head.remove_prefix(line.size() + kNewLine.size()); !head.starts_with(kNewLine);
         head.remove_prefix(line.size() + kNewLine.size())) {
        const std::size_t length = head.find(kNewLine);
        if (length == std::string_view::npos) return std::nullopt;
        line = head.substr(0, length);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) return std::nullopt;
        out.fields.emplace_back(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    }
    return out;
}

}  // namespace orrery::server
