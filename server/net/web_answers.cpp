#include "server/net/web_answers.h"

#include <algorithm>

#include "server/net/handshake_key.h"
#include "server/net/web_origin.h"

namespace orrery::server {
namespace {

constexpr std::string_view kPlay = "/play", kToken = "/token";

// Scripts and styles of this server alone; a page may connect to further servers and fetch tokens of its owner.
constexpr std::string_view kPolicy =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; "
    "connect-src 'self' ws: wss: https: http://localhost:* http://127.0.0.1:*; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

std::string line(std::string_view name, std::string_view value) {
    return std::string(name).append(": ").append(value).append("\r\n");
}

std::string head_of(int status, const std::string& fields) {
    return "HTTP/1.1 " + std::to_string(status) + " " + std::string(http_status_text(status)) + "\r\n" + fields +
           line("Connection", "close") + line("X-Content-Type-Options", "nosniff") +
           line("Referrer-Policy", "no-referrer") + line("Content-Security-Policy", kPolicy) + "\r\n";
}

WebAnswer answer_bytes(std::string_view type, std::shared_ptr<const std::vector<std::uint8_t>> body, bool with_body,
                       const std::string& fields) {
    WebAnswer answer;
    answer.head =
        head_of(200, line("Content-Type", type) + line("Content-Length", std::to_string(body->size())) + fields);
    if (with_body) answer.body = std::move(body);
    return answer;
}

// A page of a named origin may read what it gets.
std::string sharing(const HttpRequest& request, const WebConfig& config) {
    const std::string* const origin = request.field("origin");
    // What is kept in between must know that the answer is another for each of the named origins.
    const std::string vary = origin || !config.origins.empty() ? line("Vary", "Origin") : std::string();
    if (!origin || !origin_allowed(request, config.origins)) return vary;
    return line("Access-Control-Allow-Origin", *origin) + vary;
}

// A proxy on this machine makes everybody's requests come from loopback.
bool is_forwarded(const HttpRequest& request) {
    return std::any_of(request.fields.begin(), request.fields.end(), [](const auto& field) {
        return field.first == "forwarded" || field.first == "via" || field.first.starts_with("x-forwarded-");
    });
}

struct TokenQuery {
    protocol::TokenRole role = protocol::TokenRole::player;
    std::string room;
};

// Names that are not known are passed over, as in the query of any page.
std::optional<TokenQuery> read_token_query(std::string_view query) {
    TokenQuery out;
    bool has_role = false;
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        if (pair.starts_with("room=")) out.room = pair.substr(5);
        if (!pair.starts_with("role=")) continue;
        if (has_role || (pair != "role=player" && pair != "role=director")) return std::nullopt;
        has_role = true;
        if (pair == "role=director") out.role = protocol::TokenRole::director;
    }
    return out;
}

WebAnswer answer_play(const HttpRequest& request, const WebConfig& config) {
    if (request.method != "GET") return answer_error({405, "a WebSocket begins with GET"}, line("Allow", "GET"));
    if (!request.has_word("connection", "upgrade") || !request.has_word("upgrade", "websocket"))
        return answer_error({426, "this path is for a WebSocket"}, line("Upgrade", "websocket"));
    const std::string* const version = request.field("sec-websocket-version");
    if (!version || *version != "13")
        return answer_error({426, "this server speaks version 13 of WebSocket"}, line("Sec-WebSocket-Version", "13"));
    const std::string* const key = request.field("sec-websocket-key");
    if (!key || !is_handshake_key(*key)) return answer_error({400, "the Sec-WebSocket-Key is not 16 bytes in base64"});
    if (!origin_allowed(request, config.origins))
        return answer_error({403, "pages of this origin may not connect; the server's option --allow-origin names it"});
    WebAnswer answer;
    answer.head = "HTTP/1.1 101 Switching Protocols\r\n" + line("Upgrade", "websocket") +
                  line("Connection", "Upgrade") + line("Sec-WebSocket-Accept", handshake_answer(*key)) + "\r\n";
    answer.upgraded = true;
    return answer;
}

WebAnswer answer_token(const HttpRequest& request, const WebConfig& config, std::uint16_t port,
                       const std::function<bool()>& may_mint) {
    if (request.method != "POST") return answer_error({405, "a token is asked for by POST"}, line("Allow", "POST"));
    if (!config.mint) return answer_error({403, config.no_tokens});
    if (!host_is_loopback(request, port))
        return answer_error({403, "tokens are given only to who calls this server 127.0.0.1, localhost or [::1]"});
    if (is_forwarded(request))
        return answer_error({403, "tokens are not given through a proxy: the page's owner has a source of them"});
    if (!origin_allowed(request, config.origins))
        return answer_error({403, "pages of this origin get no token; the server's option --allow-origin names it"});
    const std::optional<TokenQuery> query = read_token_query(request.query);
    if (!query) return answer_error({400, "the query of /token may have role=player or role=director, and room=ID"});
    const bool director = query->role == protocol::TokenRole::director;
    if (director && !config.directors)
        return answer_error({403, "this server gives no director's tokens; its option --hands does"});
    if (!may_mint()) return answer_error({429, "too many tokens were asked for; try again in a second"});
    const Result<protocol::PublicTokenBytes> token = config.mint(query->role, query->room);
    if (!token) return answer_error({503, token.error().to_string()});
    return answer_bytes("application/octet-stream",
                        std::make_shared<const std::vector<std::uint8_t>>(token->begin(), token->end()), true,
                        line("Cache-Control", "no-store") + sharing(request, config));
}

WebAnswer answer_any(const HttpRequest& request, const WebConfig& config, std::uint16_t port,
                     const std::function<bool()>& may_mint) {
    const bool head = request.method == "HEAD";
    if (!head && request.method != "GET" && request.method != "POST")
        return answer_error({405, "this server knows GET, HEAD and POST"}, line("Allow", "GET, HEAD, POST"));
    if (config.bind.is_loopback() && !host_is_known(request, config.origins))
        return answer_error({421,
                             "this server is for its own machine: call it localhost or by its address, or name "
                             "the host by --allow-origin"});
    if (request.path == kPlay) return answer_play(request, config);
    if (request.path == kToken) return answer_token(request, config, port, may_mint);
    const WebFile* const file = config.files.find(request.path);
    if (!file) return answer_error({404, "there is nothing of this name here"});
    if (request.method == "POST") return answer_error({405, "this path is read by GET"}, line("Allow", "GET, HEAD"));
    const std::string fields =
        line("ETag", file->tag) +
        line("Cache-Control", file->immutable ? "public, max-age=31536000, immutable" : "no-cache") +
        sharing(request, config);
    if (request.has_word("if-none-match", file->tag)) {
        WebAnswer same;
        same.head = head_of(304, fields);
        return same;
    }
    return answer_bytes(file->type, file->bytes, !head, fields);
}

}  // namespace

WebAnswer answer_error(const HttpError& error, const std::string& more_fields) {
    const std::string text = error.text + "\n";
    WebAnswer answer;
    answer.head = head_of(error.status, line("Content-Type", "text/plain; charset=utf-8") +
                                            line("Content-Length", std::to_string(text.size())) +
                                            line("Cache-Control", "no-store") + more_fields);
    answer.body = std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end());
    return answer;
}

WebAnswer answer(const HttpRequest& request, const WebConfig& config, std::uint16_t port,
                 const std::function<bool()>& may_mint) {
    WebAnswer made = answer_any(request, config, port, may_mint);
    if (request.method == "HEAD") made.body.reset();
    return made;
}

}  // namespace orrery::server
