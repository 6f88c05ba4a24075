// The client's side of mirror mode: puts the state together, and puts the commands of ticks in order, whatever way they
// came. It does not simulate.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "protocol/session/mirror_messages.h"

namespace orrery::protocol {

// Ticks that wait to be stepped: two minutes at 60 Hz. A client that is that far behind does not catch up any more.
inline constexpr std::size_t kMaxPendingMirrorTicks = 7'200;
inline constexpr std::size_t kMaxPendingMirrorBytes = 16u << 20;

class MirrorReceiver {
  public:
    struct Tick {
        std::vector<std::uint8_t> coded;    // of encode_commands
        std::optional<std::uint64_t> root;  // if the server told it
    };

    // A message of the reliable stream. False: it cannot be read, or comes out of order.
    bool receive(Bytes message, MessageType type);
    // False: it cannot be read. The bytes are dropped.
    bool receive_datagram(Bytes message);

    bool state_is_whole() const { return state_whole_; }
    std::uint64_t state_tick() const { return state_head_.tick; }
    // The state, once it is whole; gives it away. Ticks up to its own are then dropped.
    bool take_state(std::uint64_t& tick, std::vector<std::uint8_t>& state);
    // The commands of ticks without a gap, from the one after the last state or pop() on. Null: not yet there.
    const Tick* next() const;
    std::uint64_t next_tick() const { return next_; }
    void pop();

    bool begun() const { return begun_; }                  // a state was announced
    std::uint64_t complete_up_to() const;                  // of ticks; to be acknowledged; 0: none
    std::uint64_t newest_tick() const { return newest_; }  // that the server has told of; 0: none
    bool overflowed() const { return overflowed_; }        // more waits than the limits above
    std::optional<InputFeedback> take_feedback();
    std::optional<MirrorLeaves> take_leaves();

  private:
    void file(std::uint64_t first, const Groups& groups);

    bool begun_ = false;
    MirrorBegin state_head_;
    std::vector<std::uint8_t> state_;
    bool state_whole_ = false;
    std::map<std::uint64_t, Tick> ticks_;  // that wait, by tick
    std::size_t pending_bytes_ = 0;
    std::uint64_t next_ = 0;      // the tick that next() gives
    std::uint64_t complete_ = 0;  // all of next_ to complete_ are in ticks_
    std::uint64_t newest_ = 0;
    bool overflowed_ = false;
    Groups groups_;
    std::optional<InputFeedback> feedback_;
    std::optional<MirrorLeaves> leaves_;
};

}  // namespace orrery::protocol
