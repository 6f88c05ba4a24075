#include "protocol/netcode/insecure_token.h"

#include <algorithm>

#include "protocol/netcode/netcode_timing.h"
#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::array<std::uint8_t, 12> kMagic = {'O', 'R', 'R', 'E', 'R', 'Y', ' ', 'T', 'O', 'K', 'E', 'N'};

bool starts_as(WireReader& in, std::uint8_t prefix) {
    if (in.u8() != prefix) return false;
    const Bytes magic = in.bytes(kMagic.size());
    return in.ok() && std::equal(magic.begin(), magic.end(), kMagic.begin());
}

}  // namespace

void write_token_question(const TokenQuestion& question, std::span<std::uint8_t, kTokenQuestionBytes> out) {
    WireWriter to(out);
    to.u8(kTokenQuestionPrefix);
    to.bytes(kMagic);
    to.u64(question.protocol_id);
    to.u64(question.cookie);
    to.zeros_to_end();
}

bool read_token_question(Bytes datagram, TokenQuestion& out) {
    if (datagram.size() != kTokenQuestionBytes) return false;
    WireReader in(datagram);
    if (!starts_as(in, kTokenQuestionPrefix)) return false;
    out.protocol_id = in.u64();
    out.cookie = in.u64();
    return in.ok();
}

void write_token_answer(std::uint64_t cookie, const PublicTokenBytes& token,
                        std::span<std::uint8_t, kTokenAnswerBytes> out) {
    WireWriter to(out);
    to.u8(kTokenAnswerPrefix);
    to.bytes(kMagic);
    to.u64(cookie);
    to.bytes(token);
}

bool read_token_answer(Bytes datagram, std::uint64_t cookie, PublicTokenBytes& token) {
    if (datagram.size() != kTokenAnswerBytes) return false;
    WireReader in(datagram);
    if (!starts_as(in, kTokenAnswerPrefix) || in.u64() != cookie) return false;
    in.array(token);
    return in.ok();
}

void TokenAsker::start(const Address& server, std::uint64_t protocol_id, TimeNs now, TimeNs timeout) {
    server_ = server;
    question_ = {protocol_id, random_.next_u64()};
    next_send_ = now;
    deadline_ = now + timeout;
    state_ = State::asking;
    update(now);
}

void TokenAsker::update(TimeNs now) {
    if (state_ != State::asking) return;
    if (now >= deadline_) {
        state_ = State::timed_out;
        return;
    }
    if (now < next_send_) return;
    next_send_ = now + kSendInterval;
    std::array<std::uint8_t, kTokenQuestionBytes> question;
    write_token_question(question_, question);
    sink_.send(server_, question);
}

void TokenAsker::receive(const Address& from, Bytes datagram) {
    if (state_ != State::asking || from != server_) return;
    if (read_token_answer(datagram, question_.cookie, token_)) state_ = State::received;
}

}  // namespace orrery::protocol
