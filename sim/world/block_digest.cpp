#include "sim/world/block_digest.h"

#include <algorithm>
#include <cstring>

#include "sim/base/assert.h"
#include "sim/world/canonical.h"

namespace orrery::sim {

namespace {

// Of the definition of XXH3 (xxhash_spec.md, "XXH3 Algorithm Overview"), without a seed, for more than 240 bytes.
constexpr std::size_t kStripe = 64, kStripeStep = 8;  // bytes of a stripe; of the secret, from stripe to stripe
constexpr std::uint64_t kSecret[] = {0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072,
                                     0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0,
                                     0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
                                     0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8,
                                     0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
                                     0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};
constexpr std::size_t kScrambleSecret = sizeof kSecret - kStripe, kLastSecret = kScrambleSecret - 7, kMergeSecret = 11;
constexpr std::uint64_t kPrime32_1 = 0x9e3779b1, kPrime32_2 = 0x85ebca77, kPrime32_3 = 0xc2b2ae3d,
                        kPrime64_1 = 0x9e3779b185ebca87, kPrime64_2 = 0xc2b2ae3d27d4eb4f,
                        kPrime64_3 = 0x165667b19e3779f9, kPrime64_4 = 0x85ebca77c2b2ae63,
                        kPrime64_5 = 0x27d4eb2f165667c5;

using Lanes = std::array<std::uint64_t, 8>;
constexpr Lanes kBegin{kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3, kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1};

std::uint64_t read64(const void* from, std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(from) + offset, sizeof value);
    return value;
}

void add_stripe(Lanes& sum, const std::byte* bytes, std::size_t secret) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const std::uint64_t value = read64(bytes, 8 * i), keyed = value ^ read64(kSecret, secret + 8 * i);
        sum[i ^ 1] += value;
        sum[i] += (keyed & 0xffff'ffffu) * (keyed >> 32);
    }
}
// Of a block, from its stripe `first` on.
Lanes with_stripes(Lanes sum, const std::byte* bytes, std::size_t first, std::size_t stripes) {
    for (std::size_t k = 0; k < stripes; ++k) add_stripe(sum, bytes + k * kStripe, (first + k) * kStripeStep);
    return sum;
}

void scramble(Lanes& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] = ((sum[i] ^ (sum[i] >> 47)) ^ read64(kSecret, kScrambleSecret + 8 * i)) * kPrime32_1;
}

std::uint64_t folded_product(std::uint64_t x, std::uint64_t y) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(x) * y;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t finish(const Lanes& sum, std::size_t bytes) {
    std::uint64_t hash = bytes * kPrime64_1;
    for (std::size_t i = 0; i < sum.size(); i += 2)
        hash += folded_product(sum[i] ^ read64(kSecret, kMergeSecret + 8 * i),
                               sum[i + 1] ^ read64(kSecret, kMergeSecret + 8 * i + 8));
    hash = (hash ^ (hash >> 37)) * 0x165667919e3779f9;
    return hash ^ (hash >> 32);
}

// What lies in [from, from + size) of the arrays.
void copy_bytes(std::span<const BlockDigest::Array> arrays, std::uint32_t count, std::size_t from, std::size_t size,
                std::byte* to) {
    for (const BlockDigest::Array& array : arrays) {
        const std::size_t bytes = array.stride * count;
        if (from < bytes) {
            const std::size_t here = std::min(size, bytes - from);
            std::memcpy(to, array.data + from, here);
            to += here, size -= here, from += here;
        }
        from -= bytes;
        if (size == 0) return;
    }
}

// Calls work(i) for each mark that is 1, and takes it off.
template <class Work>
void each_mark(std::vector<std::uint8_t>& marks, const Work& work) {
    std::uint8_t *at = marks.data(), *const end = at + marks.size();
    while (at != end &&
           (at = static_cast<std::uint8_t*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)))) != nullptr) {
        *at = 0;
        work(static_cast<std::size_t>(at - marks.data()));
        ++at;
    }
}

}  // namespace

// Which parts hold something of the groups that changed.
void BlockDigest::mark_parts(std::span<const Array> arrays, std::uint32_t count) {
    each_mark(changed_, [&](std::size_t group) {
        const std::size_t first = group * kGroup, last = std::min<std::size_t>(first + kGroup, count);
        std::size_t offset = 0;
        for (const Array& array : arrays) {
            const std::size_t end = std::min((offset + last * array.stride - 1) / kPart + 1, stale_.size());
            for (std::size_t part = (offset + first * array.stride) / kPart; part < end; ++part) stale_[part] = 1;
            offset += array.stride * count;
        }
    });
}

void BlockDigest::make_sums(std::span<const Array> arrays, std::uint32_t count) {
    constexpr std::size_t kParts = kBlock / kPart, kStripes = kPart / kStripe;
    std::byte bytes[kPart];
    each_mark(stale_, [&](std::size_t part) {
        bytes_read_ += kPart;
        copy_bytes(arrays, count, part * kPart, kPart, bytes);
        const Sum now = with_stripes({}, bytes, part % kParts * kStripes, kStripes);
        Sum& before = part_sums_[part];
        for (std::size_t i = 0; i < now.size(); ++i) sums_[part / kParts][i] += now[i] - before[i];
        before = now;
    });
}

std::uint64_t BlockDigest::of(std::span<const Array> arrays, std::uint32_t count) {
    std::size_t size = 0;
    for (const Array& array : arrays) size += array.stride * count;
    ORRERY_ASSERT(size >= kLeastBytes);
    if (all_ || size != bytes_) {
        bytes_ = size;
        sums_.assign((size - 1) / kBlock, {});
        part_sums_.assign(sums_.size() * (kBlock / kPart), {});
        stale_.assign(part_sums_.size(), 1);
        changed_.assign((count + kGroup - 1) / kGroup, 0);
        all_ = false;
    } else {
        mark_parts(arrays, count);
    }
    make_sums(arrays, count);
    Lanes sum = kBegin;
    for (const Sum& of_block : sums_) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_block[i];
        scramble(sum);
    }
    // What is left, at most a block, and the last stripe once more.
    std::byte bytes[kBlock + kStripe];
    const std::size_t whole = sums_.size() * kBlock;
    copy_bytes(arrays, count, whole - kStripe, size - whole + kStripe, bytes);
    sum = with_stripes(sum, bytes + kStripe, 0, (size - 1 - whole) / kStripe);
    add_stripe(sum, bytes + (size - whole), kLastSecret);
    return finish(sum, size);
}

}  // namespace orrery::sim
