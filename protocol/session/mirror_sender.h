// The server's side of mirror mode: a log of the last ticks that all mirroring clients of a room share, and for each of
// these clients what it still needs of the log.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/crypto.h"
#include "protocol/netcode/shared_bytes.h"
#include "protocol/session/mirror_messages.h"

namespace orrery::protocol {

// Ticks of which the log keeps the hashes. A client reports a divergence within the time that it lags behind.
inline constexpr std::uint32_t kMirrorLogTicks = 512;
// Ticks of which it keeps the commands: the window, and what a room steps while it does not send.
inline constexpr std::uint32_t kMirrorLogCommandTicks = 2 * kMirrorWindowTicks;
// From a save of the world to one that a report of a divergence asks for.
inline constexpr TimeNs kMirrorSaveInterval = kNsPerSecond;
inline constexpr TimeNs kTooLargeInterval = 10 * kNsPerSecond;

// The last ticks of a room. The commands of a tick are encoded once for all clients.
class MirrorLog {
  public:
    struct Tick {
        std::uint64_t tick = 0;  // 0: none
        bool has_commands = false;
        std::vector<std::uint8_t> coded;
        sim::HashTree hash;
    };

    // Ticks ascend without gaps.
    void add(std::uint64_t tick, std::span<const sim::Command> commands, const sim::HashTree& hash);
    std::uint64_t newest() const { return newest_; }  // 0: none
    const Tick* find(std::uint64_t tick) const;       // null: not yet there, or forgotten

    // Whether the state after `tick` may be had now. One that the world has to be saved for is left to a client that
    // joins (`first`), where the last one is not kMirrorSaveInterval old: reports of divergences are anybody's.
    bool may_have_state(std::uint64_t tick, bool first, TimeNs now) const {
        return first || has_state(tick) || saved_at_ == 0 || now >= saved_at_ + kMirrorSaveInterval;
    }
    // The state after the newest tick as messages, made by `save` (a callable that fills a vector as World::save does)
    // for the first client that asks for it at that tick. Empty: it has more than kMaxMirrorStateBytes. It is not made
    // again before the world has fewer bodies, or kTooLargeInterval later: contacts are a part of it.
    template <class Save>
    const std::vector<SharedBytes>& state(std::uint64_t tick, std::size_t bodies, TimeNs now, Save save) {
        if (has_state(tick)) return state_;
        if (too_large_bodies_ && bodies >= *too_large_bodies_ && now < saved_at_ + kTooLargeInterval) return state_;
        std::vector<std::uint8_t> bytes;
        save(bytes);
        saved_at_ = now;
        state_.clear();
        too_large_bodies_.reset();
        if (bytes.size() > kMaxMirrorStateBytes)
            too_large_bodies_ = bodies;
        else
            cut_state(tick, bytes);
        return state_;
    }
    // Lets the messages of the state go. The streams that send them hold them, all of them the same.
    void drop_state() { state_ = {}; }

  private:
    bool has_state(std::uint64_t tick) const { return state_tick_ == tick && !state_.empty(); }
    void cut_state(std::uint64_t tick, Bytes bytes);

    std::array<Tick, kMirrorLogTicks> ticks_;
    std::uint64_t newest_ = 0;
    std::uint64_t state_tick_ = 0;
    TimeNs saved_at_ = 0;                          // 0: never
    std::optional<std::size_t> too_large_bodies_;  // the bodies of the world whose state was too large
    std::vector<SharedBytes> state_;
};

// What one client needs of the log.
class MirrorSender {
  public:
    // The client was sent the state after `tick`.
    void begin(std::uint64_t tick);
    bool begun() const { return begun_; }
    // The client has the commands of all ticks up to this one.
    void acknowledge(std::uint64_t tick, const MirrorLog& log);
    // The log has forgotten commands that the client needs: it needs a new state.
    bool lost() const { return lost_; }

    // The next message for the reliable stream: ticks that the next datagram has no room for. False: there is none. To
    // be called until then in each tick, before datagram().
    bool next_stream_message(const MirrorLog& log, std::vector<std::uint8_t>& out);
    // The message of the newest tick. All ticks that were neither acknowledged nor given to the stream are in it.
    void datagram(const MirrorLog& log, const InputFeedback& feedback, std::vector<std::uint8_t>& out);

  private:
    std::size_t ticks_for_stream(const MirrorLog& log) const;

    bool begun_ = false, lost_ = false;
    std::uint64_t done_ = 0;  // ticks up to it were acknowledged, or given to the stream
    InputFeedback told_;
    std::uint64_t told_at_ = 0;
};

}  // namespace orrery::protocol
