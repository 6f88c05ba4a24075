#include "protocol/session/mirror_sender.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "protocol/netcode/reliable.h"
#include "protocol/replay/command_code.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kMaxFeedbackBytes = 24;
constexpr std::size_t kGroupBudgetBytes = kMaxUnreliableBytes - kTickCommandsHeadBytes - kMaxFeedbackBytes;
// When a datagram overflows, so much of it goes by the stream that the next ones do not overflow at once.
constexpr std::size_t kKeptGroupBytes = kGroupBudgetBytes / 2;
constexpr std::uint32_t kKeptTicks = kMirrorWindowTicks / 2;
// A client's clock smooths what it is told over several reports; late controls are told at once.
constexpr std::uint64_t kFeedbackEveryTicks = 4;

// What the groups of the ticks from `first` on take. Runs of empty ticks count one byte each.
std::size_t size_of_groups(const MirrorLog& log, std::uint64_t first) {
    std::size_t bytes = 0;
    bool in_run = false;
    for (std::uint64_t tick = first; tick <= log.newest(); ++tick) {
        const MirrorLog::Tick* entry = log.find(tick);
        const bool empty = !entry || entry->coded.empty();
        if (!empty || !in_run) bytes += 1 + (empty ? 0 : entry->coded.size());
        in_run = empty;
    }
    return bytes;
}

}  // namespace

void MirrorLog::add(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash) {
    Tick& entry = ticks_[tick % kMirrorLogTicks];
    entry.tick = tick;
    entry.has_commands = true;
    entry.coded.clear();
    if (replay::is_canonical(commands)) {
        encode_commands(commands, entry.coded);
    } else {
        std::vector<sim::Command> sorted(commands.begin(), commands.end());
        replay::sort_canonically(sorted);
        encode_commands(sorted, entry.coded);
    }
    entry.hash = hash;
    newest_ = tick;
    Tick& old = ticks_[(tick + kMirrorLogTicks - kMirrorLogCommandTicks) % kMirrorLogTicks];
    old.has_commands = false;
    old.coded = {};  // which may be large
}

const MirrorLog::Tick* MirrorLog::find(std::uint64_t tick) const {
    const Tick& entry = ticks_[tick % kMirrorLogTicks];
    return tick != 0 && entry.tick == tick ? &entry : nullptr;
}

void MirrorLog::cut_state(std::uint64_t tick, Bytes bytes) {
    state_tick_ = tick;
    const auto keep = [&](std::vector<std::uint8_t> message) {
        auto owner = std::make_shared<const std::vector<std::uint8_t>>(std::move(message));
        const Bytes whole = *owner;
        state_.push_back({std::move(owner), whole});
    };
    std::vector<std::uint8_t> head;
    write_message(MirrorBegin{tick, static_cast<std::uint32_t>(bytes.size())}, head);
    keep(std::move(head));
    for (std::size_t at = 0; at < bytes.size(); at += kMirrorPartBytes) {
        const Bytes part = bytes.subspan(at, std::min(kMirrorPartBytes, bytes.size() - at));
        std::vector<std::uint8_t> message;
        message.reserve(1 + part.size());
        message.push_back(static_cast<std::uint8_t>(MessageType::mirror_part));
        message.insert(message.end(), part.begin(), part.end());
        keep(std::move(message));
    }
}

void MirrorSender::begin(std::uint64_t tick) {
    begun_ = true;
    lost_ = false;
    done_ = std::max(done_, tick);
    told_ = {};
    told_at_ = 0;
}

void MirrorSender::acknowledge(std::uint64_t tick, const MirrorLog& log) {
    if (begun_ && tick <= log.newest()) done_ = std::max(done_, tick);
}

// The number of ticks that go by the stream now.
std::size_t MirrorSender::ticks_for_stream(const MirrorLog& log) const {
    const std::uint64_t waiting = log.newest() - std::min(done_, log.newest());
    if (waiting <= kMirrorWindowTicks && size_of_groups(log, done_ + 1) <= kGroupBudgetBytes) return 0;
    std::uint64_t ticks = waiting > kKeptTicks ? waiting - kKeptTicks : 0;
    while (ticks < waiting && size_of_groups(log, done_ + 1 + ticks) > kKeptGroupBytes) ++ticks;
    return static_cast<std::size_t>(ticks);
}

bool MirrorSender::next_stream_message(const MirrorLog& log, std::vector<std::uint8_t>& out) {
    out.clear();
    if (!begun_) return false;
    const std::size_t all = ticks_for_stream(log);
    if (all == 0) return false;
    write_mirror_ticks_head(done_ + 1, out);
    GroupWriter groups(out);
    const std::uint64_t last = done_ + std::min<std::uint64_t>(all, kMaxMirrorTicksPerMessage);
    for (std::uint64_t tick = done_ + 1; tick <= last; ++tick) {
        const MirrorLog::Tick* entry = log.find(tick);
        if (!entry || !entry->has_commands) {
            lost_ = true;
            done_ = log.newest();
            return false;
        }
        const Bytes coded = entry->coded;
        if (tick > done_ + 1 && out.size() + groups.size_of(coded) > kMirrorTicksBytes) break;
        groups.tick(coded);
        done_ = tick;
    }
    return true;
}

void MirrorSender::datagram(const MirrorLog& log, const InputFeedback& feedback, std::vector<std::uint8_t>& out) {
    out.clear();
    const MirrorLog::Tick* newest = log.find(log.newest());
    if (!begun_ || !newest) return;
    write_head({static_cast<std::uint16_t>(newest->tick), newest->hash.root}, out);
    GroupWriter groups(out);
    const bool late = feedback.late_inputs != told_.late_inputs;
    if (feedback != told_ && (late || newest->tick >= told_at_ + kFeedbackEveryTicks)) {
        groups.feedback(feedback);
        told_ = feedback;
        told_at_ = newest->tick;
    }
    for (std::uint64_t tick = done_ + 1; tick <= newest->tick; ++tick) {
        const MirrorLog::Tick* entry = log.find(tick);
        assert(entry && entry->has_commands);  // of the window
        groups.tick(entry->coded);
    }
}

}  // namespace orrery::protocol
