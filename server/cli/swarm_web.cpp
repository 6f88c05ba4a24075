// A bot over WebSocket: a token by POST /token unless it has one, then the frames at /play. wslay reads and writes
// them.
#include <wslay/wslay.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "protocol/netcode/stream_server.h"
#include "server/cli/swarm_http.h"
#include "server/cli/swarm_tcp.h"
#include "server/cli/swarm_way.h"

namespace orrery::server {

using protocol::Address;
using protocol::kNsPerSecond;

namespace {

constexpr std::uint64_t kAskAgain_ns = kNsPerSecond;  // after 429
constexpr std::uint64_t kLeave_ns = kNsPerSecond;     // for the server to read that a bot leaves
constexpr std::size_t kMaxUnsent = 64u << 10;         // above it the client keeps its messages
constexpr std::size_t kMaxMessage = protocol::kConnectTokenBytes;
constexpr std::uint16_t kGoodbye = 1000, kBroken = 1006;  // of RFC 6455
constexpr std::string_view kHeadEnd = "\r\n\r\n";

class WebWay final : public BotWay {
  public:
    WebWay(const Address& server, SwarmTraffic& counted) : server_(server), host_(server.to_string()), tcp_(counted) {}
    ~WebWay() override {
        if (frames_) wslay_event_context_free(frames_);
    }

    Result<client::Client> make_client(const orrery_client_config& config) override {
        std::optional<client::Client> client = client::Client::create_stream(&config);
        if (!client) return Error{ErrorCode::limit_reached, "this machine", "out of memory"};
        return std::move(*client);
    }

    void connect(client::Client& client, const protocol::PublicTokenBytes* token, std::uint64_t now_ns) override {
        if (!token) return ask_for_token();
        client.connect(*token, now_ns);
        ask_for_upgrade();
    }

    void poll(client::Client& client, std::uint64_t now_ns) override {
        if (stage_ == Stage::pause && now_ns >= ask_again_ns_) ask_for_token();
        if (stage_ == Stage::token || stage_ == Stage::upgrade) read_answer(client, now_ns);
        if (stage_ == Stage::open) receive(client, now_ns);
        client.poll(now_ns);
        if (stage_ == Stage::open) send(client);
    }

    void leave(client::Client& client, std::uint64_t now_ns) override {
        client.disconnect(now_ns);
        if (stage_ != Stage::open) return;
        send(client);
        wslay_event_queue_close(frames_, kGoodbye, nullptr, 0);
        wslay_event_send(frames_);
        tcp_.flush();
        stage_ = Stage::leaving;
        leave_until_ns_ = now_ns + kLeave_ns;
    }

    // A socket that is closed with something unread resets the connection: the server may then not read the goodbye.
    bool still_leaves(std::uint64_t now_ns) override {
        if (stage_ != Stage::leaving) return false;
        tcp_.flush();
        std::array<std::uint8_t, 4096> unread;
        while (tcp_.receive(unread.data(), unread.size()) > 0) {
        }
        return !tcp_.ended() && now_ns < leave_until_ns_;
    }

    int handle() const override { return tcp_.handle(); }
    short events() const override { return tcp_.events(); }
    bool unreachable() const override { return tcp_.refused(); }
    const std::string& failure() const override { return failure_; }

    std::string reason(const std::string& said) const override {
        if (stage_ == Stage::pause) return refusal_;
        if (stage_ == Stage::token || stage_ == Stage::upgrade)
            return "no answer to " + request() + " within the time of --join-timeout-s";
        if (!broken_.empty()) return broken_;
        if (close_code_ == 0) return said;
        const std::string code = "close code " + std::to_string(close_code_);
        const std::string added = close_text_.empty() ? "" : ": " + close_text_;
        if (close_code_ < protocol::kStreamDenied || said.find(code) != std::string::npos)
            return "the server closed the WebSocket (" + code + added + ")";
        return said + (said.find(close_text_) == std::string::npos ? added : "") + " (" + code + ")";
    }

  private:
    enum class Stage : std::uint8_t { token, pause, upgrade, open, leaving, closed };

    std::string request() const { return stage_ == Stage::token ? "POST /token" : "GET /play"; }

    void ask_for_token() {
        stage_ = Stage::token;
        ask(token_request(host_));
    }
    void ask_for_upgrade() {
        stage_ = Stage::upgrade;
        protocol::SystemRandom random;
        key_ = random_handshake_key(random);
        ask(play_request(host_, key_));
    }
    void ask(const std::string& text) {
        answer_.clear();
        tcp_.open(server_);
        tcp_.out().assign(text.begin(), text.end());
        tcp_.flush();
    }

    void read_answer(client::Client& client, std::uint64_t now_ns) {
        tcp_.flush();
        std::array<std::uint8_t, 4096> some;
        while (answer_.size() < kMaxAnswerBytes) {
            const std::size_t got = tcp_.receive(some.data(), std::min(some.size(), kMaxAnswerBytes - answer_.size()));
            if (got == 0) break;
            answer_.append(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
        }
        const bool no_more = tcp_.ended() || answer_.size() >= kMaxAnswerBytes;
        const std::size_t end = answer_.find(kHeadEnd);
        if (end == std::string::npos) {
            if (no_more) no_answer();
            return;
        }
        const std::size_t head = end + kHeadEnd.size();
        const std::optional<HttpAnswer> answer = read_http_answer(std::string_view(answer_).substr(0, head));
        if (!answer) {
            failure_ = "the answer to " + request() + " is no HTTP";
            return;
        }
        const std::string body = answer_.substr(head);
        if (answer->status == 101) return upgraded(*answer, body, client, now_ns);
        if (no_more || answer->is_whole(body).value_or(false)) answered(*answer, body, client, now_ns);
    }

    void no_answer() {
        const std::string error = tcp_.error();
        failure_ = answer_.empty() ? "no answer to " + request() : "the answer to " + request() + " is no HTTP";
        if (!error.empty()) failure_ += ": " + error;
    }

    void upgraded(const HttpAnswer& answer, const std::string& rest, client::Client& client, std::uint64_t now_ns) {
        if (stage_ != Stage::upgrade || !answer.opens_web_socket(key_)) {
            failure_ = "the answer to " + request() + " is not that of a WebSocket server";
            return;
        }
        if (!make_frames()) {
            failure_ = "this machine: out of memory";
            return;
        }
        stage_ = Stage::open;
        answer_ = rest;  // the first frames
        client.stream_opened(now_ns);
    }

    void answered(const HttpAnswer& answer, const std::string& body, client::Client& client, std::uint64_t now_ns) {
        if (stage_ == Stage::token && answer.status == 200) {
            if (client.connect({reinterpret_cast<const std::uint8_t*>(body.data()), body.size()}, now_ns) != ORRERY_OK)
                failure_ = "the answer to POST /token is no token";
            else
                ask_for_upgrade();
            return;
        }
        refusal_ = request() + ": " + answer.refusal(body);
        if (stage_ == Stage::token && answer.status == 429) {
            stage_ = Stage::pause;
            ask_again_ns_ = now_ns + kAskAgain_ns;
            tcp_.close();
        } else {
            failure_ = refusal_;
        }
    }

    // ------------------------------------------------------------ frames

    static WebWay& of(void* user_data) { return *static_cast<WebWay*>(user_data); }

    bool make_frames() {
        wslay_event_callbacks callbacks{};
        callbacks.recv_callback = [](wslay_event_context_ptr context, std::uint8_t* to, std::size_t room, int,
                                     void* user_data) -> ssize_t {
            const std::size_t got = of(user_data).take(to, room);
            if (got == 0) return wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK), -1;
            return static_cast<ssize_t>(got);
        };
        callbacks.send_callback = [](wslay_event_context_ptr, const std::uint8_t* bytes, std::size_t size, int,
                                     void* user_data) -> ssize_t {
            std::vector<std::uint8_t>& out = of(user_data).tcp_.out();
            out.insert(out.end(), bytes, bytes + size);
            return static_cast<ssize_t>(size);
        };
        callbacks.genmask_callback = [](wslay_event_context_ptr, std::uint8_t* mask, std::size_t size, void*) {
            protocol::SystemRandom().fill({mask, size});
            return 0;
        };
        callbacks.on_msg_recv_callback = [](wslay_event_context_ptr, const wslay_event_on_msg_recv_arg* message,
                                            void* user_data) { of(user_data).received(*message); };
        if (wslay_event_context_client_init(&frames_, &callbacks, this) != 0) return false;
        wslay_event_config_set_max_recv_msg_length(frames_, kMaxMessage);
        return true;
    }

    // First what came with the answer's head. A short read has emptied the socket.
    std::size_t take(std::uint8_t* to, std::size_t room) {
        if (!answer_.empty()) {
            const std::size_t count = std::min(room, answer_.size());
            std::copy_n(answer_.begin(), count, to);
            answer_.erase(0, count);
            return count;
        }
        if (emptied_) return 0;
        const std::size_t got = tcp_.receive(to, room);
        emptied_ = got < room;
        return got;
    }

    void received(const wslay_event_on_msg_recv_arg& message) {
        if (message.opcode == WSLAY_BINARY_FRAME)
            receiver_->stream_received({message.msg, message.msg_length}, received_ns_);
        if (message.opcode != WSLAY_CONNECTION_CLOSE) return;
        constexpr std::size_t kCodeBytes = 2;
        close_code_ = message.status_code == 0 ? kGoodbye : message.status_code;
        if (message.msg_length > kCodeBytes)
            close_text_.assign(message.msg + kCodeBytes, message.msg + message.msg_length);
    }

    void receive(client::Client& client, std::uint64_t now_ns) {
        receiver_ = &client;
        received_ns_ = now_ns;
        emptied_ = false;
        const bool well = wslay_event_recv(frames_) == 0;
        receiver_ = nullptr;
        if (close_code_ != 0) return closed(close_code_, client, now_ns);
        if (!well || wslay_event_get_read_enabled(frames_) == 0) {
            broken_ = "the server sent what is no frame of a WebSocket";
        } else if (tcp_.ended()) {
            const std::string error = tcp_.error();
            broken_ = "the connection broke" + (error.empty() ? "" : ": " + error);
        }
        if (!broken_.empty()) closed(kBroken, client, now_ns);
    }

    void closed(std::uint16_t code, client::Client& client, std::uint64_t now_ns) {
        wslay_event_send(frames_);  // the answer to a close
        tcp_.flush();
        stage_ = Stage::closed;
        client.stream_closed(code, close_text_, now_ns);
    }

    void send(client::Client& client) {
        while (tcp_.unsent() < kMaxUnsent) {
            const auto message = client.stream_next();
            if (!message) break;
            const wslay_event_msg frame{WSLAY_BINARY_FRAME, message->data(), message->size()};
            if (wslay_event_queue_msg(frames_, &frame) != 0) break;
            wslay_event_send(frames_);
        }
        if (wslay_event_want_write(frames_) != 0) wslay_event_send(frames_);
        tcp_.flush();
    }

    const Address server_;
    const std::string host_;
    BotTcp tcp_;
    Stage stage_ = Stage::token;
    std::uint64_t ask_again_ns_ = 0, leave_until_ns_ = 0, received_ns_ = 0;
    std::string key_, answer_, refusal_, failure_, broken_, close_text_;
    wslay_event_context_ptr frames_ = nullptr;
    client::Client* receiver_ = nullptr;  // during receive()
    bool emptied_ = false;
    std::uint16_t close_code_ = 0;  // that the server has sent; 0: none
};

}  // namespace

std::unique_ptr<BotWay> make_web_way(const Address& server, SwarmTraffic& counted) {
    return std::make_unique<WebWay>(server, counted);
}

}  // namespace orrery::server
