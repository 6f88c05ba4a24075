#include "protocol/snapshot/receiver.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace orrery::protocol {

SnapshotReceiver::SnapshotReceiver(const SnapshotCodec& codec, std::uint32_t body_capacity)
    : codec_(&codec), body_capacity_(std::min(body_capacity, kMaxSnapshotBodyIndex)) {}

void SnapshotReceiver::start(std::uint64_t tick, std::span<const QuantisedBody> bodies) {
    histories_.clear();
    acknowledgement_ = {};
    start_tick_ = tick;
    for (const QuantisedBody& body : bodies) {
        if (body.index < body_capacity_) insert({tick, body});
    }
}

bool SnapshotReceiver::seen(std::uint64_t tick) const {
    if (tick >= acknowledgement_.newest) return tick == acknowledgement_.newest;
    const std::uint64_t age = acknowledgement_.newest - 1 - tick;
    return age < 64 && ((acknowledgement_.older >> age) & 1u);
}

void SnapshotReceiver::mark_seen(std::uint64_t tick) {
    Acknowledgement& ack = acknowledgement_;
    if (tick > ack.newest) {
        const std::uint64_t shift = tick - ack.newest;
        ack.older = shift < 64 ? ack.older << shift : 0;
        if (ack.newest != 0 && shift <= 64) ack.older |= std::uint64_t{1} << (shift - 1);
        ack.newest = tick;
    } else if (tick < ack.newest && ack.newest - 1 - tick < 64) {
        ack.older |= std::uint64_t{1} << (ack.newest - 1 - tick);
    }
}

ReceiveStatus SnapshotReceiver::receive(std::uint64_t tick, std::span<const std::uint8_t> coded) {
    if (tick <= start_tick_) return ReceiveStatus::malformed;
    if (seen(tick)) return ReceiveStatus::duplicate;
    if (acknowledgement_.newest >= kBaselineWindow && tick <= acknowledgement_.newest - kBaselineWindow) {
        return ReceiveStatus::too_old;
    }
    decoding_tick_ = tick;
    const DecodeStatus status = codec_->decode(coded, *this, decoded_);
    if (status == DecodeStatus::missing_baseline) return ReceiveStatus::missing_baseline;
    if (status != DecodeStatus::ok) return ReceiveStatus::malformed;
    if (!decoded_.empty() && decoded_.back().index >= body_capacity_) return ReceiveStatus::malformed;
    mark_seen(tick);
    for (const QuantisedBody& body : decoded_) insert({tick, body});
    return ReceiveStatus::ok;
}

void SnapshotReceiver::insert(const BodySample& sample) {
    if (sample.state.index >= histories_.size()) histories_.resize(sample.state.index + 1u);
    std::vector<BodySample>& history = histories_[sample.state.index];

    // Of what lies before the history's window only the newest may still be asked for.
    const std::uint64_t newest = acknowledgement_.newest;
    const auto beyond = std::find_if(history.begin(), history.end(), [newest](const BodySample& held) {
        return newest < kHistoryWindow || held.tick > newest - kHistoryWindow;
    });
    if (beyond - history.begin() > 1) history.erase(history.begin(), beyond - 1);

    const auto place = std::find_if(history.rbegin(), history.rend(), [&sample](const BodySample& held) {
                           return held.tick < sample.tick;
                       }).base();
    ORRERY_ASSERT(place == history.end() || place->tick >= sample.tick);
    history.insert(place, sample);
}

std::span<const BodySample> SnapshotReceiver::history(std::uint32_t index) const {
    if (index >= histories_.size()) return {};
    return histories_[index];
}

const QuantisedBody* SnapshotReceiver::find(std::uint32_t index, BaselineReference reference) const {
    const std::span<const BodySample> held = history(index);
    for (auto sample = held.rbegin(); sample != held.rend(); ++sample) {
        const std::uint64_t tick = sample->tick;
        if (reference.kind == BaselineReference::Kind::standing) {
            if (decoding_tick_ >= kBaselineWindow && tick <= decoding_tick_ - kBaselineWindow) return &sample->state;
        } else if (tick + reference.age == decoding_tick_) {
            return &sample->state;
        }
    }
    return nullptr;
}

}  // namespace orrery::protocol
