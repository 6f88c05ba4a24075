#include "protocol/snapshot/receiver.h"

#include <algorithm>
#include <limits>

#include "sim/base/assert.h"

namespace orrery::protocol {

SnapshotReceiver::SnapshotReceiver(const SnapshotCodec& codec, std::uint32_t body_capacity)
    : codec_(&codec), body_capacity_(std::min(body_capacity, kMaxSnapshotBodyIndex)) {}

void SnapshotReceiver::start(std::uint64_t tick, std::span<const QuantisedBody> bodies) {
    histories_.clear();
    acknowledgement_ = {};
    arrivals_ = 0;
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
    const DecodeStatus status = codec_->decode(coded, *this, decoded_, &codings_);
    if (status == DecodeStatus::missing_baseline) return ReceiveStatus::missing_baseline;
    if (status != DecodeStatus::ok) return ReceiveStatus::malformed;
    if (!decoded_.empty() && decoded_.back().index >= body_capacity_) return ReceiveStatus::malformed;
    mark_seen(tick);
    ++arrivals_;
    for (std::size_t i = 0; i < decoded_.size(); ++i) {
        const std::uint16_t age = baseline_age(decoded_[i].index, codings_[i].reference);
        insert({tick, decoded_[i], arrivals_, codings_[i].bits, age});
    }
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

BodyCost SnapshotReceiver::cost(std::uint32_t index, std::uint32_t generation, std::uint64_t ticks) const {
    const std::span<const BodySample> held = history(index);
    BodyCost cost;
    if (held.empty() || held.back().state.generation != generation) return cost;
    const std::uint64_t newest = acknowledgement_.newest, within = std::min<std::uint64_t>(ticks, kHistoryWindow);
    for (auto sample = held.rbegin(); sample != held.rend() && sample->tick + within > newest; ++sample) {
        if (sample->arrival == 0 || sample->state.generation != generation) break;
        ++cost.updates;
        cost.bits += sample->bits;
    }
    cost.left_out = arrivals_ - held.back().arrival;
    cost.baseline_age = held.back().baseline_age;
    return cost;
}

std::uint16_t SnapshotReceiver::baseline_age(std::uint32_t index, BaselineReference reference) const {
    if (reference.kind != BaselineReference::Kind::standing) return reference.age;
    const std::uint64_t age = decoding_tick_ - find_sample(index, reference)->tick;
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(age, std::numeric_limits<std::uint16_t>::max()));
}

const QuantisedBody* SnapshotReceiver::find(std::uint32_t index, BaselineReference reference) const {
    const BodySample* sample = find_sample(index, reference);
    return sample ? &sample->state : nullptr;
}

const BodySample* SnapshotReceiver::find_sample(std::uint32_t index, BaselineReference reference) const {
    const std::span<const BodySample> held = history(index);
    for (auto sample = held.rbegin(); sample != held.rend(); ++sample) {
        const std::uint64_t tick = sample->tick;
        if (reference.kind == BaselineReference::Kind::standing) {
            if (decoding_tick_ >= kBaselineWindow && tick <= decoding_tick_ - kBaselineWindow) return &*sample;
        } else if (tick + reference.age == decoding_tick_) {
            return &*sample;
        }
    }
    return nullptr;
}

}  // namespace orrery::protocol
