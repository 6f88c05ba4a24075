// The interface between the content of a snapshot (which bodies, with which baselines) and its coding.
//
// A snapshot is one datagram with the bodies that a client needs most. Each body is coded as a difference to a
// baseline, a state of the same body that the client is known to have, or absolutely. A coder handles only integers and
// has no state: encode and decode are pure functions. So another coder (entropy-coded, predicted) can replace it, by
// its number in the handshake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/snapshot/quantise.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kMaxSnapshotBodyIndex = sim::kMaxBodies;
inline constexpr std::uint32_t kMaxBodiesPerSnapshot = 1024;  // more than fit into 1200 bytes
// A packet is named by the tick of its states. Acknowledgements of packets this many ticks older than the newest are
// ignored, so that both sides need remember no more.
inline constexpr std::uint32_t kBaselineWindow = 64;
inline constexpr std::uint8_t kManyTicks = 255;  // between two packets, for a count of one byte: at least so many

// The state that the coded form of a body builds on.
struct BaselineReference {
    enum class Kind : std::uint8_t {
        standing,  // the newest state of a tick at least kBaselineWindow before this packet's
        exact,     // the state of tick (this packet's - age), 1 <= age < kBaselineWindow
        absolute,  // none
    };
    Kind kind = Kind::absolute;
    std::uint8_t age = 0;
    friend bool operator==(const BaselineReference&, const BaselineReference&) = default;
};

struct EncodeItem {
    const QuantisedBody* current = nullptr;
    // of the same index and generation; null if and only if `reference` is absolute
    const QuantisedBody* baseline = nullptr;
    BaselineReference reference;
};

// Gives baselines to a decoder; null if there is no such state.
class BaselineSource {
  public:
    virtual const QuantisedBody* find(std::uint32_t index, BaselineReference reference) const = 0;

  protected:
    ~BaselineSource() = default;
};

enum class DecodeStatus : std::uint8_t {
    ok,
    malformed,         // not in the encoder's form
    missing_baseline,  // well-formed so far, but one of its baselines is missing
};

// How a decoded body was coded: by how many bits of the snapshot, with what comes before it to name it, and against
// what.
struct BodyCoding {
    std::uint16_t bits = 0;
    BaselineReference reference;
};

class SnapshotCodec {
  public:
    virtual ~SnapshotCodec() = default;
    // The number by which the handshake names this coder.
    virtual std::uint8_t id() const = 0;

    // Appends a coded form of at most `budget_bytes` to `out`, with as many of `items` as fit; earlier items come
    // first. `chosen` gets the positions in `items` of the coded ones, ascending by body index. Items have distinct
    // body indices below kMaxSnapshotBodyIndex.
    virtual void encode(std::span<const EncodeItem> items, std::size_t budget_bytes, std::vector<std::uint8_t>& out,
                        std::vector<std::uint32_t>& chosen) const = 0;

    // The exact inverse: every body that encode() wrote, ascending by index; `codings`, if it is not null, gets one
    // entry for each. With another status, both are undefined.
    virtual DecodeStatus decode(std::span<const std::uint8_t> coded, const BaselineSource& baselines,
                                std::vector<QuantisedBody>& bodies,
                                std::vector<BodyCoding>* codings = nullptr) const = 0;
};

}  // namespace orrery::protocol
