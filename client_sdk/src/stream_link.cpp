#include "client_sdk/src/stream_link.h"

#include <algorithm>

#include "client_sdk/src/end_reasons.h"
#include "protocol/netcode/netcode_timing.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/wire.h"

namespace orrery::client {

using namespace orrery::protocol;
using Mend = LinkEnd::Mend;

namespace {

constexpr std::size_t kMaxCloseTextBytes = 123;  // of a WebSocket's close frame

constexpr const char* kNobodyAnswers =
    "no answer over the stream. Possible causes: no server listens at this URL (orrery serve --http-port); the server "
    "does not take this page's origin (--allow-origin); what stands between forwards no WebSocket";

}  // namespace

StreamLink::StreamLink() = default;

Result<> StreamLink::connect(Bytes token, TimeNs now) {
    disconnect(now);
    const Result<ConnectToken> read = read_connect_token(token);
    if (!read) {
        end_ = {EndReason::token, "invalid token", Mend::never};
        return read.error();
    }
    stage_ = Stage::opening;
    ++number_;
    timeout_s_ = read->timeout_seconds;
    client_index_ = 0;
    begun_ = last_received_ = last_sent_ = now;
    open_ = warned_ = false;
    received_.clear();
    unsent_.clear();
    queue(token, now);
    return Ok{};
}

Result<> StreamLink::connect_insecure(std::string_view, TimeNs) {
    return Error{ErrorCode::invalid_argument, "connect_insecure",
                 "asks over UDP; over a stream, get a token by POST /token and connect with it"};
}

void StreamLink::opened(TimeNs now) {
    if (stage_ != Stage::opening) return;
    stage_ = Stage::asking;
    open_ = true;
    last_received_ = last_sent_ = now;
}

void StreamLink::received(Bytes message, TimeNs now) {
    if (stage_ == Stage::ended || stage_ == Stage::opening) return;
    last_received_ = now;
    ++counters_.packets_received;
    counters_.bytes_received += message.size();
    if (message.empty()) return;
    if (stage_ == Stage::asking) {
        WireReader in(message);
        const bool accepted = in.u8() == 1;
        client_index_ = in.u32();
        if (message.size() != kStreamAcceptBytes || !accepted)
            return finish({EndReason::unreadable, "the server's first message is no acceptance", Mend::never});
        stage_ = Stage::connected;
        return;
    }
    if (message.size() > kMaxPayloadBytes)
        return finish({EndReason::unreadable, "the server sent a message that is too large", Mend::never});
    if (!received_.push({now}, message))
        finish({EndReason::message_limits, "this program left more than 16 MiB of the stream unread", Mend::never});
}

void StreamLink::closed(std::uint32_t code, std::string_view text, TimeNs) {
    if (stage_ != Stage::ended) finish(end_of(code, text.substr(0, kMaxCloseTextBytes)));
}

LinkEnd StreamLink::end_of(std::uint32_t code, std::string_view text) const {
    if (code >= kDeniedCode && code < kEndedCode) {
        const std::uint32_t number = code - kDeniedCode;
        const DenyReason why = number < kDenyReasons ? static_cast<DenyReason>(number) : DenyReason::unspecified;
        return {reason_of(why), denied_text(why), Mend::never};
    }
    if (code >= kEndedCode && code < kEndedCode + kDisconnectReasons) {
        const auto why = static_cast<DisconnectReason>(code - kEndedCode);
        if (why == DisconnectReason::timed_out)
            return {EndReason::by_server, "the server heard nothing from this client", Mend::of_connection};
        const EndReason reason = reason_of(why);
        return {reason, text_of(reason), Mend::never};
    }
    std::string said = " (close code " + std::to_string(code);
    if (!text.empty()) said.append(": ").append(text);
    said += ")";
    if (stage_ != Stage::connected) return {EndReason::no_answer, kNobodyAnswers + said, Mend::of_attempt};
    return {EndReason::timed_out, "the connection broke" + said, Mend::of_connection};
}

void StreamLink::finish(LinkEnd end) {
    stage_ = Stage::ended;
    open_ = false;
    end_ = std::move(end);
    unsent_.clear();
}

void StreamLink::update(TimeNs now) {
    if (stage_ == Stage::ended) return;
    if (timed_out(now, last_received_, timeout_s_)) {
        if (stage_ == Stage::connected) return finish({EndReason::timed_out, "timed out", Mend::of_connection});
        return finish({EndReason::no_answer, kNobodyAnswers, Mend::of_attempt});
    }
    if (stage_ == Stage::connected) {
        if (now >= last_sent_ + kStreamKeepAlive) queue({}, now);
    } else if (!warned_ && now >= begun_ + kNoAnswerWarning) {
        warned_ = true;
        warning_ = kNobodyAnswers;
    }
}

// What was to be sent before still may: it is kept until the next connection.
void StreamLink::disconnect(TimeNs) {
    if (stage_ == Stage::ended) return;
    stage_ = Stage::ended;
    end_ = {EndReason::by_client, "this client disconnected", Mend::never};
    received_.clear();
}

void StreamLink::queue(Bytes message, TimeNs now) {
    last_sent_ = now;
    unsent_.push({}, message);
}

bool StreamLink::ready() const { return stage_ == Stage::connected && unsent_.fits(kMaxPayloadBytes); }

bool StreamLink::send_payload(Bytes payload, TimeNs now) {
    if (!ready() || payload.empty() || payload.size() > kMaxPayloadBytes) return false;
    queue(payload, now);
    return true;
}

bool StreamLink::next_message(Bytes& out) {
    NoHeader none;
    if (!open_ || !unsent_.pop(none, out)) return false;
    ++counters_.packets_sent;
    counters_.bytes_sent += out.size();
    return true;
}

bool StreamLink::next_payload(Bytes& out, TimeNs& at) {
    At header;
    if (!received_.pop(header, out)) return false;
    at = header.at;
    return true;
}

LinkState StreamLink::state() const {
    if (!received_.empty() || stage_ == Stage::connected) return LinkState::connected;
    return stage_ == Stage::ended ? LinkState::ended : LinkState::connecting;
}

LinkEnd StreamLink::end(bool) const { return end_; }

}  // namespace orrery::client
