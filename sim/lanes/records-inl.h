// Records of eight floats (32 bytes: half a cache line) gathered into lanes and scattered back. Rows are picked by
// index; the transposition moves bits and computes nothing.

#if defined(ORRERY_LANES_RECORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_RECORDS_INL_H_
#undef ORRERY_LANES_RECORDS_INL_H_
#else
#define ORRERY_LANES_RECORDS_INL_H_
#endif

#include "sim/lanes/number-inl.h"

ORRERY_LANES_BEGIN

inline constexpr std::size_t kRecordFloats = 8;

// out[c] holds column c of the records rows[0..lanes).
template <class F>
ORRERY_FN void gather_records(const float* base, const std::uint32_t* rows, F out[kRecordFloats]) {
    alignas(64) float columns[kRecordFloats][16];
    for (std::size_t lane = 0; lane < lanes<F>(); ++lane) {
        const float* record = base + std::size_t(rows[lane]) * kRecordFloats;
        for (std::size_t c = 0; c < kRecordFloats; ++c) columns[c][lane] = record[c];
    }
    for (std::size_t c = 0; c < kRecordFloats; ++c) out[c] = load<F>(columns[c]);
}

// Writes columns back to the records of the lanes whose bit is set in `lane_bits`; those rows must differ among themselves.
template <class F>
ORRERY_FN void scatter_records(float* base, const std::uint32_t* rows, std::uint32_t lane_bits, const F in[kRecordFloats]) {
    alignas(64) float columns[kRecordFloats][16];
    for (std::size_t c = 0; c < kRecordFloats; ++c) store(columns[c], in[c]);
    for (std::size_t lane = 0; lane < lanes<F>(); ++lane) {
        if (((lane_bits >> lane) & 1u) == 0) continue;
        float* record = base + std::size_t(rows[lane]) * kRecordFloats;
        for (std::size_t c = 0; c < kRecordFloats; ++c) record[c] = columns[c][lane];
    }
}

ORRERY_LANES_END

#endif
