// The bit-packed coder. A body is coded as the gap to the body before, its baseline, a mask of what changed, and the
// differences of the changed vectors with the smallest of eight widths.
//
//   snapshot  := count:10 newest_age:6 body*
//   body      := gap reference generation? mask:4 vector?(position) orientation? vector?(linear) vector?(angular)
//   gap       := class:2 value:{2, 5, 10, 22}                    index - previous index - 1
//   reference := 0                 exact, age = newest_age
//              | 10                standing
//              | 110 age:6         exact
//              | 111 generation    absolute: the baseline is all zero but for the identity orientation
//   generation:= 0 value:8 | 1 value:32
//   vector    := class:3 3 x zigzag difference:{2, 4, 6, 8, 10, 13, 17, 32}
//   orientation := 1 3 x difference as a vector's (largest component as before) | 0 packed:32
#pragma once

#include "protocol/snapshot/snapshot_codec.h"

namespace orrery::protocol {

class DeltaCodec final : public SnapshotCodec {
  public:
    static constexpr std::uint8_t kId = 1;
    std::uint8_t id() const override { return kId; }
    void encode(std::span<const EncodeItem> items, std::size_t budget_bytes, std::vector<std::uint8_t>& out,
                std::vector<std::uint32_t>& chosen) const override;
    DecodeStatus decode(std::span<const std::uint8_t> coded, const BaselineSource& baselines,
                        std::vector<QuantisedBody>& bodies, std::vector<BodyCoding>* codings) const override;
};

}  // namespace orrery::protocol
