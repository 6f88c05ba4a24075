// Guards: one expression over lanes gives the same bits on every target (DETERMINISM.md 17), and the own trigonometry
// keeps its stated errors. Random bit patterns and the specials (+-0, +-inf, NaN, denormals, extremes) go through every
// operation.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/sim/lanes_parity_test.cpp"
#include <hwy/foreach_target.h>

#include "sim/lanes/target_pass.h"
#if ORRERY_PASS
#include "tests/sim/lanes_ops-inl.h"
#endif

#if HWY_ONCE
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "orrery/sim.hpp"
#include "sim/lanes/fp_environment.h"
#include "tests/support/seed.h"

namespace orrery::sim {
std::span<const LaneOp> reference_ops();

namespace {

std::span<const LaneOp> ops_of(Target target) {
    switch (target) {
        case Target::scalar:
            return reference_ops();
#if HWY_TARGETS & HWY_SSSE3
        case Target::ssse3:
            return N_SSSE3::lane_ops();
#endif
#if HWY_TARGETS & HWY_SSE4
        case Target::sse4:
            return N_SSE4::lane_ops();
#endif
#if HWY_TARGETS & HWY_AVX2
        case Target::avx2:
            return N_AVX2::lane_ops();
#endif
#if HWY_TARGETS & HWY_AVX3
        case Target::avx3:
            return N_AVX3::lane_ops();
#endif
#if HWY_TARGETS & HWY_NEON
        case Target::neon:
            return N_NEON::lane_ops();
#endif
#if HWY_TARGETS & HWY_WASM
        case Target::wasm:
            return N_WASM::lane_ops();
#endif
        default:
            return {};
    }
}

struct Columns {
    std::vector<std::vector<float>> data;
    std::vector<float*> pointers;
    Columns(std::size_t columns, std::size_t rows) : data(columns, std::vector<float>(rows)) {
        for (auto& column : data) pointers.push_back(column.data());
    }
};

std::uint64_t next(std::uint64_t& state) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

constexpr std::size_t kRows = 16 * 512;

// Style 0: any bit pattern; 1: numbers of everyday size; 2: specials, in every combination that chance gives.
void fill(Columns& columns, int style, std::uint64_t seed) {
    const float inf = std::numeric_limits<float>::infinity();
    const float specials[] = {0.0f,
                              -0.0f,
                              inf,
                              -inf,
                              std::numeric_limits<float>::quiet_NaN(),
                              1e-45f,
                              -1e-45f,
                              1.17549421e-38f,
                              1.17549435e-38f,
                              3.40282347e38f,
                              -3.40282347e38f,
                              1.0f,
                              -1.0f,
                              0.5f,
                              16777216.0f,
                              1.57079633f};
    for (auto& column : columns.data) {
        for (float& x : column) {
            const std::uint64_t r = next(seed);
            if (style == 0) x = std::bit_cast<float>(static_cast<std::uint32_t>(r));
            if (style == 1) x = static_cast<float>(static_cast<std::int64_t>(r >> 40) - (1 << 23)) * (1.0f / (1 << 20));
            if (style == 2) x = specials[(r >> 33) % std::size(specials)];
        }
    }
}

bool same(float a, float b, bool moves_bits) {
    if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b)) return true;
    return !moves_bits && std::isnan(a) && std::isnan(b);
}

}  // namespace

TEST_CASE("every lane operation gives the reference's bits on every target") {
    const FpEnvironment environment;
    const auto reference = reference_ops();
    REQUIRE(available_targets().size() >= 1);
    for (const Target target : available_targets()) {
        const auto ops = ops_of(target);
        REQUIRE(ops.size() == reference.size());
        for (std::size_t o = 0; o < ops.size(); ++o) {
            for (int style = 0; style < 3; ++style) {
                Columns in(kMaxOpInputs, kRows), want(kMaxOpOutputs, kRows), got(kMaxOpOutputs, kRows);
                fill(in, style, 0x9e3779b97f4a7c15ull + o);
                reference[o].run(in.pointers.data(), want.pointers.data(), kRows);
                ops[o].run(in.pointers.data(), got.pointers.data(), kRows);
                std::size_t different = 0;
                for (std::size_t c = 0; c < ops[o].outputs; ++c)
                    for (std::size_t i = 0; i < kRows; ++i)
                        different += same(want.data[c][i], got.data[c][i], ops[o].moves_bits) ? 0 : 1;
                INFO("target ", std::string(target_name(target)), ", operation ", ops[o].name, ", inputs of style ",
                     style);
                CHECK(different == 0);
            }
        }
    }
}

TEST_CASE("own trigonometry keeps its stated errors against double precision") {
    const auto ops = reference_ops();
    const auto op = [&](std::string_view name) -> const LaneOp& {
        for (const LaneOp& candidate : ops)
            if (name == candidate.name) return candidate;
        FAIL("no operation ", std::string(name));
        return ops[0];
    };
    const std::size_t n = static_cast<std::size_t>(orrery::test::sampled(16)) * 65536;
    Columns in(kMaxOpInputs, n), out(kMaxOpOutputs, n);
    std::uint64_t seed = 7;
    const auto uniform = [&] { return static_cast<double>(next(seed) >> 11) * 0x1p-53 * 2.0 - 1.0; };

    for (const auto& [range, bound] : {std::pair{100.0, 1.2e-7}, std::pair{8192.0, 4e-7}}) {
        for (float& x : in.data[0]) x = static_cast<float>(uniform() * range);
        op("sin_cos").run(in.pointers.data(), out.pointers.data(), n);
        double worst = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            worst = std::max(
                worst, std::abs(static_cast<double>(out.data[0][i]) - std::sin(static_cast<double>(in.data[0][i]))));
            worst = std::max(
                worst, std::abs(static_cast<double>(out.data[1][i]) - std::cos(static_cast<double>(in.data[0][i]))));
        }
        CAPTURE(worst);
        CHECK(worst <= bound);
    }
    {
        for (float& y : in.data[0]) y = static_cast<float>(uniform());
        for (float& x : in.data[1]) x = static_cast<float>(uniform());
        op("atan2").run(in.pointers.data(), out.pointers.data(), n);
        double worst = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            worst = std::max(
                worst, std::abs(static_cast<double>(out.data[0][i]) -
                                std::atan2(static_cast<double>(in.data[0][i]), static_cast<double>(in.data[1][i]))));
        CAPTURE(worst);
        CHECK(worst <= 4e-7);
    }
    {
        for (float& x : in.data[0]) x = static_cast<float>(uniform());
        op("asin acos").run(in.pointers.data(), out.pointers.data(), n);
        double worst = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            worst = std::max(
                worst, std::abs(static_cast<double>(out.data[0][i]) - std::asin(static_cast<double>(in.data[0][i]))));
            worst = std::max(
                worst, std::abs(static_cast<double>(out.data[1][i]) - std::acos(static_cast<double>(in.data[0][i]))));
        }
        CAPTURE(worst);
        CHECK(worst <= 6e-7);
    }
}

TEST_CASE("inverse of a symmetric 6x6 block matrix times the matrix is the identity") {
    const LaneOp* invert = nullptr;
    for (const LaneOp& op : reference_ops())
        if (std::string_view(op.name) == "sym6 inverse") invert = &op;
    REQUIRE(invert != nullptr);
    Columns in(kMaxOpInputs, 16), out(kMaxOpOutputs, 16);
    // 4 on the diagonal, small couplings elsewhere: rows of the full matrix from the packed form.
    const float packed[21] = {4,     0.3f, -0.2f, 5,    0.1f, 6,    0.5f,  -0.4f, 0.2f, 0.1f, 0.6f,
                              -0.3f, 0.2f, 0.1f,  0.4f, 7,    0.2f, -0.1f, 8,     0.3f, 9};
    for (std::size_t c = 0; c < 21; ++c)
        for (float& x : in.data[c]) x = packed[c];
    invert->run(in.pointers.data(), out.pointers.data(), 16);
    const auto full = [](const std::vector<std::vector<float>>& p, int r, int c) {
        const int sym[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
        if (r < 3 && c < 3) return static_cast<double>(p[static_cast<std::size_t>(sym[r][c])][0]);
        if (r >= 3 && c >= 3) return static_cast<double>(p[static_cast<std::size_t>(15 + sym[r - 3][c - 3])][0]);
        return static_cast<double>(r < 3 ? p[static_cast<std::size_t>(6 + 3 * r + c - 3)][0]
                                         : p[static_cast<std::size_t>(6 + 3 * c + r - 3)][0]);
    };
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c) {
            double sum = 0.0;
            for (int k = 0; k < 6; ++k) sum += full(in.data, r, k) * full(out.data, k, c);
            CHECK(std::abs(sum - (r == c ? 1.0 : 0.0)) < 1e-5);
        }
}

TEST_CASE("the floating-point environment of a step flushes no denormal and restores the host's") {
    volatile float tiny = 1e-40f, half = 0.5f;
    {
        const FpEnvironment environment;
        CHECK(tiny * half > 0.0f);
    }
#if defined(__x86_64__)
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040u);  // flush to zero, denormals are zero: what fast-math libraries set
    CHECK(tiny * half == 0.0f);
    {
        const FpEnvironment environment;
        CHECK(tiny * half > 0.0f);
    }
    CHECK((__builtin_ia32_stmxcsr() & 0x8040u) == 0x8040u);
    __builtin_ia32_ldmxcsr(before);
#endif
}

TEST_CASE("targets have names that lead back to them, and a wrong name lists the right ones") {
    for (const Target target : available_targets()) CHECK(*target_from_name(target_name(target)) == target);
    CHECK(available_targets().front() == Target::scalar);
    CHECK(*target_from_name("auto") == best_target());
    const auto wrong = target_from_name("sse9");
    REQUIRE(!wrong.ok());
    CHECK(wrong.error().message.find("scalar") != std::string::npos);
}

}  // namespace orrery::sim
#endif
