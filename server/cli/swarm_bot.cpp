#include "server/cli/swarm_bot.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/ip/udp.hpp>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <limits>
#include <system_error>

#include "protocol/netcode/connect_token.h"
#include "protocol/session/handshake.h"
#include "server/net/endpoint.h"

namespace orrery::server {

using protocol::Address;

namespace {

constexpr std::uint64_t kNever_ns = std::numeric_limits<std::uint64_t>::max();
constexpr int kReceiveBufferBytes = 1 << 20;  // room for a burst of snapshots while other bots have their turn

std::uint64_t after(std::uint64_t now_ns, double seconds) {
    return std::isfinite(seconds) ? now_ns + static_cast<std::uint64_t>(seconds * 1e9) : kNever_ns;
}

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
    return static_cast<double>(to_ns - from_ns) * 1e-9;
}

}  // namespace

BotSocket::BotSocket(const Address& server) {
    server_.family = server.family == Address::Family::ipv4 ? 1 : 2;
    server_.port = server.port;
    std::copy(server.bytes.begin(), server.bytes.end(), server_.bytes);
    const asio::ip::udp::endpoint endpoint = to_endpoint<asio::ip::udp::endpoint>(server);
    handle_ = ::socket(endpoint.protocol().family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    error_ = handle_ < 0 ? errno : 0;
    if (handle_ < 0) return;
    ::setsockopt(handle_, SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes);
    if (::connect(handle_, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) return;
    error_ = errno;
    ::close(handle_);
    handle_ = -1;
}

std::string BotSocket::error() const { return std::error_code(error_, std::generic_category()).message(); }

BotSocket::~BotSocket() {
    if (handle_ >= 0) ::close(handle_);
}

orrery_transport BotSocket::transport() {
    orrery_transport out{};
    out.user = this;
    out.send = [](void* user, const orrery_address* to, const std::uint8_t* datagram, std::size_t size) {
        static_cast<BotSocket*>(user)->send(*to, datagram, size);
    };
    out.receive = [](void* user, orrery_address* from, std::uint8_t* buffer, std::size_t capacity) {
        return static_cast<BotSocket*>(user)->receive(*from, buffer, capacity);
    };
    return out;
}

// A server that gives tokens names all of its addresses in them. Bots use the one that was given.
void BotSocket::send(const orrery_address& to, const std::uint8_t* datagram, std::size_t size) {
    if (to.family != server_.family || to.port != server_.port ||
        !std::equal(std::begin(to.bytes), std::end(to.bytes), server_.bytes))
        return;
    // The error of an earlier datagram comes out of this call, which then sends nothing.
    ssize_t sent = ::send(handle_, datagram, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == ECONNREFUSED) {
        unreachable_ = true;
        sent = ::send(handle_, datagram, size, MSG_NOSIGNAL);
    }
    if (sent > 0) bytes_out += static_cast<std::uint64_t>(sent);
}

std::size_t BotSocket::receive(orrery_address& from, std::uint8_t* buffer, std::size_t capacity) {
    constexpr int kTries = 16;
    for (int i = 0; i < kTries; ++i) {
        const ssize_t got = ::recv(handle_, buffer, capacity, 0);
        if (got > 0) {
            unreachable_ = false;
            bytes_in += static_cast<std::uint64_t>(got);
            from = server_;
            return static_cast<std::size_t>(got);
        }
        if (got < 0 && errno == ECONNREFUSED) unreachable_ = true;
        if (got < 0 && errno != ECONNREFUSED && errno != EINTR) break;
    }
    return 0;
}

Bot::Bot(const SwarmDoor& door, const BotPlan& plan, std::size_t channels, SwarmTotals& totals, std::uint64_t now_ns)
    : door_(door),
      plan_(plan),
      channels_(channels),
      totals_(totals),
      next_try_ns_(after(now_ns, plan.first_join_s())) {}

bool Bot::connected() const {
    if (!client_) return false;
    const orrery_client_state state = client_->state();
    return state == ORRERY_STATE_JOINING || state == ORRERY_STATE_PLAYING;
}

SwarmTraffic Bot::traffic() const {
    SwarmTraffic out = before_;
    if (socket_) {
        out.bytes_in += socket_->bytes_in;
        out.bytes_out += socket_->bytes_out;
    }
    if (client_) out.lost += client_->stats().snapshots_lost;
    return out;
}

std::uint64_t Bot::back_at(std::uint64_t now_ns) const { return after(now_ns, plan_.away_s(session_)); }

void Bot::try_no_more() {
    tries_ = false;
    if (state_ == State::away) state_ = State::done;
}

void Bot::finish(std::uint64_t now_ns) {
    tries_ = false;
    if (state_ == State::trying) ++totals_.given_up;
    if (state_ == State::playing) ++totals_.left;
    if (client_) client_->disconnect(now_ns);
    ended(kNever_ns);
}

void Bot::ended(std::uint64_t again_at_ns) {
    before_ = traffic();
    client_.reset();
    socket_.reset();
    walk_.reset();
    ++session_;
    next_try_ns_ = again_at_ns;
    state_ = tries_ ? State::away : State::done;
}

void Bot::fail(const std::string& reason, std::uint64_t now_ns) {
    const bool nobody = state_ == State::trying && unreachable();
    (state_ == State::playing ? totals_.disconnected : totals_.refused)
        .add(nobody ? "nothing listens at " + door_.server.to_string() : reason);
    ended(back_at(now_ns));
}

void Bot::try_to_join(std::uint64_t now_ns) {
    state_ = State::trying;
    tried_ns_ = now_ns;
    seated_ = false;
    snapshots_ = 0;
    warning_.clear();
    ++totals_.tried;
    socket_ = std::make_unique<BotSocket>(door_.server);
    if (socket_->handle() < 0) return fail("this machine gave no socket: " + socket_->error(), now_ns);
    orrery_client_config config;
    orrery_client_config_init(&config);
    config.transport = socket_->transport();
    config.log.user = &warning_;
    config.log.write = [](void* user, std::int32_t level, const char* text) {
        if (level >= ORRERY_LOG_WARNING) *static_cast<std::string*>(user) = text;
    };
    client_ = client::Client::create(&config);
    if (!client_) return fail("out of memory", now_ns);
    if (!door_.key && !door_.mint) {
        client_->connect_insecure(door_.server.to_string(), now_ns);
        return;
    }
    Result<protocol::PublicTokenBytes> token =
        door_.mint ? door_.mint(plan_.number(), plan_.client_id()) : make_token();
    if (!token) return fail(token.error().to_string(), now_ns);
    client_->connect(*token, now_ns);
    protocol::wipe(*token);
}

Result<protocol::PublicTokenBytes> Bot::make_token() const {
    protocol::TokenRequest request;
    request.protocol_id = protocol::kNetcodeProtocolId;
    request.client_id = plan_.client_id();
    request.servers.add(door_.server);
    request.create_timestamp = static_cast<std::uint64_t>(std::time(nullptr));
    protocol::SystemRandom random;
    return protocol::mint_connect_token(request, *door_.key, random);
}

void Bot::update(std::uint64_t now_ns) {
    if (state_ == State::away && now_ns >= next_try_ns_) try_to_join(now_ns);
    if (!client_) return;
    if (state_ == State::playing) client_->set_control(walk_->at(seconds_between(playing_ns_, now_ns)));
    client_->poll(now_ns);
    read_events(now_ns);
    if (!client_) return;
    if (state_ == State::playing) count_snapshots(now_ns);
    if (state_ == State::playing && now_ns >= leaves_ns_) {
        client_->disconnect(now_ns);
        ++totals_.left;
        ended(back_at(now_ns));
    } else if (state_ == State::trying && seconds_between(tried_ns_, now_ns) > patience_s()) {
        std::string reason = warning_;
        if (connected()) reason = "let in, but the world did not arrive in the time of --join-timeout-s";
        if (reason.empty()) reason = "not let in within the time of --join-timeout-s";
        client_->disconnect(now_ns);
        fail(reason, now_ns);
    }
}

double Bot::patience_s() const {
    return unreachable() ? std::min(kNobodyListens_s, door_.join_timeout_s) : door_.join_timeout_s;
}

void Bot::read_events(std::uint64_t now_ns) {
    client::Event event;
    while (client_ && client_->next_event(event)) {
        if (event.kind == ORRERY_EVENT_DISCONNECTED) return fail(event.text, now_ns);
        if (event.kind != ORRERY_EVENT_CONNECTED || state_ != State::trying) continue;
        state_ = State::playing;
        playing_ns_ = last_snapshot_ns_ = now_ns;
        leaves_ns_ = after(now_ns, plan_.stay_s(session_));
        walk_.emplace(plan_.walk_seed(session_), channels_);
        const std::optional<orrery_session> session = client_->session();
        seated_ = session && session->slot != ORRERY_NO_SLOT;
        ++totals_.joined;
        totals_.join.add(seconds_between(tried_ns_, now_ns));
    }
}

// Snapshots that one call finds have arrived at one time.
void Bot::count_snapshots(std::uint64_t now_ns) {
    const std::uint64_t received = client_->stats().snapshots_received;
    if (received == snapshots_) return;
    if (snapshots_ > 0) {
        const double gap_s = seconds_between(last_snapshot_ns_, now_ns);
        totals_.gap.add(gap_s);
        if (gap_s > kLateGap_s) ++before_.late;
    }
    before_.snapshots += received - snapshots_;
    snapshots_ = received;
    last_snapshot_ns_ = now_ns;
}

}  // namespace orrery::server
