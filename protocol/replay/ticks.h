// The payload of TICKS (records.h): several ticks that follow each other, with the commands and the root hash of each
// and the leaves of the last.
#pragma once

#include "protocol/replay/byte_io.h"
#include "protocol/replay/records.h"

namespace orrery::protocol::replay {

class TicksEncoder {
  public:
    // Takes the next tick. False, and nothing was taken: its payload would have more than kMaxTickBytes.
    bool add(const TickRecord& record);
    std::uint32_t count() const { return count_; }
    std::size_t bytes() const { return ticks_.size(); }  // about those of the payload
    // Appends the payload of at least one tick to `out`, and begins anew.
    void finish(std::vector<std::uint8_t>& out);

  private:
    std::uint64_t first_ = 0;
    std::uint32_t count_ = 0;
    sim::HashTree last_;
    std::vector<std::uint8_t> ticks_;
};

// Decodes one tick at a time, so that a chunk of many commands takes no more memory than a tick. What it accepts is
// what TicksEncoder gives.
class TicksDecoder {
  public:
    // The payload stays as it is until the last tick was read.
    Result<Ok> begin(std::span<const std::uint8_t> payload);
    std::uint64_t first() const { return next_; }  // tick of the first record, before it was read
    std::uint32_t left() const { return left_; }   // records
    Result<Ok> next(TickRecord& record);           // while some are left

  private:
    ByteReader reader_{{}};
    std::uint64_t next_ = 0;
    std::uint32_t left_ = 0;
};

}  // namespace orrery::protocol::replay
