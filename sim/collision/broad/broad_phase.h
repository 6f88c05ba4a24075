// Bounds and pairs. What can be seen is a function of the bodies alone: the pairs of bodies whose tight bounds overlap.
// How they are found is cached from tick to tick:
//
//   bodies -> tight bounds (bounds-inl.h), every tick
//   fat bounds: larger; renewed when a body's tight bounds leave them. Trees over those of bodies that may move in the
//   tick (Bodies::active), and over those at rest, which are touched only when these change: one of each for every pair
//   of category and mask, so that bodies which cannot meet are not looked for candidates: the pairs of overlapping fat
//   bounds whose filters agree, sorted; only pairs of bodies with renewed fat bounds are looked for again pairs = the
//   candidates whose tight bounds overlap
//
// A class of many moving bodies that meet a few others alone (beads and the spheres that stir them) does without all of
// it: every one of them is held against each of those few in every tick, which costs less than to note where it goes.
//
// Candidates are bounded, too. Where fat bounds would give more than kCandidatesPerPair for each pair of the limit, the
// tick does without them: a tree over tight bounds gives the pairs themselves, and the next tick begins anew. A search
// stops as soon as it has found more than it may: whether it does depends on the sum, so not on workers or targets.
//
// A sensor, and a body whose category and mask nothing in the world could meet, takes no part at all. Planes are no
// boxes: every dynamic body is tested against each of them, which counts as their bounds' overlap: the body's tight box
// comes within half the margin of the half space.
#pragma once

#include <span>
#include <vector>

#include "sim/collision/broad/broad_kernels.h"
#include "sim/collision/collision.h"
#include "sim/trees/box_tree.h"

namespace orrery::sim {

inline constexpr std::uint32_t kCandidatesPerPair = 2;
inline constexpr std::size_t kFilterClasses = 16;  // further pairs of category and mask share the last
// So many are few and many; and still are, once they were.
inline constexpr std::uint32_t kFewOthers = 16, kStillFewOthers = 20, kManyBodies = 64, kStillManyBodies = 48;
static_assert(kFewOthers < kStillFewOthers && kStillFewOthers <= 32 && kStillFewOthers < kStillManyBodies &&
              kStillManyBodies < kManyBodies && kFilterClasses <= 32);  // a bit each; and two such classes never meet

class BroadPhase {
  public:
    // Bodies may be others than at the last update even where their flags and generations are the same.
    void forget_bodies() { knows_bodies_ = false; }
    // As Collision::update_bounds and Collision::find_pairs, with a limit of max_pairs.
    void update(const Bodies& bodies, std::span<const Shape> shapes, float dt_s, float margin_m,
                const BroadKernels& kernels, Executor& executor, const Movers* movers = nullptr);
    bool find_pairs(const Bodies& bodies, PairFilter excluded, const BroadKernels& kernels, Executor& executor,
                    TickArena& arena, std::span<const Pair>& pairs, std::uint32_t max_pairs = kMaxPairs);

    // Of the last update. Bounds of a body that takes no part mean nothing; of a plane's the growth alone, 0.
    std::span<const BoundsRecord> bounds() const { return tight_; }
    // Whether bounds may be grown by more than the margin: some body that moves is passive or continuous.
    bool any_passive() const { return any_passive_; }
    // Whether something may slide from one shape to another that is fixed to it.
    bool any_seams() const { return seams_; }
    bool takes_part(std::uint32_t body) const { return body < identity_.size() && identity_[body].kind != Kind::none; }
    // For the narrow phase: shape records, and by body which of them and of which type.
    std::span<const ShapeRecord> shape_table() const { return shape_table_; }
    std::span<const std::uint32_t> shape_of() const { return shape_of_; }
    std::span<const ShapeType> type_of() const { return type_of_; }

  private:
    enum class Kind : std::uint8_t { none, moving, fixed, plane };
    // What a cached proxy was made for: if any of it differs, its shape or its generation, the proxy is another.
    struct Identity {
        std::uint32_t category = 0, mask = 0;
        std::uint8_t flags = 0;
        Kind kind = Kind::none;
        friend bool operator==(const Identity&, const Identity&) = default;
    };
    struct Chunk {
        std::vector<std::uint64_t> keys;
        std::vector<Pair> overlapping;
    };
    // Bodies of one category and mask; those of the last class have any.
    struct FilterClass {
        std::uint32_t category = 0, mask = 0;
    };
    // Moving bodies of a class that are held against all that they could meet.
    struct Held {
        std::vector<std::uint32_t> rows, others;
        std::vector<std::uint32_t> hits;  // by row, a bit for each of the others, of this tick
    };
    // Who looks for candidates; see search.
    enum class From : std::uint8_t { all, renewed, few };
    // What is searched: bodies' boxes, of which only those pairs count whose tight bounds overlap if `exact`.
    struct Search {
        const BoundsRecord* boxes;
        bool exact;
        std::uint64_t most;  // found_ may hold; one more ends the search
    };

    static bool collides(const Bodies& bodies, std::uint32_t body);
    bool same_bodies(const Bodies& bodies, const Movers* movers) const;
    void remember_bodies(const Bodies& bodies, const Movers* movers);
    void list_changed_fixed(const Bodies& bodies, bool all);
    void list_placed_fixed(const Bodies& bodies, std::span<const std::uint32_t> placed);
    std::uint8_t class_for(std::uint32_t category, std::uint32_t mask);
    bool classes_meet(std::size_t c, std::size_t d) const;
    std::size_t others_of(std::size_t c) const;
    void keep_fixed_poses(std::span<const std::uint32_t> before);
    void choose_held();
    void expand_held(const ExpandInput& input, std::span<const Shape> shapes, const BroadKernels& kernels,
                     Executor& executor);
    void rebuild(BoxTree& tree, std::size_t c, const BoundsRecord* boxes, std::span<const std::uint32_t> rows,
                 const BroadKernels& kernels);
    void choose_few(bool all);
    std::span<const std::uint32_t> of_class(std::size_t c, std::span<const std::uint32_t> rows);
    void rebuild_all(std::vector<BoxTree>& trees, const BoundsRecord* boxes, std::span<const std::uint32_t> rows,
                     const BroadKernels& kernels);
    void classify(const Bodies& bodies, std::span<const Shape> shapes);
    bool update_shape_table(std::span<const Shape> shapes);
    void expand_chunk(const ExpandInput& input, std::span<const Shape> shapes, std::span<const std::uint32_t> rows,
                      std::uint8_t* escaped, const BroadKernels& kernels) const;
    void expand_rows(const ExpandInput& input, std::span<const Shape> shapes, std::span<const std::uint32_t> rows,
                     const BroadKernels& kernels, Executor& executor, std::vector<std::uint32_t>& escaped);
    ExpandInput expand_input(const Bodies& bodies, float dt_s);
    bool may_meet(std::uint32_t a, std::uint32_t b) const;
    bool renew(const Bodies& bodies, const BroadKernels& kernels, Executor& executor, std::uint32_t max_pairs);
    void refresh_trees(const Bodies& bodies, bool all, std::span<const std::uint32_t> moved,
                       const BroadKernels& kernels, Executor& executor);
    bool search(std::span<const std::uint32_t> rows, From from, const Search& what, const BroadKernels& kernels,
                Executor& executor);
    bool search_all(const Search& what, const BroadKernels& kernels, Executor& executor);
    bool search_fat(bool all, std::uint64_t most, const BroadKernels& kernels, Executor& executor);
    bool search_tight(std::uint32_t max_pairs, const BroadKernels& kernels, Executor& executor);
    void keep_overlapping(Chunk& chunk, std::size_t from, const BroadKernels& kernels) const;
    template <class T>
    std::size_t close_gaps(T* list) const;
    void merge_found(bool all, Executor& executor);
    std::uint32_t filter(PairFilter excluded, const BroadKernels& kernels, Executor& executor,
                         std::span<const Pair>& pairs);
    bool find_planes(const Bodies& bodies, std::span<const std::uint32_t> rows, const BroadKernels& kernels,
                     std::uint32_t most);
    bool add_others(const Bodies& bodies, PairFilter excluded, const BroadKernels& kernels, Executor& executor,
                    std::span<const Pair>& pairs, std::uint32_t most);
    std::span<std::uint64_t> sort_found(Executor& executor);

    std::vector<Identity> identity_;       // by body
    std::vector<std::uint32_t> shape_of_;  // by body
    std::vector<ShapeType> type_of_;       // by body
    std::vector<ShapeRecord> shape_table_;
    std::vector<std::uint32_t> moving_, fixed_, planes_;  // bodies of each kind, ascending; those of held_ apart
    std::vector<Held> held_;
    std::uint32_t held_classes_ = 0;     // a bit each
    std::vector<float> passive_growth_;  // by body, as ExpandInput has it
    bool any_passive_ = false, seams_ = false;
    std::vector<PoseRecord> fixed_pose_;     // of each of fixed_: that its bounds were made for
    std::vector<BoundsRecord> tight_, fat_;  // by body
    std::vector<std::uint8_t> renewed_;      // by body: its fat bounds are to be made anew
    std::vector<std::uint32_t> gone_;        // bodies whose proxies are to be removed
    std::vector<std::uint32_t> changed_fixed_, escaped_moving_, escaped_fixed_;
    std::vector<std::uint8_t> flags_;  // scratch, by position in a list of bodies
    float dt_s_ = 0.0f, margin_m_ = -1.0f;

    std::vector<std::uint8_t> class_of_;                // by body
    std::vector<FilterClass> classes_;                  // at most kFilterClasses
    std::vector<BoxTree> moving_trees_, fixed_trees_;   // by class
    std::vector<std::uint32_t> class_rows_, few_rows_;  // scratch
    std::uint32_t few_[kFilterClasses] = {};  // by class, bit d: pairs of both are found from this one's moving bodies
    std::uint32_t moving_of_[kFilterClasses] = {},
                  fixed_of_[kFilterClasses] = {};    // by class: how many of moving_, fixed_
    std::uint32_t escaped_of_[kFilterClasses] = {};  // by class: how many of escaped_moving_
    bool uncached_ = false;                          // candidates and moving_trees_ are no base for the next tick
    // Of the last update:
    bool knows_bodies_ = false;
    std::uint64_t known_epoch_ = 0;  // of the movers; 0: there were none
    std::vector<std::uint8_t> known_flags_;
    std::vector<std::uint32_t> known_generation_, kinematic_;
    std::vector<bool> kinematic_active_;
    std::vector<std::uint64_t> candidates_;
    TickArena* arena_ = nullptr;  // these two while pairs are looked for
    TickList<std::uint64_t> found_;
    std::vector<Chunk> chunks_;
    struct Count {
        std::uint32_t overlapping = 0, kept = 0;
    };
    std::vector<Count> counts_;  // scratch, by chunk
};

}  // namespace orrery::sim
