// Records of eight floats (32 bytes: half a cache line) gathered into lanes and scattered back. Rows are picked by
// index; the transposition moves bits and computes nothing.

#if defined(ORRERY_LANES_RECORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_RECORDS_INL_H_
#undef ORRERY_LANES_RECORDS_INL_H_
#else
#define ORRERY_LANES_RECORDS_INL_H_
#endif

#include "sim/lanes/number-inl.h"
#include "sim/lanes/record_place.h"

ORRERY_LANES_BEGIN

inline constexpr std::size_t kRecordFloats = 8;

// Where a record of kFloats begins: its row, or its place, which a processor adds without a shift.
template <std::size_t kFloats>
ORRERY_FN std::size_t floats_before(std::uint32_t row) {
    return std::size_t(row) * kFloats;
}
template <std::size_t kFloats>
ORRERY_FN std::size_t floats_before(RecordPlace place) {
    static_assert(kFloats == kRecordFloats);
    return std::size_t(place) * (kRecordFloats / kPlacesPerRecord);
}

// Of one lane. A GPU's thread moves four floats at once where it is told that they are aligned, as records are.
template <std::size_t kFloats>
ORRERY_FN void read_record(const float* record, float* out) {
    for (std::size_t c = 0; c < kFloats; c += 4) {
#ifdef __CUDACC__
        const float4 four = *reinterpret_cast<const float4*>(record + c);
        out[c] = four.x, out[c + 1] = four.y, out[c + 2] = four.z, out[c + 3] = four.w;
#else
        for (std::size_t k = c; k < c + 4; ++k) out[k] = record[k];
#endif
    }
}
template <std::size_t kFloats>
ORRERY_FN void write_record(float* record, const float* in) {
    for (std::size_t c = 0; c < kFloats; c += 4) {
#ifdef __CUDACC__
        *reinterpret_cast<float4*>(record + c) = make_float4(in[c], in[c + 1], in[c + 2], in[c + 3]);
#else
        for (std::size_t k = c; k < c + 4; ++k) record[k] = in[k];
#endif
    }
}

template <class F>
struct Records;

template <>
struct Records<float> {
    template <class Index>
    ORRERY_FN static void gather(const float* base, const Index* rows, float out[kRecordFloats]) {
        read_record<kRecordFloats>(base + floats_before<kRecordFloats>(rows[0]), out);
    }
    template <class Index>
    ORRERY_FN static void scatter(float* base, const Index* rows, std::uint32_t lane_bits,
                                  const float in[kRecordFloats]) {
        if ((lane_bits & 1u) == 0) return;
        write_record<kRecordFloats>(base + floats_before<kRecordFloats>(rows[0]), in);
    }
};

#ifndef ORRERY_LANES_REF

// A vector is made of 128-bit blocks; block b holds lanes 4b to 4b+3. Half a record is one block, so a 4x4
// transposition inside blocks turns four vectors of half records into four columns, without moving anything between
// blocks.
template <>
struct Records<Wide> {
    using V = hn::Vec<WideTag>;
    using BlockTag = hn::CappedTag<float, 4>;
    using Block = hn::Vec<BlockTag>;
    static constexpr std::size_t kBlocks = lanes<Wide>() / 4;
    static_assert(kBlocks == 1 || kBlocks == 2 || kBlocks == 4);

    // Four floats each of the records rows[k], rows[k + 4], ... side by side, records being kFloats long. Templates, so
    // that only this target's branch is formed.
    template <std::size_t kFloats, class D, class Index>
    ORRERY_FN static hn::Vec<D> load_blocks(D d, const float* base, const Index* rows, std::size_t k) {
        if constexpr (hn::MaxLanes(D()) == 4) {
            return hn::LoadU(d, base + floats_before<kFloats>(rows[k]));
        } else {
            const hn::Half<D> half;
            return hn::Combine(d, load_blocks<kFloats>(half, base, rows, k + hn::MaxLanes(half)),
                               load_blocks<kFloats>(half, base, rows, k));
        }
    }
    template <std::size_t kFloats, class Index>
    ORRERY_FN static void load_columns(const float* base, const Index* rows, Wide out[4]) {
        const WideTag tag;
        V a = load_blocks<kFloats>(tag, base, rows, 0), b = load_blocks<kFloats>(tag, base, rows, 1);
        V c = load_blocks<kFloats>(tag, base, rows, 2), d = load_blocks<kFloats>(tag, base, rows, 3);
        transpose(a, b, c, d);
        out[0] = Wide(a), out[1] = Wide(b), out[2] = Wide(c), out[3] = Wide(d);
    }
    template <std::size_t B, class D>
    ORRERY_FN static Block block([[maybe_unused]] D d, hn::Vec<D> v) {
        if constexpr (hn::MaxLanes(D()) == 4) {
            return v;
        } else {
            const hn::Half<D> half;
            constexpr std::size_t kHalfBlocks = hn::MaxLanes(half) / 4;
            return block<B % kHalfBlocks>(half, upper_or_lower<B / kHalfBlocks>(half, v));
        }
    }
    template <std::size_t Upper, class D, class From>
    ORRERY_FN static hn::Vec<D> upper_or_lower([[maybe_unused]] D d, From v) {
        if constexpr (Upper == 0)
            return hn::LowerHalf(d, v);
        else
            return hn::UpperHalf(d, v);
    }
    ORRERY_FN static void transpose(V& a, V& b, V& c, V& d) {
        const WideTag tag;
        const hn::Repartition<std::uint64_t, WideTag> pairs;
        const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(tag, a, b));
        const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(tag, a, b));
        const auto cd_low = hn::BitCast(pairs, hn::InterleaveLower(tag, c, d));
        const auto cd_high = hn::BitCast(pairs, hn::InterleaveUpper(tag, c, d));
        a = hn::BitCast(tag, hn::InterleaveLower(pairs, ab_low, cd_low));
        b = hn::BitCast(tag, hn::InterleaveUpper(pairs, ab_low, cd_low));
        c = hn::BitCast(tag, hn::InterleaveLower(pairs, ab_high, cd_high));
        d = hn::BitCast(tag, hn::InterleaveUpper(pairs, ab_high, cd_high));
    }

    template <class Index>
    ORRERY_FN static void gather(const float* base, const Index* rows, Wide out[kRecordFloats]) {
        load_columns<kRecordFloats>(base, rows, out);
        load_columns<kRecordFloats>(base + 4, rows, out + 4);
    }

    template <std::size_t B, class Index>
    ORRERY_FN static void store_record(float* base, Index row, V low, V high) {
        const BlockTag d4;
        float* to = base + floats_before<kRecordFloats>(row);
        hn::StoreU(block<B>(WideTag(), low), d4, to);
        hn::StoreU(block<B>(WideTag(), high), d4, to + 4);
    }
    template <std::size_t B, class Index>
    ORRERY_FN static void store_block(float* base, const Index* rows, std::uint32_t lane_bits, const V low[4],
                                      const V high[4]) {
        const Index* const at = rows + 4 * B;
        const std::uint32_t bits = (lane_bits >> (4 * B)) & 0xfu;
        if (bits == 0xfu) {  // most are: one branch instead of four
            store_record<B>(base, at[0], low[0], high[0]);
            store_record<B>(base, at[1], low[1], high[1]);
            store_record<B>(base, at[2], low[2], high[2]);
            store_record<B>(base, at[3], low[3], high[3]);
        } else if (bits != 0) {
            if ((bits & 1u) != 0) store_record<B>(base, at[0], low[0], high[0]);
            if ((bits & 2u) != 0) store_record<B>(base, at[1], low[1], high[1]);
            if ((bits & 4u) != 0) store_record<B>(base, at[2], low[2], high[2]);
            if ((bits & 8u) != 0) store_record<B>(base, at[3], low[3], high[3]);
        }
    }
    template <class Index>
    ORRERY_FN static void scatter(float* base, const Index* rows, std::uint32_t lane_bits,
                                  const Wide in[kRecordFloats]) {
        V low[4] = {in[0].v, in[1].v, in[2].v, in[3].v}, high[4] = {in[4].v, in[5].v, in[6].v, in[7].v};
        transpose(low[0], low[1], low[2], low[3]);
        transpose(high[0], high[1], high[2], high[3]);
        store_block<0>(base, rows, lane_bits, low, high);
        if constexpr (kBlocks >= 2) store_block<1>(base, rows, lane_bits, low, high);
        if constexpr (kBlocks == 4) {
            store_block<2>(base, rows, lane_bits, low, high);
            store_block<3>(base, rows, lane_bits, low, high);
        }
    }
};

#endif

// out[c] holds column c of the records rows[0 .. lanes).
template <class F, class Index>
ORRERY_FN void gather_records(const float* base, const Index* rows, F out[kRecordFloats]) {
    Records<F>::gather(base, rows, out);
}

// Writes columns back to the records of the lanes whose bit is set in `lane_bits`; those rows must differ among
// themselves.
template <class F, class Index>
ORRERY_FN void scatter_records(float* base, const Index* rows, std::uint32_t lane_bits, const F in[kRecordFloats]) {
    Records<F>::scatter(base, rows, lane_bits, in);
}

ORRERY_LANES_END

#endif
