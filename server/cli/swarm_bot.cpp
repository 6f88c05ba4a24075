#include "server/cli/swarm_bot.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "protocol/netcode/connect_token.h"
#include "protocol/session/handshake.h"

namespace orrery::server {

namespace {

constexpr std::uint64_t kNever_ns = std::numeric_limits<std::uint64_t>::max();

std::uint64_t after(std::uint64_t now_ns, double seconds) {
    return std::isfinite(seconds) ? now_ns + static_cast<std::uint64_t>(seconds * 1e9) : kNever_ns;
}

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
    return static_cast<double>(to_ns - from_ns) * 1e-9;
}

}  // namespace

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
    SwarmTraffic out = counted_;
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
    leave(now_ns, kNever_ns);
}

void Bot::leave(std::uint64_t now_ns, std::uint64_t again_at_ns) {
    if (way_) {
        way_->leave(*client_, now_ns);
        leaving_ = std::move(way_);
    }
    ended(again_at_ns);
}

void Bot::ended(std::uint64_t again_at_ns) {
    counted_ = traffic();
    client_.reset();
    way_.reset();
    walk_.reset();
    ++session_;
    next_try_ns_ = again_at_ns;
    state_ = tries_ ? State::away : State::done;
}

void Bot::fail(const std::string& reason, std::uint64_t now_ns) {
    if (state_ == State::playing)
        totals_.disconnected.add(reason);
    else
        refuse(reason);
    ended(back_at(now_ns));
}

void Bot::refuse(const std::string& reason) {
    found_nobody_ = unreachable();
    totals_.refused.add(found_nobody_ ? "nothing listens at " + door_.server.to_string() : reason);
}

void Bot::try_to_join(std::uint64_t now_ns) {
    state_ = State::trying;
    tried_ns_ = now_ns;
    seated_ = false;
    snapshots_ = 0;
    warning_.clear();
    ++totals_.tried;
    way_ = door_.make_way(door_.server, counted_);
    found_nobody_ = false;
    orrery_client_config config;
    orrery_client_config_init(&config);
    config.log.user = &warning_;
    config.log.write = [](void* user, std::int32_t level, const char* text) {
        if (level >= ORRERY_LOG_WARNING) *static_cast<std::string*>(user) = text;
    };
    Result<client::Client> client = way_->make_client(config);
    if (!client) return fail(client.error().to_string(), now_ns);
    client_.emplace(std::move(client).value());
    if (!door_.key && !door_.mint) return way_->connect(*client_, nullptr, now_ns);
    Result<protocol::PublicTokenBytes> token =
        door_.mint ? door_.mint(plan_.number(), plan_.client_id()) : make_token();
    if (!token) return fail(token.error().to_string(), now_ns);
    way_->connect(*client_, &*token, now_ns);
    protocol::wipe(*token);
}

Result<protocol::PublicTokenBytes> Bot::make_token() const {
    protocol::TokenRequest request;
    request.protocol_id = protocol::kNetcodeProtocolId;
    request.client_id = plan_.client_id();
    request.servers.add(door_.token_server);
    request.create_timestamp = static_cast<std::uint64_t>(std::time(nullptr));
    protocol::SystemRandom random;
    return protocol::mint_connect_token(request, *door_.key, random);
}

void Bot::update(std::uint64_t now_ns) {
    if (state_ == State::away && now_ns >= next_try_ns_) try_to_join(now_ns);
    if (leaving_ && !leaving_->still_leaves(now_ns)) leaving_.reset();
    if (!client_) return;
    if (state_ == State::playing) client_->set_control(walk_->at(seconds_between(playing_ns_, now_ns)));
    way_->poll(*client_, now_ns);
    if (!way_->failure().empty()) return fail(way_->failure(), now_ns);
    read_events(now_ns);
    if (!client_) return;
    if (state_ == State::playing) count_snapshots(now_ns);
    if (state_ == State::playing && now_ns >= leaves_ns_) {
        ++totals_.left;
        leave(now_ns, back_at(now_ns));
    } else if (state_ == State::trying && seconds_between(tried_ns_, now_ns) > patience_s()) {
        std::string reason = way_->reason(warning_);
        if (connected()) reason = "let in, but the world did not arrive in the time of --join-timeout-s";
        if (reason.empty()) reason = "not let in within the time of --join-timeout-s";
        refuse(reason);
        leave(now_ns, back_at(now_ns));
    }
}

double Bot::patience_s() const {
    return unreachable() ? std::min(kNobodyListens_s, door_.join_timeout_s) : door_.join_timeout_s;
}

void Bot::read_events(std::uint64_t now_ns) {
    client::Event event;
    while (client_ && client_->next_event(event)) {
        if (event.kind == ORRERY_EVENT_DISCONNECTED) return fail(way_->reason(event.text), now_ns);
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
        if (gap_s > kLateGap_s) ++counted_.late;
    }
    counted_.snapshots += received - snapshots_;
    snapshots_ = received;
    last_snapshot_ns_ = now_ns;
}

}  // namespace orrery::server
