#include "server/net/web_connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio.hpp>
#include <utility>

#include "server/net/endpoint.h"
#include "server/net/network_thread.h"

namespace orrery::server {

using protocol::Bytes;
using protocol::TimeNs;

namespace {

// What the kernel holds of a connection beside what the peer's window has taken. A reader that is slow is then noticed
// by what waits here, and the newest snapshot is not behind many old ones.
constexpr int kSendBufferBytes = 256 << 10;
constexpr int kNotSentBytes = 8 << 10;

constexpr protocol::BucketRate kMintRate{20.0, 100.0};    // tokens; each costs about 10 us
constexpr std::size_t kAnswerBytesPerSecond = 16u << 10;  // of a reader that is slow but honest
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::uint16_t kTryAgainLater = 1013;  // of RFC 6455's registry
constexpr std::string_view kNoRoomText = "the first message must be a connect token of this server; ask for a new one";

void set_options(asio::ip::tcp::socket& socket) {
    asio::error_code ignored;
    socket.non_blocking(true, ignored);
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes), ignored);
    (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kNotSentBytes, sizeof kNotSentBytes);
}

}  // namespace

bool WebShared::may_mint() {
    minting.fill(kMintRate, NetworkThread::now());
    return minting.take(kMintRate, NetworkThread::now());
}

WebConnection::WebConnection(WebShared& shared, std::uint64_t id, asio::ip::tcp::socket socket)
    : shared_(shared),
      id_(id),
      socket_(std::move(socket)),
      since_(NetworkThread::now()),
      progress_(NetworkThread::now()) {
    asio::error_code error;
    const asio::ip::tcp::endpoint remote = socket_.remote_endpoint(error);
    if (!error) peer_ = to_address(remote);
}

void WebConnection::start() {
    set_options(socket_);
    wait_to_read();
}

// ---------------------------------------------------------------- reading

void WebConnection::wait_to_read() {
    if (reading_ || held_ || gone()) return;
    reading_ = true;
    socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](const asio::error_code& error) {
        self->reading_ = false;
        if (!error && !self->gone()) self->read();
    });
}

void WebConnection::read() {
    // Before the read: others may have filled the queue since this one began to wait. While an answer goes out, no more
    // of the request is of use.
    if (stage_ == Stage::answer || (stage_ == Stage::stream && behind())) {
        held_ = true;
        return;
    }
    asio::error_code error;
    const std::size_t size = socket_.read_some(asio::buffer(shared_.scratch), error);
    if (error && error != asio::error::would_block && error != asio::error::try_again) return drop();
    const Bytes bytes = Bytes(shared_.scratch).first(error ? 0 : size);
    if (!bytes.empty() && stage_ == Stage::head)
        read_head(bytes);
    else if (!bytes.empty() && stage_ == Stage::stream)
        feed(bytes);
    wait_to_read();
}

void WebConnection::read_head(Bytes bytes) {
    const std::size_t searched = head_.size() < kHeadEnd.size() ? 0 : head_.size() - kHeadEnd.size();
    head_.append(bytes.begin(), bytes.end());
    const std::size_t end = head_.find(kHeadEnd, searched);
    if (end == std::string::npos ? head_.size() > kMaxHttpHeadBytes : end > kMaxHttpHeadBytes)
        return respond(answer_error({431, "the head of the request has more than 8 KiB"}));
    if (end == std::string::npos) return;
    const std::string rest = head_.substr(end + kHeadEnd.size());
    head_.resize(end + kHeadEnd.size());
    HttpRequest request;
    if (const auto error = read_http_request(head_, request)) {
        WebAnswer refusal = answer_error(*error);
        if (request.method == "HEAD") refusal.body.reset();
        return respond(std::move(refusal));
    }
    head_ = {};
    if (request.path == "/") shared_.config.look_for_page();
    WebAnswer made = answer(request, shared_.config, shared_.port, [this] { return shared_.may_mint(); });
    const bool upgraded = made.upgraded;
    respond(std::move(made));
    if (!upgraded || stage_ != Stage::stream) return;
    head_ = rest;  // the first frames
    held_ = behind();
    if (!held_) feed_rest();
}

void WebConnection::feed_rest() {
    const std::string rest = std::exchange(head_, {});
    if (!rest.empty()) feed({reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size()});
}

void WebConnection::respond(WebAnswer answer) {
    out_.insert(out_.end(), answer.head.begin(), answer.head.end());
    body_ = std::move(answer.body);
    stage_ = Stage::answer;
    since_ = progress_ = NetworkThread::now();
    answer_time_ = shared_.config.limits.answer_time +
                   static_cast<TimeNs>(unsent() / kAnswerBytesPerSecond) * protocol::kNsPerSecond;
    if (answer.upgraded) {
        stage_ = Stage::stream;
        web_socket_ = std::make_unique<WebSocket>();
        join(shared_.exchange_for({}));
        count_unsent(out_.size());
    }
    flush();
}

void WebConnection::feed(Bytes bytes) {
    const TimeNs now = NetworkThread::now();
    bool stored = true;
    const bool closing = web_socket_->close_sent();
    const bool joined = exchange_ != nullptr;
    const std::size_t before = out_.size();
    const bool reads_on = web_socket_->receive(
        bytes, [&](Bytes message) { stored = stored && take(message, now); }, out_);
    if (!stored && exchange_) web_socket_->close(kTryAgainLater, "the server is behind", out_);
    if (!stored && !exchange_) web_socket_->close(protocol::kStreamDenied, kNoRoomText, out_);
    count_unsent(joined ? out_.size() - before : unsent());
    if (!reads_on || !stored) report_closed(false);
    if (!closing && web_socket_->close_sent()) since_ = now;
    held_ = behind();
    flush();
}

// The first message is a token, which names the room.
bool WebConnection::take(Bytes message, TimeNs now) {
    if (!exchange_) join(shared_.exchange_for(message));
    return exchange_ && exchange_->received(id_, *flow_, message, now);
}

void WebConnection::join(std::shared_ptr<StreamExchange> room) {
    exchange_ = std::move(room);
    if (exchange_) flow_ = exchange_->opened(id_, peer_, NetworkThread::now());
}

void WebConnection::count_unsent(std::size_t bytes) {
    if (flow_) flow_->unsent += bytes;
}

// Frames that the room cannot take yet, or answers to pings that the peer does not read.
bool WebConnection::behind() const {
    return (exchange_ && !exchange_->may_read(*flow_)) || unsent() > 2 * protocol::kMaxUnsentBytes;
}

void WebConnection::read_on() {
    if (!held_ || gone() || stage_ == Stage::answer) return;
    held_ = stage_ == Stage::stream && behind();
    if (!held_ && stage_ == Stage::stream) feed_rest();
    wait_to_read();
}

// ---------------------------------------------------------------- writing

void WebConnection::send(Bytes message) {
    if (stage_ != Stage::stream) return;
    stranger_ = false;  // the room speaks first to whom it has accepted
    const std::size_t before = out_.size();
    web_socket_->send(message, out_);
    flow_->unsent += out_.size() - before;
    flow_->unsent -= message.size();  // which the room has counted
}

void WebConnection::close(std::uint16_t code, std::string_view text) {
    if (stage_ != Stage::stream) return;
    const std::size_t before = out_.size();
    if (!web_socket_->close_sent()) since_ = NetworkThread::now();
    web_socket_->close(code, text, out_);
    count_unsent(out_.size() - before);
}

// False: the socket takes no more now, or is gone.
bool WebConnection::write(const std::uint8_t* bytes, std::size_t size, std::size_t& sent) {
    while (sent < size) {
        asio::error_code error;
        const std::size_t count = socket_.write_some(asio::buffer(bytes + sent, size - sent), error);
        if (error == asio::error::would_block || error == asio::error::try_again) return false;
        if (error) return drop(), false;
        sent += count;
        progress_ = NetworkThread::now();
        if (flow_) flow_->unsent -= count;
    }
    return true;
}

void WebConnection::flush() {
    if (gone() || writing_) return;
    const bool all =
        write(out_.data(), out_.size(), out_sent_) && (!body_ || write(body_->data(), body_->size(), body_sent_));
    if (gone()) return;
    if (all) return sent_all();
    if (out_sent_ > out_.size() / 2) {
        out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(out_sent_));
        out_sent_ = 0;
    }
    writing_ = true;
    socket_.async_wait(asio::ip::tcp::socket::wait_write, [self = shared_from_this()](const asio::error_code& error) {
        self->writing_ = false;
        if (!error) self->flush();
    });
}

void WebConnection::sent_all() {
    out_.clear();
    out_sent_ = 0;
    body_.reset();
    progress_ = NetworkThread::now();
    if (stage_ == Stage::stream && held_) read_on();
    const bool over = stage_ == Stage::answer || (stage_ == Stage::stream && web_socket_->close_sent());
    if (!over) return;
    if (stage_ == Stage::stream) report_closed(false);
    stage_ = Stage::closing;
    since_ = NetworkThread::now();
    held_ = false;
    asio::error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    wait_to_read();
}

// ---------------------------------------------------------------- ends

void WebConnection::keep_time(TimeNs now) {
    const WebLimits& limits = shared_.config.limits;
    const bool stalled = unsent() > 0 && now >= progress_ + limits.stall_time;
    const bool late = ending_ || stage_ == Stage::closing;
    if (stage_ == Stage::head && now >= since_ + limits.head_time && !ending_)
        return respond(answer_error({408, "the head of the request did not come in time"}));
    if (stage_ == Stage::stream && !exchange_ && now >= since_ + limits.head_time && !web_socket_->close_sent()) {
        close(protocol::kStreamDenied, kNoRoomText);
        flush();
    }
    // Whoever takes a few bytes now and then makes progress, but holds its place no longer than this.
    const bool slow = (stage_ == Stage::answer && now >= since_ + answer_time_) ||
                      (stage_ == Stage::stream && web_socket_->close_sent() && now >= since_ + limits.stall_time);
    if (stalled || slow || (late && now >= since_ + limits.close_time)) drop();
}

void WebConnection::end_room(const StreamExchange& exchange) {
    if (exchange_.get() != &exchange || stage_ != Stage::stream || web_socket_->close_sent()) return;
    close(protocol::kStreamDenied, "the room has ended");
    flush();
}

void WebConnection::end() {
    if (ending_) return;
    ending_ = true;
    if (stage_ != Stage::closing) since_ = NetworkThread::now();
    if (stage_ == Stage::head) drop();
}

void WebConnection::report_closed(bool lost) {
    if (!flow_ || reported_) return;
    reported_ = true;
    exchange_->closed(id_, lost, NetworkThread::now());
}

void WebConnection::drop() {
    if (gone()) return;
    report_closed(true);
    stage_ = Stage::gone;
    asio::error_code ignored;
    socket_.close(ignored);
}

}  // namespace orrery::server
