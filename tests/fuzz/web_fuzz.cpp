// What a stranger may send to the web server: heads of requests with the answers to them, and frames of a WebSocket. A
// frame's payload is also masked properly, so that what the fuzzer writes reaches the code behind the mask. Whatever
// the pieces that bytes come in, they say the same.
#include <string>
#include <vector>

#include "input.h"
#include "server/net/handshake_key.h"
#include "server/net/web_answers.h"
#include "server/net/web_origin.h"
#include "server/net/web_socket.h"

using namespace orrery;
using namespace orrery::server;
using orrery::fuzz::require;
using protocol::Bytes;

namespace {

constexpr std::uint16_t kPort = 7780;
constexpr std::size_t kMaxAnswerHead = 2 * kMaxHttpHeadBytes;
// Answers to a frame: a pong of at most 125 bytes or a close, each with its header.
constexpr std::size_t kMaxAnswerOfFrame = 127, kLeastFrame = 2, kMaxCloses = 2;

WebConfig config(bool loopback) {
    WebConfig made;
    made.bind = loopback ? protocol::Address::ipv4(127, 0, 0, 1, kPort) : protocol::Address::ipv4(0, 0, 0, 0, kPort);
    made.files.add("/index.html", {'h', 'i'});
    made.files.add("/scene/0123456789abcdef", {1, 2, 3}, true);
    made.origins = {"https://play.example.com"};
    made.no_tokens = "none";
    made.directors = loopback;
    if (loopback)
        made.mint = [](protocol::TokenRole, const std::string&) {
            return Result<protocol::PublicTokenBytes>(protocol::PublicTokenBytes{});
        };
    return made;
}

void answer_head(fuzz::Input input, bool loopback) {
    const Bytes bytes = input.rest();
    const std::string head(bytes.begin(), bytes.end());
    HttpRequest request;
    if (const auto error = read_http_request(head, request)) {
        require(http_status_text(error->status) != "Error" && !error->text.empty());
        require(!answer_error(*error).head.empty());
        return;
    }
    require(request.fields.size() <= kMaxHttpFields && request.field("host") && request.path.front() == '/');
    const WebAnswer made = answer(request, config(loopback), kPort, [] { return true; });
    // One empty line, at the end: nothing of the request ends the head of its answer.
    require(made.head.find("\r\n\r\n") == made.head.size() - 4 && made.head.size() <= kMaxAnswerHead + head.size());
    require(!made.upgraded || (!made.body && made.head.starts_with("HTTP/1.1 101 ")));
    if (const auto origin = normal_origin(*request.field("host"))) require(normal_origin(*origin) == origin);
}

void read_handshake_key(fuzz::Input input) {
    const Bytes bytes = input.rest();
    const std::string key(bytes.begin(), bytes.end());
    if (is_handshake_key(key)) require(key.size() == 24);
    const std::string made = handshake_answer(key);
    require(made.size() == 28 && made.back() == '=');
    require(is_handshake_key(made.substr(0, 22) + "=="));
}

struct Fed {
    std::vector<std::uint8_t> messages, out;  // messages with their sizes
    bool open = true;
};

Fed feed(Bytes bytes, std::size_t piece) {
    WebSocket socket;
    Fed fed;
    while (!bytes.empty()) {
        const Bytes next = bytes.first(std::min(piece, bytes.size()));
        bytes = bytes.subspan(next.size());
        const bool open = socket.receive(
            next,
            [&](Bytes message) {
                require(fed.open && message.size() <= kMaxWebSocketMessage);
                fed.messages.push_back(static_cast<std::uint8_t>(message.size()));
                fed.messages.push_back(static_cast<std::uint8_t>(message.size() >> 8));
                fed.messages.insert(fed.messages.end(), message.begin(), message.end());
            },
            fed.out);
        require(fed.open || !open);
        fed.open = open;
    }
    std::vector<std::uint8_t> after;
    const bool closed = socket.close_sent();
    socket.send(Bytes(), after);
    require(after.empty() == closed);
    return fed;
}

// wslay reads the text of a close only where it comes at once: such a close with wrong text (1007) ends the connection
// before its last byte, one in pieces at its last byte.
bool closed_for_text(const Fed& fed) {
    const std::vector<std::uint8_t>& out = fed.out;
    return !fed.open && out.size() >= 4 && out[out.size() - 2] == 0x03 && out.back() == 0xef;
}

void feed_in_pieces(Bytes bytes, std::size_t piece) {
    const Fed whole = feed(bytes, std::max<std::size_t>(bytes.size(), 1)), parts = feed(bytes, piece);
    require(whole.messages == parts.messages);
    require(whole.open == parts.open || closed_for_text(whole));
    // A close crowds out a pong before it, and one that is wrong by its code and by its text has either's answer.
    require(!whole.open || whole.out == parts.out);
    require(whole.out.size() <= (bytes.size() / kLeastFrame + kMaxCloses) * kMaxAnswerOfFrame);
}

// The first byte of each frame is the fuzzer's; its length and mask are right.
std::vector<std::uint8_t> frames_of(fuzz::Input input) {
    std::vector<std::uint8_t> bytes;
    while (!input.empty()) {
        const std::uint8_t first = input.u8();
        const std::size_t size = input.u16() % (kMaxWebSocketMessage + 2);
        const Bytes payload = input.bytes(size);
        bytes.push_back(first);
        if (payload.size() < 126) {
            bytes.push_back(static_cast<std::uint8_t>(0x80 | payload.size()));
        } else {
            bytes.push_back(0x80 | 126);
            bytes.push_back(static_cast<std::uint8_t>(payload.size() >> 8));
            bytes.push_back(static_cast<std::uint8_t>(payload.size()));
        }
        const std::uint8_t mask[4] = {first, 0x55, 0, 0xff};
        bytes.insert(bytes.end(), mask, mask + 4);
        for (std::size_t i = 0; i < payload.size(); ++i) bytes.push_back(payload[i] ^ mask[i % 4]);
    }
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 64 * 1024) return 0;
    fuzz::Input input(data, size);
    const std::uint8_t mode = input.u8();
    switch (mode % 4) {
        case 0:
            answer_head(input, mode & 4);
            break;
        case 1:
            read_handshake_key(input);
            break;
        case 2:
            feed_in_pieces(input.rest(), 1 + mode / 4);
            break;
        default:
            feed_in_pieces(frames_of(input), 1 + mode / 4);
            break;
    }
    return 0;
}
