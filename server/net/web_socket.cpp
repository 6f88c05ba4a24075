#include "server/net/web_socket.h"

#include <wslay/wslay.h>

#include <algorithm>

namespace orrery::server {

using protocol::Bytes;

namespace {

constexpr std::size_t kMaxCloseText = 122;  // wslay's limit: less than 123

}  // namespace

struct WebSocket::State {
    wslay_event_context_ptr context = nullptr;
    Bytes in;                                                // during receive()
    std::vector<std::uint8_t>* out = nullptr;                // during a call
    const std::function<void(Bytes)>* on_message = nullptr;  // during receive()
    std::vector<std::uint8_t> message;  // as far as it has come; one flat buffer, whatever the fragments
    bool in_message = false;

    static State& of(void* user_data) { return *static_cast<State*>(user_data); }

    static ssize_t read(wslay_event_context_ptr context, std::uint8_t* to, std::size_t room, int, void* user_data) {
        State& s = of(user_data);
        if (s.in.empty()) return wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK), -1;
        const std::size_t count = std::min(room, s.in.size());
        std::copy_n(s.in.begin(), count, to);
        s.in = s.in.subspan(count);
        return static_cast<ssize_t>(count);
    }

    static ssize_t write(wslay_event_context_ptr, const std::uint8_t* bytes, std::size_t size, int, void* user_data) {
        State& s = of(user_data);
        s.out->insert(s.out->end(), bytes, bytes + size);
        return static_cast<ssize_t>(size);
    }

    void fail(std::uint16_t code) {
        wslay_event_queue_close(context, code, nullptr, 0);
        wslay_event_shutdown_read(context);
    }

    static void begin_frame(wslay_event_context_ptr, const wslay_event_on_frame_recv_start_arg* frame,
                            void* user_data) {
        State& s = of(user_data);
        if (wslay_is_ctrl_frame(frame->opcode)) return;
        if (frame->opcode == WSLAY_TEXT_FRAME) return s.fail(WSLAY_CODE_UNSUPPORTED_DATA);
        if (frame->payload_length > kMaxWebSocketMessage - s.message.size()) s.fail(WSLAY_CODE_MESSAGE_TOO_BIG);
        s.in_message = true;
    }

    static void add(wslay_event_context_ptr context, const wslay_event_on_frame_recv_chunk_arg* chunk,
                    void* user_data) {
        State& s = of(user_data);
        if (!s.in_message || !wslay_event_get_read_enabled(context)) return;
        if (chunk->data_length > kMaxWebSocketMessage - s.message.size()) return s.fail(WSLAY_CODE_MESSAGE_TOO_BIG);
        s.message.insert(s.message.end(), chunk->data, chunk->data + chunk->data_length);
    }

    static void end_frame(wslay_event_context_ptr, void* user_data) { of(user_data).in_message = false; }

    static void whole(wslay_event_context_ptr context, const wslay_event_on_msg_recv_arg* message, void* user_data) {
        State& s = of(user_data);
        if (wslay_is_ctrl_frame(message->opcode)) return;
        if (wslay_event_get_read_enabled(context)) (*s.on_message)(s.message);
        s.message.clear();
    }

    void write_all(std::vector<std::uint8_t>& to) {
        out = &to;
        if (wslay_event_want_write(context)) wslay_event_send(context);
        out = nullptr;
    }
};

WebSocket::WebSocket() : state_(std::make_unique<State>()) {
    wslay_event_callbacks callbacks{};
    callbacks.recv_callback = State::read;
    callbacks.send_callback = State::write;
    callbacks.on_frame_recv_start_callback = State::begin_frame;
    callbacks.on_frame_recv_chunk_callback = State::add;
    callbacks.on_frame_recv_end_callback = State::end_frame;
    callbacks.on_msg_recv_callback = State::whole;
    if (wslay_event_context_server_init(&state_->context, &callbacks, state_.get()) != 0) throw std::bad_alloc();
    // wslay would keep a block for each fragment, of one byte at the worst.
    wslay_event_config_set_no_buffering(state_->context, 1);
    wslay_event_config_set_max_recv_msg_length(state_->context, kMaxWebSocketMessage);
}

WebSocket::~WebSocket() { wslay_event_context_free(state_->context); }

bool WebSocket::receive(Bytes bytes, const std::function<void(Bytes)>& on_message, std::vector<std::uint8_t>& out) {
    State& s = *state_;
    if (!wslay_event_want_read(s.context)) return false;
    s.in = bytes;
    s.on_message = &on_message;
    const int failed = wslay_event_recv(s.context);
    s.in = {};
    s.on_message = nullptr;
    s.write_all(out);
    return failed == 0 && wslay_event_want_read(s.context) && !close_received() && !close_sent();
}

void WebSocket::send(Bytes message, std::vector<std::uint8_t>& out) {
    const wslay_event_msg frame{WSLAY_BINARY_FRAME, message.data(), message.size()};
    if (wslay_event_queue_msg(state_->context, &frame) == 0) state_->write_all(out);
}

void WebSocket::close(std::uint16_t code, std::string_view text, std::vector<std::uint8_t>& out) {
    const std::string_view kept = text.substr(0, kMaxCloseText);
    wslay_event_queue_close(state_->context, code, reinterpret_cast<const std::uint8_t*>(kept.data()), kept.size());
    state_->write_all(out);
}

bool WebSocket::close_received() const { return wslay_event_get_close_received(state_->context) != 0; }
bool WebSocket::close_sent() const { return wslay_event_get_close_sent(state_->context) != 0; }

}  // namespace orrery::server
