// The bundles of a tick: which constraint lies in which lane of which bundle, and in which order bundles are solved.
//
//   colour 0:  [kind 0 bundles][kind 1 bundles]...  |  colour 1: ...      bundles of a colour may run at the same time
//   overflow:  one bundle after the other, in canonical order of their constraints
//
// A function of the colouring, the joints and the contacts alone. Joints' bundles stay from tick to tick, contacts' lie
// in the tick's arena.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/base/tick_arena.h"
#include "sim/collision/manifold.h"
#include "sim/solver/colouring.h"
#include "sim/solver/kinds.h"

namespace orrery::sim {

// The unit of work that a worker takes is a share of a colour: small enough to spread it over workers, large enough to
// outweigh the hand-out.
inline constexpr std::uint32_t kBlocksPerColour = 16, kMaxBlockBundles = 8;

struct Block {
    Kind kind = Kind::contact;
    std::uint32_t first = 0, count = 0;  // bundles of that kind
    std::uint32_t lanes = 0;             // in use, in all of them
    std::uint32_t place = 0;             // a body in their midst
    bool near = false;                   // of contacts: they are Contact::near, in the overflow some are
};

class BundleLayout {
  public:
    // `taken` as it was coloured. keep_joints: they are those of the last build, and so are the bodies' flags and the
    // colours; their bundles stay as they are.
    void build(const Bodies& bodies, std::span<const Joint> joints, std::span<const std::uint32_t> taken,
               std::span<const Contact> contacts, const Colouring& colouring, bool keep_joints, Executor& executor,
               TickArena& arena);
    // Whether the joints may be kept: none of them is among the overflow.
    bool joints_may_stay() const { return overflow_joints_ == 0; }

    // Blocks of a colour are blocks()[colour_begin(c) .. colour_begin(c + 1)); after the last colour come the overflow
    // ones.
    std::span<const Block> blocks() const { return blocks_; }
    std::uint32_t colours() const { return colours_; }
    std::uint32_t colour_begin(std::uint32_t colour) const { return colour_begin_[colour]; }
    std::uint32_t overflow_begin() const { return colour_begin_[colours_]; }
    std::uint32_t overflow_constraints() const { return overflow_constraints_; }
    std::uint32_t bundle_count() const;
    std::uint32_t constraint_count() const { return constraints_; }

    void* bundle(Kind kind, std::uint32_t index) {
        return stores_[index_of(kind)].bundles + std::size_t(index) * kBundleBytes[index_of(kind)];
    }
    BundleHead& head(Kind kind, std::uint32_t index) { return *static_cast<BundleHead*>(bundle(kind, index)); }

  private:
    static constexpr std::uint32_t kBuckets = kMaxManifoldPoints;  // contacts with more points first
    static constexpr std::uint32_t kParts =
        4;  // of a colour of a kind, in bundles of their own: near contacts, all else, and of thin bodies
    struct Store {
        std::byte* bundles = nullptr;
        std::uint32_t size = 0, overflow = 0;  // bundles, those of the overflow behind the others
        AlignedBytes own;                      // of joints, zero where never written
        std::uint32_t capacity = 0;            // bundles in it
    };
    // Of a kind that the tick has any of.
    struct Plan {
        Kind kind = Kind::contact;
        std::uint32_t counts[kMaxColours + 1][kParts][kBuckets] = {};  // of constraints; then the next slot of each
        std::uint32_t first[kMaxColours][kParts] = {},
                      lanes[kMaxColours][kParts] = {};  // by colour: its first bundle, lanes in use
        std::uint32_t open[kMaxColours] = {};           // overflow: the block to fill, of this layer
    };
    // Where contacts of a colour, kind, part and number of points go, by their rank among these: the first ones into
    // bundles that they fill.
    struct Target {
        Kind whole_kind = Kind::contact, rest_kind = Kind::contact;
        std::uint32_t whole_first = 0, rest_first = 0, whole = 0;
    };
    struct Member {
        Kind kind;
        std::uint32_t source;
        std::uint32_t body[4];
    };
    struct Placed {
        Member member;
        std::uint32_t block;  // of overflow_blocks_
    };

    static Member member(Kind kind, std::uint32_t source, std::span<const Joint> joints,
                         std::span<const Contact> contacts);
    Plan& plan(Kind kind);
    void forget_plans(bool keep_joints);
    void sort_plans();
    void reserve(Plan& plan);
    void place_joints(std::span<const Joint> joints, std::span<const std::uint32_t> taken, const Colouring& colouring);
    std::uint32_t key_of(std::uint8_t colour, const Contact& contact) const;
    static std::uint32_t chunk_of(std::span<const Contact> contacts);
    void count_contacts(std::span<const Contact> contacts, const Colouring& colouring, Executor& executor);
    void place_contacts(std::span<const Contact> contacts, const Colouring& colouring, Executor& executor);
    void fill(const Block& block, const Bodies& bodies, std::span<const Joint> joints,
              std::span<const Contact> contacts);
    void place_overflow(const Bodies& bodies);
    void fill_overflow(const Bodies& bodies, std::span<const Contact> contacts);
    void take_room(TickArena& arena);
    std::uint32_t& source(Kind kind, std::uint32_t slot) {
        return head(kind, slot / kBundleLanes).source[slot % kBundleLanes];
    }
    void put(BundleHead& to, std::uint32_t lane, const Member& constraint, const Bodies& bodies,
             std::span<const Contact> contacts);
    void make_blocks(std::span<const Joint> joints, std::span<const Contact> contacts);
    void resize_own(Kind kind, std::uint32_t bundles);

    std::array<Store, kKindCount> stores_;
    std::array<std::uint8_t, kKindCount> plan_of_{};  // its place in plans_ and 1, or 0
    std::vector<Plan> plans_;                         // in the order of Kind once all are counted
    std::vector<Block> blocks_, overflow_blocks_;
    std::vector<Member> overflow_, left_;  // in canonical order
    std::vector<Placed> placed_;           // the same, in bundles
    std::vector<std::uint32_t> ranks_;     // by chunk of contacts and key
    std::vector<Target> targets_;          // by key
    std::vector<std::uint64_t> used_;      // by body
    std::array<std::uint32_t, kMaxColours + 1> colour_begin_{};
    std::uint32_t parts_ = kParts;  // of them, that this tick's contacts may be in
    std::uint32_t constraints_ = 0, colours_ = 0, overflow_constraints_ = 0, overflow_joints_ = 0;
};

}  // namespace orrery::sim
