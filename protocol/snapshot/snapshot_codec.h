// The seam between what a snapshot says (which bodies, against which baselines) and how it is written.
//
// A snapshot is one datagram of the bodies that a client needs most. Each body is coded against a baseline, a state of
// that same body that the client is known to hold, or absolutely. The coder sees integers only and keeps no
// state: encode and decode are pure functions, so another coder (entropy-coded, predicted) takes its place by its
// number in the handshake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/snapshot/quantise.h"

namespace orrery::protocol {

inline constexpr std::uint32_t kMaxSnapshotBodyIndex = sim::kMaxBodies;
inline constexpr std::uint32_t kMaxBodiesPerSnapshot = 1024;  // 1200 bytes hold fewer
// A packet's sequence counts from 1; 0 is the key frame. Acknowledgements of packets older than this are
// ignored, so that each end need remember no more.
inline constexpr std::uint32_t kBaselineWindow = 64;

// Which state of a body its coded form builds on.
struct BaselineReference {
    enum class Kind : std::uint8_t {
        standing,  // the newest state that came with a sequence at least kBaselineWindow before this packet's
        exact,     // the state that came with packet (this sequence - age), 1 <= age < kBaselineWindow
        absolute,  // none
    };
    Kind kind = Kind::absolute;
    std::uint8_t age = 0;
    friend bool operator==(const BaselineReference&, const BaselineReference&) = default;
};

struct EncodeItem {
    const QuantisedBody* current = nullptr;
    const QuantisedBody* baseline = nullptr;  // of the same index and generation; null iff `reference` is absolute
    BaselineReference reference;
};

// What a decoder asks for baselines: null where the state is not held.
class BaselineSource {
  public:
    virtual const QuantisedBody* find(std::uint32_t index, BaselineReference reference) const = 0;

  protected:
    ~BaselineSource() = default;
};

enum class DecodeStatus : std::uint8_t {
    ok,
    malformed,         // not a form that the encoder writes
    missing_baseline,  // well-formed so far, but a baseline that it builds on is not held
};

class SnapshotCodec {
  public:
    virtual ~SnapshotCodec() = default;
    // The number by which the handshake names this coder.
    virtual std::uint8_t id() const = 0;

    // Appends a coded form of at most `budget_bytes` to `out` that holds as many of `items` as fit, those that come
    // first in `items` rather than later ones. `chosen` becomes the positions in `items` of those that it holds,
    // ascending by body index. Items have distinct body indices below kMaxSnapshotBodyIndex.
    virtual void encode(std::span<const EncodeItem> items, std::size_t budget_bytes, std::vector<std::uint8_t>& out,
                        std::vector<std::uint32_t>& chosen) const = 0;

    // The exact inverse: every body that encode() wrote, ascending by index. On another status `bodies` means nothing.
    virtual DecodeStatus decode(std::span<const std::uint8_t> coded, const BaselineSource& baselines,
                                std::vector<QuantisedBody>& bodies) const = 0;
};

}  // namespace orrery::protocol
