// Records of four floats (16 bytes) gathered into lanes and scattered back, as records-inl.h does with those of eight.

#if defined(ORRERY_LANES_QUADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_LANES_QUADS_INL_H_
#undef ORRERY_LANES_QUADS_INL_H_
#else
#define ORRERY_LANES_QUADS_INL_H_
#endif

#include "sim/lanes/records-inl.h"

ORRERY_LANES_BEGIN

inline constexpr std::size_t kQuadFloats = 4;

template <class F>
struct Quads;

template <>
struct Quads<float> {
    ORRERY_FN static void gather(const float* base, const std::uint32_t* rows, float out[kQuadFloats]) {
        read_record<kQuadFloats>(base + std::size_t(rows[0]) * kQuadFloats, out);
    }
    ORRERY_FN static void scatter(float* base, const std::uint32_t* rows, std::uint32_t lane_bits,
                                  const float in[kQuadFloats]) {
        if ((lane_bits & 1u) == 0) return;
        write_record<kQuadFloats>(base + std::size_t(rows[0]) * kQuadFloats, in);
    }
};

#ifndef ORRERY_LANES_REF

template <>
struct Quads<Wide> {
    using R = Records<Wide>;
    using V = R::V;

    ORRERY_FN static void gather(const float* base, const std::uint32_t* rows, Wide out[kQuadFloats]) {
        R::load_columns<kQuadFloats>(base, rows, out);
    }

    template <std::size_t B>
    ORRERY_FN static void store_block(float* base, const std::uint32_t* rows, std::uint32_t lane_bits,
                                      const V (&v)[4]) {
        for (std::size_t k = 0; k < 4; ++k) {
            if (((lane_bits >> (4 * B + k)) & 1u) == 0) continue;
            hn::StoreU(R::block<B>(WideTag(), v[k]), R::BlockTag(), base + std::size_t(rows[4 * B + k]) * kQuadFloats);
        }
    }
    ORRERY_FN static void scatter(float* base, const std::uint32_t* rows, std::uint32_t lane_bits,
                                  const Wide in[kQuadFloats]) {
        V v[4] = {in[0].v, in[1].v, in[2].v, in[3].v};
        R::transpose(v[0], v[1], v[2], v[3]);
        store_block<0>(base, rows, lane_bits, v);
        if constexpr (R::kBlocks >= 2) store_block<1>(base, rows, lane_bits, v);
        if constexpr (R::kBlocks == 4) {
            store_block<2>(base, rows, lane_bits, v);
            store_block<3>(base, rows, lane_bits, v);
        }
    }
};

#endif

ORRERY_LANES_END

#endif
