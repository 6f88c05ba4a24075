#include "protocol/snapshot/delta_codec.h"

#include <algorithm>
#include <array>

#include "protocol/snapshot/bit_stream.h"
#include "sim/base/assert.h"

namespace orrery::protocol {
namespace {

constexpr std::uint32_t kCountBits = 10, kAgeBits = 6, kMaskBits = 4;
static_assert(kBaselineWindow <= 1u << kAgeBits && kMaxBodiesPerSnapshot <= 1u << kCountBits);
constexpr std::array<std::uint32_t, 4> kGapWidths{2, 5, 10, 22};
static_assert(kMaxSnapshotBodyIndex <= 1u << 22);
constexpr std::array<std::uint32_t, 8> kVectorWidths{2, 4, 6, 8, 10, 13, 17, 32};
constexpr std::uint32_t kChangedPosition = 1, kChangedOrientation = 2, kChangedLinear = 4, kChangedAngular = 8;
constexpr std::uint32_t kComponentMask = (1u << kOrientationBits) - 1u;

// Every difference is taken modulo 2^32: any pair of values has one, and adding it back is exact.
std::uint32_t zigzag(std::uint32_t difference) { return (difference << 1) ^ (0u - (difference >> 31)); }
std::uint32_t unzigzag(std::uint32_t value) { return (value >> 1) ^ (0u - (value & 1u)); }
bool fits(std::uint32_t value, std::uint32_t bits) { return bits == 32 || (value >> bits) == 0; }

template <class Sink>
void write_three(Sink& sink, const std::array<std::uint32_t, 3>& values) {
    const std::uint32_t all = values[0] | values[1] | values[2];
    std::uint32_t width_class = 0;
    while (!fits(all, kVectorWidths[width_class])) ++width_class;
    sink.write(width_class, 3);
    for (const std::uint32_t value : values) sink.write(value, kVectorWidths[width_class]);
}

std::array<std::uint32_t, 3> read_three(BitReader& reader) {
    const std::uint32_t width = kVectorWidths[reader.read(3)];
    std::array<std::uint32_t, 3> values;
    for (std::uint32_t& value : values) value = reader.read(width);
    return values;
}

template <class Sink>
void write_vector(Sink& sink, const std::array<std::int32_t, 3>& now, const std::array<std::int32_t, 3>& base) {
    std::array<std::uint32_t, 3> values;
    for (int i = 0; i < 3; ++i) {
        values[i] = zigzag(static_cast<std::uint32_t>(now[i]) - static_cast<std::uint32_t>(base[i]));
    }
    write_three(sink, values);
}

void read_vector(BitReader& reader, std::array<std::int32_t, 3>& value) {
    const std::array<std::uint32_t, 3> differences = read_three(reader);
    for (int i = 0; i < 3; ++i) {
        value[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(value[i]) + unzigzag(differences[i]));
    }
}

std::uint32_t component(PackedOrientation packed, int i) {
    return (packed >> (static_cast<std::uint32_t>(i) * kOrientationBits)) & kComponentMask;
}

template <class Sink>
void write_orientation(Sink& sink, PackedOrientation now, PackedOrientation base) {
    const bool same_largest = now >> 30 == base >> 30;
    sink.write(same_largest ? 1 : 0, 1);
    if (!same_largest) {
        sink.write(now, 32);
        return;
    }
    std::array<std::uint32_t, 3> values;
    for (int i = 0; i < 3; ++i) values[i] = zigzag(component(now, i) - component(base, i));
    write_three(sink, values);
}

PackedOrientation read_orientation(BitReader& reader, PackedOrientation base) {
    if (reader.read(1) == 0) return reader.read(32);
    const std::array<std::uint32_t, 3> differences = read_three(reader);
    PackedOrientation packed = base & ~0x3fff'ffffu;
    for (int i = 0; i < 3; ++i) {
        const std::uint32_t value = (component(base, i) + unzigzag(differences[i])) & kComponentMask;
        packed |= value << (static_cast<std::uint32_t>(i) * kOrientationBits);
    }
    return packed;
}

QuantisedBody absolute_baseline(std::uint32_t index, std::uint32_t generation) {
    QuantisedBody base;
    base.index = index;
    base.generation = generation;
    base.orientation = quantise_orientation(sim::Quat{});
    return base;
}

template <class Sink>
void write_reference(Sink& sink, const EncodeItem& item, std::uint32_t newest_age) {
    using Kind = BaselineReference::Kind;
    const BaselineReference reference = item.reference;
    if (reference.kind == Kind::exact && reference.age == newest_age) {
        sink.write(0, 1);
    } else if (reference.kind == Kind::standing) {
        sink.write(0b01, 2);
    } else if (reference.kind == Kind::exact) {
        sink.write(0b011, 3);
        sink.write(reference.age, kAgeBits);
    } else {
        sink.write(0b111, 3);
        const std::uint32_t generation = item.current->generation;
        const bool wide = generation > 0xff;
        sink.write(wide ? 1 : 0, 1);
        sink.write(generation, wide ? 32 : 8);
    }
}

// All of a body but the gap.
template <class Sink>
void write_body(Sink& sink, const EncodeItem& item, std::uint32_t newest_age) {
    const QuantisedBody& now = *item.current;
    const QuantisedBody base = item.baseline ? *item.baseline : absolute_baseline(now.index, now.generation);
    write_reference(sink, item, newest_age);
    std::uint32_t mask = 0;
    if (now.position != base.position) mask |= kChangedPosition;
    if (now.orientation != base.orientation) mask |= kChangedOrientation;
    if (now.linear_velocity != base.linear_velocity) mask |= kChangedLinear;
    if (now.angular_velocity != base.angular_velocity) mask |= kChangedAngular;
    sink.write(mask, kMaskBits);
    if (mask & kChangedPosition) write_vector(sink, now.position, base.position);
    if (mask & kChangedOrientation) write_orientation(sink, now.orientation, base.orientation);
    if (mask & kChangedLinear) write_vector(sink, now.linear_velocity, base.linear_velocity);
    if (mask & kChangedAngular) write_vector(sink, now.angular_velocity, base.angular_velocity);
}

std::uint32_t gap_class(std::uint32_t gap) {
    std::uint32_t result = 0;
    while (!fits(gap, kGapWidths[result])) ++result;
    return result;
}

// The smallest age that an item of the packet builds on: what most bodies that move all the time share.
std::uint32_t newest_age_of(std::span<const EncodeItem> items) {
    std::uint32_t newest = 0;
    for (const EncodeItem& item : items) {
        if (item.reference.kind != BaselineReference::Kind::exact) continue;
        if (newest == 0 || item.reference.age < newest) newest = item.reference.age;
    }
    return newest;
}

std::size_t body_bits(const EncodeItem& item, std::uint32_t newest_age) {
    BitCounter counter;
    write_body(counter, item, newest_age);
    return counter.bit_count();
}

// Bits of the gap before `index` when the one before is at `previous_plus_one` - 1.
std::size_t gap_bits(std::uint32_t index, std::uint32_t previous_plus_one) {
    return 2 + kGapWidths[gap_class(index - previous_plus_one)];
}

}  // namespace

void DeltaCodec::encode(std::span<const EncodeItem> items, std::size_t budget_bytes, std::vector<std::uint8_t>& out,
                        std::vector<std::uint32_t>& chosen) const {
    const std::uint32_t newest_age = newest_age_of(items);
    const std::size_t budget_bits = budget_bytes * 8;
    const auto by_index = [&](std::uint32_t a, std::uint32_t b) {
        return items[a].current->index < items[b].current->index;
    };

    // Whether all fit depends on gaps between neighbours, so it is asked first and exactly; else each choice is
    // charged the widest gap that any order of neighbours could need.
    chosen.clear();
    if (items.size() < kMaxBodiesPerSnapshot) {
        for (std::uint32_t i = 0; i < items.size(); ++i) chosen.push_back(i);
        std::sort(chosen.begin(), chosen.end(), by_index);
        std::size_t bits = kCountBits + kAgeBits;
        std::uint32_t previous_plus_one = 0;
        for (const std::uint32_t i : chosen) {
            const std::uint32_t index = items[i].current->index;
            bits += gap_bits(index, previous_plus_one) + body_bits(items[i], newest_age);
            previous_plus_one = index + 1;
        }
        if (bits > budget_bits) chosen.clear();
    }
    if (chosen.empty()) {
        std::uint32_t last_index = 0;
        for (const EncodeItem& item : items) last_index = std::max(last_index, item.current->index);
        const std::size_t widest_gap = gap_bits(last_index, 0);
        std::size_t bits = kCountBits + kAgeBits;
        for (std::uint32_t i = 0; i < items.size() && chosen.size() + 1 < kMaxBodiesPerSnapshot; ++i) {
            const std::size_t cost = widest_gap + body_bits(items[i], newest_age);
            if (bits + cost > budget_bits) continue;  // a smaller one further down may still fit
            bits += cost;
            chosen.push_back(i);
        }
        std::sort(chosen.begin(), chosen.end(), by_index);
    }

    BitWriter writer(out, budget_bytes);
    writer.write(static_cast<std::uint32_t>(chosen.size()), kCountBits);
    writer.write(newest_age, kAgeBits);
    std::uint32_t previous_plus_one = 0;
    for (const std::uint32_t i : chosen) {
        const std::uint32_t gap = items[i].current->index - previous_plus_one;
        const std::uint32_t width_class = gap_class(gap);
        writer.write(width_class, 2);
        writer.write(gap, kGapWidths[width_class]);
        write_body(writer, items[i], newest_age);
        previous_plus_one = items[i].current->index + 1;
    }
    writer.finish();
    ORRERY_ASSERT(!writer.overflowed());
}

DecodeStatus DeltaCodec::decode(std::span<const std::uint8_t> coded, const BaselineSource& baselines,
                                std::vector<QuantisedBody>& bodies, std::vector<BodyCoding>* codings) const {
    using Kind = BaselineReference::Kind;
    bodies.clear();
    if (codings) codings->clear();
    BitReader reader(coded);
    const std::uint32_t count = reader.read(kCountBits);
    const std::uint32_t newest_age = reader.read(kAgeBits);
    std::uint32_t next_index = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::size_t begin = reader.position();
        const std::uint32_t index = next_index + reader.read(kGapWidths[reader.read(2)]);
        if (reader.failed() || index >= kMaxSnapshotBodyIndex) return DecodeStatus::malformed;
        next_index = index + 1;

        BaselineReference reference{Kind::exact, static_cast<std::uint8_t>(newest_age)};
        std::uint32_t generation = 0;
        if (reader.read(1) == 1) {
            if (reader.read(1) == 0) {
                reference = {Kind::standing, 0};
            } else if (reader.read(1) == 0) {
                reference.age = static_cast<std::uint8_t>(reader.read(kAgeBits));
            } else {
                reference = {Kind::absolute, 0};
                generation = reader.read(reader.read(1) == 1 ? 32 : 8);
            }
        }
        if (reader.failed() || (reference.kind == Kind::exact && reference.age == 0)) return DecodeStatus::malformed;

        QuantisedBody body = absolute_baseline(index, generation);
        if (reference.kind != Kind::absolute) {
            const QuantisedBody* baseline = baselines.find(index, reference);
            if (!baseline) return DecodeStatus::missing_baseline;
            body = *baseline;
        }
        const std::uint32_t mask = reader.read(kMaskBits);
        if (mask & kChangedPosition) read_vector(reader, body.position);
        if (mask & kChangedOrientation) body.orientation = read_orientation(reader, body.orientation);
        if (mask & kChangedLinear) read_vector(reader, body.linear_velocity);
        if (mask & kChangedAngular) read_vector(reader, body.angular_velocity);
        if (reader.failed()) return DecodeStatus::malformed;
        bodies.push_back(body);
        if (codings) codings->push_back({static_cast<std::uint16_t>(reader.position() - begin), reference});
    }
    return reader.at_end() ? DecodeStatus::ok : DecodeStatus::malformed;
}

}  // namespace orrery::protocol
