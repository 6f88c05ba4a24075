// How a client gets a slot: request, challenge, response. The order of the checks is the standard's. What cannot be
// opened is ignored without an answer. A token that opens and is not good is denied with a reason.
#include <algorithm>

#include "protocol/netcode/insecure_token.h"
#include "protocol/netcode/netcode_server_state.h"

namespace orrery::protocol {

void NetcodeServer::State::receive_request(const Address& from, Bytes datagram, TimeNs now) {
    ConnectionRequest request;
    Ignored reason{};
    const bool good = read_request(datagram, config.protocol_id, gate.unix_now_s(), request, reason);
    const bool expired = !good && reason == Ignored::request_expired;
    if (!good && !expired) return ignore(reason);
    if (!within_limits(from, now, reason)) return ignore(reason);
    if (!gate.may_open()) return ignore(Ignored::open_budget);
    ++counters.tokens_opened;
    PrivateToken token;
    if (!gate.open(request.private_part, request.expire_timestamp, request.nonce, token)) {
        return ignore(expired ? Ignored::request_expired : Ignored::request_does_not_open);
    }
    answer_request(from, request, token, expired, now);
    wipe(token.client_to_server);
    wipe(token.server_to_client);
}

void NetcodeServer::State::answer_request(const Address& from, const ConnectionRequest& request,
                                          const PrivateToken& token, bool expired, TimeNs now) {
    const auto deny = [&](DenyReason reason) { send_denied(from, token.server_to_client, reason); };
    if (expired) return deny(DenyReason::expired);
    if (!gate.names_this_server(token)) return deny(DenyReason::other_server);
    const TokenGate::Holder* const holder = gate.holder(token.client_id);
    const bool newer = holder && request.expire_timestamp > holder->expire_timestamp;
    const auto at_address = by_address.find(from);
    // Where it is a request of the connected client that arrives late, a denial would end that client.
    if (at_address != by_address.end() && !(newer && slots[at_address->second].client_id == token.client_id))
        return ignore(Ignored::request_address_connected);
    if (gate.is_void(token.client_id, request.expire_timestamp)) return deny(DenyReason::kicked);
    if (holder && !newer) return deny(DenyReason::already_connected);
    if (!gate.claim(request.tag(), from)) return deny(DenyReason::token_used);
    if (const auto reason = gate.admit(token.client_id, token.user_data)) return deny(*reason);
    if (!holder && gate.full()) return deny(DenyReason::server_full);

    if (PendingClient* const entry = pending.admit(from, token.client_id, now)) {
        // The same client may ask anew by another token: the newest one's keys are those that it uses.
        entry->send_key = token.server_to_client;
        entry->receive_key = token.client_to_server;
        entry->timeout_seconds = token.timeout_seconds;
        entry->expire_timestamp = request.expire_timestamp;
        entry->user_data = token.user_data;
        send_challenge(from, token);
    } else {
        ignore(Ignored::request_address_pending);
    }
}

void NetcodeServer::State::receive_response(PendingClient& entry, const ChallengeBody& body, TimeNs now) {
    ChallengeToken challenge;
    if (!open_challenge_token(body.token, body.sequence, challenge_key, challenge)) {
        return ignore(Ignored::response_challenge);
    }
    // The challenge of another client, returned under this one's keys, must not give away that other's place.
    if (challenge.client_id != entry.client_id) return ignore(Ignored::response_client_id);
    // Whoever answers must have received the challenge: one that went to another address is no proof of this one.
    if (challenge.binding != bind_address(entry.address, binding_key)) return ignore(Ignored::response_other_address);
    if (gate.is_void(entry.client_id, entry.expire_timestamp))
        return send_denied(entry.address, entry.send_key, DenyReason::kicked);
    const TokenGate::Holder* const holder = gate.holder(entry.client_id);
    if (holder && entry.expire_timestamp <= holder->expire_timestamp) return ignore(Ignored::response_id_connected);
    Slot* const replaced = find_id(entry.client_id);
    if (!replaced && ((!holder && gate.full()) || !free_slot()))
        return send_denied(entry.address, entry.send_key, DenyReason::server_full);
    connect_client(entry, replaced, now);
}

void NetcodeServer::State::connect_client(const PendingClient& entry, Slot* replaced, TimeNs now) {
    // A host that does not read its events gets no new clients; the response comes again.
    if (!events.fits(entry.user_data.size())) return ignore(Ignored::event_queue_full);
    Slot& slot = replaced ? *replaced : *free_slot();
    const auto index = static_cast<std::uint32_t>(&slot - slots.data());
    if (replaced) end_client(index, DisconnectReason::replaced, now);

    NetcodeServerEvent event;
    event.kind = NetcodeServerEvent::Kind::connected;
    event.client_index = index;
    event.client_id = entry.client_id;
    event.address = entry.address;
    event.expire_timestamp = entry.expire_timestamp;
    events.push_always(event, entry.user_data);

    slot = Slot{};
    slot.connected = true;
    slot.client_id = entry.client_id;
    slot.address = entry.address;
    slot.send_key = entry.send_key;
    slot.receive_key = entry.receive_key;
    slot.timeout_seconds = entry.timeout_seconds;
    slot.expire_timestamp = entry.expire_timestamp;
    slot.next_sequence = draw_first_sequence(random);
    slot.last_receive = now;
    slot.bucket = {config.rate.per_client.burst, now};
    gate.connected(slot.client_id, {slot.expire_timestamp, Transport::datagrams});
    by_address.emplace(slot.address, index);
    pending.drop(slot.address);  // `entry` is gone from here on
    ++counters.connections;
    seal_keep_alive(index, now, sealed);
    hand_over(index, sealed);
}

// ---------------------------------------------------------------- tables

PendingClient* NetcodeServer::State::find_pending(const Address& address) {
    PendingClient* const entry = pending.find(address);
    return entry && entry->expire_timestamp > gate.unix_now_s() ? entry : nullptr;
}

NetcodeServer::State::Slot* NetcodeServer::State::find_id(std::uint64_t client_id) {
    const auto found = std::find_if(slots.begin(), slots.end(),
                                    [&](const Slot& slot) { return slot.connected && slot.client_id == client_id; });
    return found == slots.end() ? nullptr : &*found;
}

NetcodeServer::State::Slot* NetcodeServer::State::free_slot() {
    const auto found = std::find_if(slots.begin(), slots.end(), [](const Slot& slot) { return !slot.connected; });
    return found == slots.end() ? nullptr : &*found;
}

// ---------------------------------------------------------------- answers

void NetcodeServer::State::send_denied(const Address& to, const Key& key, DenyReason reason) {
    const std::uint64_t sequence = unbound_sequence(unbound_count += kUnboundStep, reason);
    const std::size_t size = seal_packet(PacketType::denied, sequence, {}, config.protocol_id, key, send_scratch);
    ++counters.requests_denied;
    ++counters.denied[static_cast<std::size_t>(reason)];
    transmit(to, Bytes(send_scratch).first(size));
}

void NetcodeServer::State::send_challenge(const Address& to, const PrivateToken& token) {
    ChallengeBody body;
    body.sequence = next_challenge++;
    seal_challenge_token({token.client_id, token.user_data, bind_address(to, binding_key)}, body.sequence,
                         challenge_key, body.token);
    std::array<std::uint8_t, kChallengeBodyBytes> bytes;
    write_challenge_body(body, bytes);
    const std::uint64_t sequence = unbound_sequence(unbound_count += kUnboundStep, DenyReason::unspecified);
    const std::size_t size =
        seal_packet(PacketType::challenge, sequence, bytes, config.protocol_id, token.server_to_client, send_scratch);
    static_assert(1 + 8 + kChallengeBodyBytes + kMacBytes < kRequestBytes);
    ++counters.requests_challenged;
    transmit(to, Bytes(send_scratch).first(size));
}

void NetcodeServer::State::receive_token_question(const Address& from, Bytes datagram, TimeNs now) {
    if (!config.insecure) return ignore(Ignored::mint_disabled);
    if (!config.insecure_public && !from.is_loopback()) return ignore(Ignored::mint_not_loopback);
    TokenQuestion question;
    if (!read_token_question(datagram, question) || question.protocol_id != config.protocol_id) {
        return ignore(Ignored::mint_malformed);
    }
    Ignored reason{};
    if (!within_limits(from, now, reason)) return ignore(reason);
    // Minting costs about as much as opening.
    if (!gate.charge_opening()) return ignore(Ignored::open_budget);
    TokenRequest request;
    request.protocol_id = config.protocol_id;
    request.client_id = random.next_u64();
    request.servers = servers;
    request.create_timestamp = gate.unix_now_s();
    request.expires_in_seconds = config.insecure_expires_s;
    request.timeout_seconds = config.insecure_timeout_s;
    const auto token = mint_connect_token(request, config.private_key, random);
    if (!token) return ignore(Ignored::mint_malformed);
    ++counters.tokens_minted;
    std::array<std::uint8_t, kTokenAnswerBytes> answer;
    write_token_answer(question.cookie, token.value(), answer);
    transmit(from, answer);
}

}  // namespace orrery::protocol
