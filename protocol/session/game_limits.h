// Limits of game messages. Both ends know them: a client refuses to send what its server would not take.
#pragma once

#include <cstddef>

#include "protocol/netcode/token_bucket.h"

namespace orrery::protocol {

// Of a client, reliable and unreliable messages together; bytes are those of the game.
inline constexpr double kGameMessagesPerSecond = 60.0;
inline constexpr double kGameBytesPerSecond = 64.0 * 1024.0;
inline constexpr double kGameBurst_s = 1.0;

// A server takes a little more, since clocks differ, and waits with what comes too early: after a stall of the network
// the messages of seconds arrive together. More than these waiting are not an honest client's. Its connection ends
// after 10 s without acknowledgements, and its own queue holds kMaxClientGameQueueBytes.
inline constexpr double kGamePaceTolerance = 1.25, kGamePaceBurst_s = 2.0;
inline constexpr std::size_t kMaxWaitingGameMessages = 720;

inline constexpr std::size_t kMaxClientGameQueueBytes = 256u << 10;  // not acknowledged
inline constexpr std::size_t kMaxServerGameQueueBytes = 1u << 20;    // not acknowledged; the board has room beside them
inline constexpr std::size_t kMaxUnreliableGameWaitingBytes = 32u << 10;  // to be sent; snapshots need the other half
// Of a server to a client. Unreliable messages do not wait for the rate of the streams, which pay for most of them.
inline constexpr BucketRate kServerUnreliableBytes{256.0 * 1024.0, 32.0 * 1024.0};
inline constexpr std::size_t kGameFrameBytes = 8;  // a message's head in the stream, at most

class GamePace {
  public:
    // `tolerance` multiplies both rates.
    GamePace(double tolerance, double burst_s)
        : messages_{kGameMessagesPerSecond * tolerance, kGameMessagesPerSecond * burst_s},
          bytes_{kGameBytesPerSecond * tolerance, kGameBytesPerSecond * burst_s} {}

    // True if a message of `bytes` may go now, and counts it.
    bool take(std::size_t bytes, TimeNs now) {
        fill(now);
        if (message_bucket_.tokens < 1.0 || byte_bucket_.tokens < static_cast<double>(bytes)) return false;
        charge(bytes);
        return true;
    }
    // For who learns a message's size by taking it: one message may owe bytes.
    bool open(TimeNs now) {
        fill(now);
        return message_bucket_.tokens >= 1.0 && byte_bucket_.tokens > 0.0;
    }
    void charge(std::size_t bytes) {
        message_bucket_.tokens -= 1.0;
        byte_bucket_.tokens -= static_cast<double>(bytes);
    }

  private:
    void fill(TimeNs now) {
        if (!started_) {
            message_bucket_ = {messages_.burst, now};
            byte_bucket_ = {bytes_.burst, now};
            started_ = true;
        }
        message_bucket_.fill(messages_, now);
        byte_bucket_.fill(bytes_, now);
    }

    BucketRate messages_, bytes_;
    TokenBucket message_bucket_, byte_bucket_;
    bool started_ = false;
};

}  // namespace orrery::protocol
