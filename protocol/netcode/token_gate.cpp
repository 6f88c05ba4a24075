#include "protocol/netcode/token_gate.h"

#include <algorithm>

namespace orrery::protocol {
namespace {

// Tags remembered per slot: enough for every slot to be taken over several times within a token's life.
constexpr std::size_t kUsedTokensPerClient = 16;
constexpr std::size_t kMinUsedTokens = 1024;

}  // namespace

TokenGate::TokenGate(const TokenGateConfig& config) : config_(config) {
    used_.resize(std::max(kMinUsedTokens, kUsedTokensPerClient * config_.max_clients));
    used_by_tag_.reserve(used_.size());
    holders_.reserve(config_.max_clients);
}

TokenGate::~TokenGate() { wipe(config_.private_key); }

void TokenGate::update(std::uint64_t unix_now_s) {
    unix_now_s_ = unix_now_s;
    opens_left_ = config_.token_opens_per_tick;
}

bool TokenGate::may_open() {
    if (opens_left_ == 0) return false;
    if (config_.shared_limits && !has_shared_opening_) has_shared_opening_ = config_.shared_limits->take_opening();
    return !config_.shared_limits || has_shared_opening_;
}

bool TokenGate::charge_opening() {
    if (!may_open()) return false;
    --opens_left_;
    has_shared_opening_ = false;
    return true;
}

bool TokenGate::open(std::span<const std::uint8_t, kPrivateTokenBytes> sealed, std::uint64_t expire_timestamp,
                     const TokenNonce& nonce, PrivateToken& out) {
    if (!charge_opening()) return false;
    return open_private_token(sealed, config_.protocol_id, expire_timestamp, nonce, config_.private_key, out);
}

bool TokenGate::names_this_server(const PrivateToken& token) const {
    return std::any_of(config_.public_addresses.begin(), config_.public_addresses.end(),
                       [&](const Address& address) { return token.servers.contains(address); });
}

std::optional<DenyReason> TokenGate::admit(std::uint64_t client_id, const UserData& user_data) const {
    return config_.admit ? config_.admit(client_id, user_data) : std::nullopt;
}

bool TokenGate::claim(const TokenTag& tag, const Address& from) {
    const auto known = used_by_tag_.find(tag);
    if (known != used_by_tag_.end()) return used_[known->second].address == from;
    remember(tag, from);
    return true;
}

void TokenGate::claim_for_stream(const TokenTag& tag) {
    const auto known = used_by_tag_.find(tag);
    if (known == used_by_tag_.end()) return remember(tag, Address{});
    used_[known->second].address = Address{};
}

void TokenGate::remember(const TokenTag& tag, const Address& from) {
    UsedToken& place = used_[next_used_];
    if (place.taken) used_by_tag_.erase(place.tag);
    place = {true, tag, from};
    used_by_tag_.emplace(tag, static_cast<std::uint32_t>(next_used_));
    next_used_ = (next_used_ + 1) % used_.size();
}

const TokenGate::Holder* TokenGate::holder(std::uint64_t client_id) const {
    const auto found = holders_.find(client_id);
    return found == holders_.end() ? nullptr : &found->second;
}

void TokenGate::connected(std::uint64_t client_id, const Holder& holder) { holders_[client_id] = holder; }

void TokenGate::disconnected(std::uint64_t client_id, Transport transport) {
    const auto found = holders_.find(client_id);
    if (found != holders_.end() && found->second.transport == transport) holders_.erase(found);
}

}  // namespace orrery::protocol
