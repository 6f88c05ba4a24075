// XXH3-64 of the long arrays of a state, of which few bytes change from one time to the next. XXH3-64 goes over blocks
// of 1,024 bytes: it makes a sum of a block, whatever came before, adds it to what it has and scrambles that. Sums of
// what stayed as it was are kept here, and the digest is the same as if all bytes had been read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery::sim {

class BlockDigest {
  public:
    // Arrays one behind the other, each with so many bytes an element; all have as many elements.
    struct Array {
        const std::byte* data;
        std::size_t stride;
    };

    // The element of each array may be another since the last digest.
    void note(std::uint32_t element) {
        if (all_) return;
        const std::size_t group = element / kGroup;
        if (group < changed_.size())
            changed_[group] = 1;
        else
            all_ = true;
    }
    void note_all() { all_ = true; }
    // What was not noted must be as it was.
    std::uint64_t of(std::span<const Array> arrays, std::uint32_t count);
    std::uint64_t bytes_read() const { return bytes_read_; }  // in all, for sums

    static constexpr std::uint32_t kLeastBytes = 4096;  // shorter ones are hashed whole

  private:
    static constexpr std::uint32_t kGroup = 8;  // elements that are noted together
    static constexpr std::size_t kBlock = 1024;
    using Sum = std::array<std::uint64_t, 8>;

    void mark_parts(std::span<const Array> arrays, std::uint32_t count);
    void make_sums(std::span<const Array> arrays, std::uint32_t count);

    static constexpr std::size_t kPart = 256;  // of a block: what is read again where some of it changed
    std::vector<Sum> sums_;                    // by block, of those that are whole and not the last
    std::vector<Sum> part_sums_;               // by part of these
    std::vector<std::uint8_t> stale_;          // by part
    std::vector<std::uint8_t> changed_;        // by group
    std::size_t bytes_ = 0;                    // that sums_ are of
    std::uint64_t bytes_read_ = 0;
    bool all_ = true;
};

}  // namespace orrery::sim
