#include "sim/collision/broad/broad_phase.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "sim/base/growth.h"
#include "sim/base/parallel.h"
#include "sim/base/radix_sort.h"
#include "sim/collision/broad/posed_bounds.h"

namespace orrery::sim {
namespace {

constexpr std::uint32_t kExpandChunk = 1024, kSearchChunk = 128, kFilterChunk = 2048;
constexpr std::uint32_t kSortChunk = 1024, kCopyChunk = 8192;
constexpr std::uint32_t kComparisonSort = 256,
                        kBodiesPerKey =
                            64;  // fewer keys, or of more bodies each: then counters cost more than comparing
constexpr std::size_t kSlotsAtOnce = 256;
constexpr std::size_t kKeysKept = 1024;       // for the next search, by all chunks
constexpr std::size_t kCountedAtOnce = 4096;  // keys that a chunk finds before it tells the others

std::uint64_t pair_key(std::uint32_t i, std::uint32_t j) {
    return i < j ? (std::uint64_t(i) << 32) | j : (std::uint64_t(j) << 32) | i;
}

// Leaves out the excluded ones of what lies in order; what stays comes in front, and its end is given.
template <class It, class PairOf>
It leave_out(PairFilter excluded, It begin, It end, PairOf pair_of) {
    if (excluded.empty() || begin == end) return end;
    auto next = std::lower_bound(excluded.begin(), excluded.end(), pair_of(*begin));
    It kept = begin;
    for (It it = begin; it != end; ++it) {
        const Pair pair = pair_of(*it);
        while (next != excluded.end() && *next < pair) ++next;
        if (next == excluded.end() || *next != pair) *kept++ = *it;
    }
    return kept;
}

}  // namespace

bool BroadPhase::update_shape_table(std::span<const Shape> shapes) {
    bool changed = shape_table_.size() != shapes.size();
    shape_table_.resize(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Shape& s = shapes[i];
        const ShapeRecord record{
            s.radius,          s.half_height,  {s.half_extents.x, s.half_extents.y, s.half_extents.z},
            s.bounding_radius, s.inner_radius, s.disc_radius};
        if (std::memcmp(&record, &shape_table_[i], sizeof record) == 0) continue;
        shape_table_[i] = record;
        changed = true;
    }
    return changed;
}

bool BroadPhase::collides(const Bodies& bodies, std::uint32_t body) {
    const BodyInfo& info = bodies.info(body);
    return (bodies.flags[body] & kBodyAlive) != 0 && info.shape != kNone && !info.sensor;
}

// A body's place in the lists follows from its flags, from what it was made as, which its generation stands for, and,
// where it is kinematic, from whether it is on its way.
bool BroadPhase::same_bodies(const Bodies& bodies, const Movers* movers) const {
    if (!knows_bodies_) return false;
    const bool same = movers ? known_epoch_ == movers->epoch()
                             : known_flags_ == bodies.flags && known_generation_ == bodies.generation;
    if (!same) return false;
    for (std::size_t k = 0; k < kinematic_.size(); ++k) {
        if (bodies.active(kinematic_[k]) != kinematic_active_[k]) return false;
    }
    return true;
}

void BroadPhase::remember_bodies(const Bodies& bodies, const Movers* movers) {
    known_epoch_ = movers ? movers->epoch() : 0;
    known_flags_.assign(bodies.flags.begin(), bodies.flags.end());
    known_generation_.assign(bodies.generation.begin(), bodies.generation.end());
    kinematic_.clear();
    kinematic_active_.clear();
    for (std::uint32_t i = 1; i < bodies.size(); ++i) {
        if ((bodies.flags[i] & kBodyKinematic) == 0) continue;
        kinematic_.push_back(i);
        kinematic_active_.push_back(bodies.active(i));
    }
    knows_bodies_ = true;
}

std::uint8_t BroadPhase::class_for(std::uint32_t category, std::uint32_t mask) {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        if (classes_[c].category == category && classes_[c].mask == mask) return static_cast<std::uint8_t>(c);
    }
    if (classes_.size() < kFilterClasses) {
        classes_.push_back({category, mask});
        moving_trees_.emplace_back();
        fixed_trees_.emplace_back();
    }
    if (classes_.size() == kFilterClasses) classes_.back() = {~0u, ~0u};
    return static_cast<std::uint8_t>(classes_.size() - 1);
}

bool BroadPhase::classes_meet(std::size_t c, std::size_t d) const {
    return (classes_[c].category & classes_[d].mask) != 0 && (classes_[d].category & classes_[c].mask) != 0;
}

std::span<const std::uint32_t> BroadPhase::of_class(std::size_t c, std::span<const std::uint32_t> rows) {
    if (classes_.size() == 1) return rows;
    class_rows_.clear();
    for (const std::uint32_t row : rows) {
        if (class_of_[row] == c) class_rows_.push_back(row);
    }
    return class_rows_;
}

// So many bodies can a class's meet.
std::size_t BroadPhase::others_of(std::size_t c) const {
    std::size_t n = 0;
    for (std::size_t d = 0; d < classes_.size(); ++d) {
        if (classes_meet(c, d)) n += std::size_t(moving_of_[d]) + fixed_of_[d];
    }
    return n;
}

void BroadPhase::rebuild(BoxTree& tree, std::size_t c, const BoundsRecord* boxes, std::span<const std::uint32_t> rows,
                         const BroadKernels& kernels) {
    tree.rebuild(boxes, of_class(c, rows), kernels, *arena_);
}
void BroadPhase::rebuild_all(std::vector<BoxTree>& trees, const BoundsRecord* boxes,
                             std::span<const std::uint32_t> rows, const BroadKernels& kernels) {
    for (std::size_t c = 0; c < trees.size(); ++c) rebuild(trees[c], c, boxes, rows, kernels);
}

// Pairs of two classes are found from the one of fewer bodies: always where all bodies are new, else where that is less
// to do than to begin at the other's new ones.
void BroadPhase::choose_few(bool all) {
    std::fill(std::begin(few_), std::end(few_), 0u);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        for (std::size_t d = 0; d < classes_.size(); ++d) {
            const bool fewer = std::pair(moving_of_[c], c) < std::pair(moving_of_[d], d);
            if (fewer && classes_meet(c, d) && (all || moving_of_[c] < escaped_of_[d])) few_[c] |= 1u << d;
        }
    }
}

// Sorts bodies into the lists, and finds the proxies that are new, gone or another's.
void BroadPhase::classify(const Bodies& bodies, std::span<const Shape> shapes) {
    const std::uint32_t size = bodies.size();
    const auto known = static_cast<std::uint32_t>(std::max<std::size_t>(identity_.size(), size));
    identity_.resize(known);
    shape_of_.resize(known, 0);
    type_of_.resize(known, ShapeType::sphere);
    renewed_.resize(known, 0);
    class_of_.resize(known, 0);

    std::uint32_t categories = 0, masks = 0;
    for (std::uint32_t i = 1; i < size; ++i) {
        if (!collides(bodies, i)) continue;
        categories |= bodies.info(i).category;
        masks |= bodies.info(i).mask;
    }
    moving_.clear();
    const std::vector<std::uint32_t> fixed_before = std::exchange(fixed_, {});
    planes_.clear();
    for (std::uint32_t i = 1; i < known; ++i) {
        Identity now;
        std::uint32_t shape = kNone;
        if (i < size && collides(bodies, i)) {
            const BodyInfo& info = bodies.info(i);
            if ((info.category & masks) != 0 && (info.mask & categories) != 0) {
                const bool plane = shapes[info.shape].type == ShapeType::plane;
                const Kind kind = plane ? Kind::plane : bodies.active(i) ? Kind::moving : Kind::fixed;
                now = {info.category, info.mask,
                       static_cast<std::uint8_t>(bodies.flags[i] & (kBodyDynamic | kBodyKinematic)), kind};
                shape = info.shape;
                (kind == Kind::plane ? planes_ : kind == Kind::moving ? moving_ : fixed_).push_back(i);
            }
        }
        if (now == identity_[i] &&
            (now.kind == Kind::none || (shape == shape_of_[i] && known_generation_[i] == bodies.generation[i])))
            continue;
        if (identity_[i].kind == Kind::moving || identity_[i].kind == Kind::fixed) gone_.push_back(i);
        identity_[i] = now;
        shape_of_[i] = shape;
        if (now.kind == Kind::moving || now.kind == Kind::fixed) class_of_[i] = class_for(now.category, now.mask);
        if (now.kind != Kind::none) type_of_[i] = shapes[shape].type;
        renewed_[i] = now.kind == Kind::moving || now.kind == Kind::fixed;
    }
    seams_ = false;
    std::uint32_t unmoved = 0;
    for (std::uint32_t i = 1; i < size && !seams_; ++i) {
        if (identity_[i].kind == Kind::none || has_no_inside(type_of_[i])) continue;
        unmoved += bodies.dynamic(i) ? 0u : 1u;
        seams_ = unmoved > 1 || type_of_[i] == ShapeType::compound;
    }
    any_passive_ = false;
    for (const std::uint32_t i : moving_) {
        if (bodies.info(i).collision_mode == CollisionMode::discrete) continue;
        if (!any_passive_) passive_growth_.assign(known, 0.0f);
        passive_growth_[i] = kWholeArc_m;
        any_passive_ = true;
    }
    std::fill(std::begin(moving_of_), std::end(moving_of_), 0u);
    std::fill(std::begin(fixed_of_), std::end(fixed_of_), 0u);
    for (const std::uint32_t i : moving_) ++moving_of_[class_of_[i]];
    for (const std::uint32_t i : fixed_) ++fixed_of_[class_of_[i]];
    keep_fixed_poses(fixed_before);
    choose_held();
}

// Whoever was fixed before keeps its pose; whoever was not has renewed_.
void BroadPhase::keep_fixed_poses(std::span<const std::uint32_t> before) {
    std::vector<PoseRecord> poses(fixed_.size());
    std::size_t was = 0;
    for (std::size_t k = 0; k < fixed_.size(); ++k) {
        while (was < before.size() && before[was] < fixed_[k]) ++was;
        if (was < before.size() && before[was] == fixed_[k]) poses[k] = fixed_pose_[was];
    }
    fixed_pose_.swap(poses);
}

// A class that begins to be held, or ceases to be, leaves candidates and trees that are no base for more.
void BroadPhase::choose_held() {
    std::uint32_t held = 0;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        const bool was = (held_classes_ >> c & 1u) != 0;
        if (moving_of_[c] >= (was ? kStillManyBodies : kManyBodies) && !classes_meet(c, c) &&
            others_of(c) <= (was ? kStillFewOthers : kFewOthers))
            held |= 1u << c;
    }
    if (held != held_classes_) {
        held_classes_ = held;
        uncached_ = true;
        candidates_.clear();
    }
    held_.clear();
    if (held == 0) return;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        if ((held >> c & 1u) == 0) continue;
        Held& group = held_.emplace_back();
        for (const std::uint32_t i : moving_) {
            if (class_of_[i] == c)
                group.rows.push_back(i), renewed_[i] = 0;
            else if (classes_meet(class_of_[i], c))
                group.others.push_back(i);
        }
        for (const std::uint32_t i : fixed_) {
            if (classes_meet(class_of_[i], c)) group.others.push_back(i);
        }
        group.hits.resize(group.rows.size());
    }
    std::erase_if(moving_, [&](std::uint32_t i) { return (held >> class_of_[i] & 1u) != 0; });
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        if ((held >> c & 1u) != 0) moving_of_[c] = 0;
    }
}

ExpandInput BroadPhase::expand_input(const Bodies& bodies, float dt_s) {
    return {bodies.pose.data()->position,
            bodies.velocity.data()->linear,
            &shape_table_.data()->radius,
            shape_of_.data(),
            dt_s,
            margin_m_,
            any_passive_ ? passive_growth_.data() : nullptr,
            tight_.data()->min,
            fat_.data()->min};
}

void BroadPhase::expand_chunk(const ExpandInput& input, std::span<const Shape> shapes,
                              std::span<const std::uint32_t> rows, std::uint8_t* escaped,
                              const BroadKernels& kernels) const {
    kernels.expand(input, rows.data(), static_cast<std::uint32_t>(rows.size()), escaped);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (has_posed_bounds(type_of_[rows[i]]))
            ref::expand_posed(kernels, shapes[shape_of_[rows[i]]], input, rows[i], escaped[i]);
    }
}

// Called when the bounds of all that these could meet are made.
void BroadPhase::expand_held(const ExpandInput& input, std::span<const Shape> shapes, const BroadKernels& kernels,
                             Executor& executor) {
    ExpandInput own = input;
    own.fat = nullptr;
    for (Held& group : held_) {
        const auto count = static_cast<std::uint32_t>(group.rows.size());
        flags_.resize(count);
        for_chunks(executor, count, kExpandChunk, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
            expand_chunk(own, shapes, std::span<const std::uint32_t>(group.rows).subspan(begin, end - begin),
                         flags_.data() + begin, kernels);
            kernels.near(tight_.data(), group.rows.data() + begin, end - begin, group.others.data(),
                         static_cast<std::uint32_t>(group.others.size()), group.hits.data() + begin);
        });
    }
}

void BroadPhase::expand_rows(const ExpandInput& input, std::span<const Shape> shapes,
                             std::span<const std::uint32_t> rows, const BroadKernels& kernels, Executor& executor,
                             std::vector<std::uint32_t>& escaped) {
    const auto count = static_cast<std::uint32_t>(rows.size());
    flags_.resize(count);
    for_chunks(executor, count, kExpandChunk, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
        expand_chunk(input, shapes, rows.subspan(begin, end - begin), flags_.data() + begin, kernels);
    });
    escaped.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        if (flags_[i] != 0 || renewed_[rows[i]] != 0) {
            escaped.push_back(rows[i]);
            renewed_[rows[i]] = 1;
        }
    }
}

// Fixed bodies whose bounds are to be made.
void BroadPhase::list_changed_fixed(const Bodies& bodies, bool all) {
    for (std::size_t k = 0; k < fixed_.size(); ++k) {
        const std::uint32_t i = fixed_[k];
        if (!all && renewed_[i] == 0 && std::memcmp(&fixed_pose_[k], &bodies.pose[i], sizeof(PoseRecord)) == 0)
            continue;
        fixed_pose_[k] = bodies.pose[i];
        changed_fixed_.push_back(i);
    }
}

// The same where all that may have changed was told. Rounding may turn a kinematic body that has no velocity.
void BroadPhase::list_placed_fixed(const Bodies& bodies, std::span<const std::uint32_t> placed) {
    const auto look_at = [&](std::uint32_t i) {
        const auto at = std::lower_bound(fixed_.begin(), fixed_.end(), i);
        if (at == fixed_.end() || *at != i) return;
        PoseRecord& known = fixed_pose_[static_cast<std::size_t>(at - fixed_.begin())];
        if (std::memcmp(&known, &bodies.pose[i], sizeof(PoseRecord)) == 0) return;
        known = bodies.pose[i];
        changed_fixed_.push_back(i);  // once: from now on its pose is known
    };
    for (const std::uint32_t i : placed) look_at(i);
    for (const std::uint32_t i : kinematic_) look_at(i);
    std::sort(changed_fixed_.begin(), changed_fixed_.end());
}

void BroadPhase::update(const Bodies& bodies, std::span<const Shape> shapes, float dt_s, float margin_m,
                        const BroadKernels& kernels, Executor& executor, const Movers* movers) {
    const bool all_fixed = update_shape_table(shapes) || margin_m != margin_m_;
    const bool same = same_bodies(bodies, movers);
    dt_s_ = dt_s;
    margin_m_ = margin_m;
    if (!same) {
        classify(bodies, shapes);
        remember_bodies(bodies, movers);
    }
    escaped_moving_.clear();
    escaped_fixed_.clear();
    if (moving_.empty() && fixed_.empty() && held_.empty()) return;

    tight_.resize(identity_.size());
    fat_.resize(identity_.size());
    for (const std::uint32_t plane : planes_) tight_[plane].growth = 0.0f;  // it may have been another body's
    expand_rows(expand_input(bodies, dt_s), shapes, moving_, kernels, executor, escaped_moving_);

    changed_fixed_.clear();
    if (same && !all_fixed && movers)
        list_placed_fixed(bodies, movers->placed());
    else
        list_changed_fixed(bodies, all_fixed);
    expand_rows(expand_input(bodies, 0.0f), shapes, changed_fixed_, kernels, executor, escaped_fixed_);
    expand_held(expand_input(bodies, dt_s), shapes, kernels, executor);
}

bool BroadPhase::may_meet(std::uint32_t a, std::uint32_t b) const {
    const Identity &x = identity_[a], &y = identity_[b];
    return ((x.flags | y.flags) & kBodyDynamic) != 0 && (x.category & y.mask) != 0 && (y.category & x.mask) != 0;
}

// Looks for candidates of `rows`: pairs of moving bodies whose classes are in few_ from all bodies of the fewer, and
// others
//   all      from the lower slot; these are the moving bodies of a class, in the order of their slots
//   renewed  from the renewed body, if both are from the lower one, but not those of few_
//   few      not at all; these are moving bodies of the classes that find those of few_
// False: there are more than found_ may hold.
bool BroadPhase::search(std::span<const std::uint32_t> rows, From from, const Search& what, const BroadKernels& kernels,
                        Executor& executor) {
    const bool all = from == From::all;
    const std::size_t classes = classes_.size();
    TreeView moving[kFilterClasses], fixed[kFilterClasses];
    for (std::size_t c = 0; c < classes; ++c) moving[c] = moving_trees_[c].view(), fixed[c] = fixed_trees_[c].view();
    const auto count = static_cast<std::uint32_t>(rows.size());
    if (chunks_.size() < chunk_count(count, kSearchChunk)) chunks_.resize(chunk_count(count, kSearchChunk));
    std::atomic<std::uint64_t> total{found_.size()};
    for_chunks(executor, count, kSearchChunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Chunk& chunk = chunks_[index];
        chunk.keys.clear();
        if (total.load(std::memory_order_relaxed) > what.most) return;
        std::size_t counted = 0;
        std::uint32_t few_slots[kSlotsAtOnce];
        std::vector<std::uint32_t> many_slots;
        std::span<std::uint32_t> slots = few_slots;
        const auto hits = [&](const TreeView& tree, std::uint32_t row, std::uint32_t first_slot) {
            std::uint32_t n = kernels.query(tree, what.boxes[row], first_slot, slots.data(),
                                            static_cast<std::uint32_t>(slots.size()));
            if (n > slots.size()) {
                many_slots.resize(n);
                slots = many_slots;
                n = kernels.query(tree, what.boxes[row], first_slot, slots.data(), n);
            }
            return n;
        };
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::uint32_t row = rows[i];
            const bool moves = identity_[row].kind == Kind::moving;
            const std::size_t before = chunk.keys.size();
            const std::size_t own = class_of_[row];
            for (std::size_t c = 0; c < classes; ++c) {
                if (!classes_meet(own, c)) continue;
                const bool by_few = moves && ((few_[own] >> c | few_[c] >> own) & 1u) != 0;
                const bool here = by_few ? from != From::renewed && (few_[own] >> c & 1u) != 0 : from != From::few;
                const std::uint32_t among_moving =
                    here && moving[c].levels > 0 ? hits(moving[c], row, all && c == own ? i + 1 : 0) : 0;
                for (std::uint32_t k = 0; k < among_moving; ++k) {
                    const std::uint32_t other = moving_trees_[c].row(slots[k]);
                    const bool mine = all                 ? true
                                      : from == From::few ? (renewed_[row] | renewed_[other]) != 0
                                      : moves             ? renewed_[other] == 0 || row < other
                                                          : renewed_[other] == 0;
                    if (other != row && mine && may_meet(row, other)) chunk.keys.push_back(pair_key(row, other));
                }
                const std::uint32_t among_fixed =
                    moves && from != From::few && fixed[c].levels > 0 ? hits(fixed[c], row, 0) : 0;
                for (std::uint32_t k = 0; k < among_fixed; ++k) {
                    const std::uint32_t other = fixed_trees_[c].row(slots[k]);
                    if (may_meet(row, other)) chunk.keys.push_back(pair_key(row, other));
                }
            }
            if (what.exact) keep_overlapping(chunk, before, kernels);
            if (chunk.keys.size() - counted < kCountedAtOnce && i + 1 < end) continue;
            const std::size_t more = chunk.keys.size() - counted;
            counted += more;
            if (total.fetch_add(more, std::memory_order_relaxed) + more > what.most) return;
        }
    });
    if (total.load() > what.most) {
        chunks_ = {};  // so that memory stays bounded whichever chunks were the full ones
        return false;
    }
    std::size_t end = found_.size();
    found_.resize(total.load());
    for (std::uint32_t i = 0; i < chunk_count(count, kSearchChunk); ++i) {
        std::vector<std::uint64_t>& keys = chunks_[i].keys;
        std::ranges::copy(keys, found_.begin() + end);
        end += keys.size();
        if (keys.capacity() * chunk_count(count, kSearchChunk) > kKeysKept) give_back(keys);
    }
    return true;
}

bool BroadPhase::search_all(const Search& what, const BroadKernels& kernels, Executor& executor) {
    choose_few(true);
    for (const BoxTree& tree : moving_trees_) {
        if (!search(tree.rows(), From::all, what, kernels, executor)) return false;
    }
    return true;
}

// Of a chunk's keys from `from` on, keeps those whose tight bounds overlap.
void BroadPhase::keep_overlapping(Chunk& chunk, std::size_t from, const BroadKernels& kernels) const {
    const auto count = static_cast<std::uint32_t>(chunk.keys.size() - from);
    if (chunk.overlapping.size() < count) chunk.overlapping.resize(count);
    const std::uint32_t kept = kernels.filter(tight_.data(), chunk.keys.data() + from, count, chunk.overlapping.data());
    for (std::uint32_t i = 0; i < kept; ++i)
        chunk.keys[from + i] = pair_key(chunk.overlapping[i].a, chunk.overlapping[i].b);
    chunk.keys.resize(from + kept);
}

// By the pairs' lower bodies at once, those of each by the other body.
std::span<std::uint64_t> BroadPhase::sort_found(Executor& executor) {
    std::span<std::uint64_t> keys(found_.data(), found_.size());
    if (std::is_sorted(keys.begin(), keys.end())) return keys;
    const auto bodies = static_cast<std::uint32_t>(identity_.size());
    if (keys.size() < std::max(kComparisonSort, bodies / kBodiesPerKey)) {
        std::sort(keys.begin(), keys.end());  // a pair occurs once
        return keys;
    }
    const std::span<std::uint64_t> sorted(arena_->allocate<std::uint64_t>(keys.size()), keys.size());
    std::uint32_t* const end_of = arena_->allocate<std::uint32_t>(std::size_t(bodies) + 1);
    std::fill_n(end_of, std::size_t(bodies) + 1, 0u);
    for (const std::uint64_t key : keys) ++end_of[(key >> 32) + 1];
    std::partial_sum(end_of, end_of + bodies + 1, end_of);
    for (const std::uint64_t key : keys) sorted[end_of[key >> 32]++] = key;  // begins become ends
    const auto bits = static_cast<std::uint32_t>(std::bit_width(bodies));
    for_chunks(executor, bodies, kSortChunk, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
        for (std::size_t body = begin, first = begin == 0 ? 0 : end_of[begin - 1]; body < end; first = end_of[body++]) {
            const std::size_t size = end_of[body] - first;
            std::span<std::uint64_t> own = sorted.subspan(first, size);
            if (size < kComparisonSort) {
                std::sort(own.begin(), own.end());
                continue;
            }
            std::span<std::uint64_t> scratch = keys.subspan(first, size);
            radix_sort(own, scratch, 0, bits);
            if (own.data() != sorted.data() + first)
                std::ranges::copy(own, sorted.begin() + static_cast<std::ptrdiff_t>(first));
        }
    });
    return sorted;
}

// Of each chunk of a list the first counts_[].kept stay. Gives how many these are.
template <class T>
std::size_t BroadPhase::close_gaps(T* list) const {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (kept != i * kFilterChunk) std::memmove(list + kept, list + i * kFilterChunk, counts_[i].kept * sizeof(T));
        kept += counts_[i].kept;
    }
    return kept;
}

// Candidates of bodies that were not renewed stay, none if `all` were; what was found joins them, in order.
void BroadPhase::merge_found(bool all, Executor& executor) {
    const std::span<const std::uint64_t> sorted = sort_found(executor);
    if (all || candidates_.empty()) {
        resize_sparingly(candidates_, sorted.size());
        std::ranges::copy(sorted, candidates_.begin());
        return;
    }
    // Of each chunk what stays comes to its front, with what was found between its first key and the next chunk's
    // behind it in `merged`.
    const auto count = static_cast<std::uint32_t>(candidates_.size());
    const std::uint32_t chunks = chunk_count(count, kFilterChunk);
    struct Part {
        std::size_t found = 0, to = 0;  // where its own begin
    };
    Part* const parts = arena_->allocate<Part>(std::size_t(chunks) + 1);
    for (std::uint32_t i = 0; i <= chunks; ++i) {
        const auto first = i == 0 ? sorted.begin()
                           : i == chunks
                               ? sorted.end()
                               : std::lower_bound(sorted.begin(), sorted.end(), candidates_[i * kFilterChunk]);
        parts[i] = {static_cast<std::size_t>(first - sorted.begin()), 0};
    }
    counts_.resize(chunks);
    for_chunks(executor, count, kFilterChunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        const auto first = candidates_.begin() + begin;
        const auto last = std::remove_if(first, candidates_.begin() + end, [&](std::uint64_t key) {
            return (renewed_[key >> 32] | renewed_[static_cast<std::uint32_t>(key)]) != 0;
        });
        counts_[index].kept = static_cast<std::uint32_t>(last - first);
    });
    for (std::uint32_t i = 0; i < chunks; ++i)
        parts[i + 1].to = parts[i].to + counts_[i].kept + (parts[i + 1].found - parts[i].found);
    const std::size_t total = parts[chunks].to;
    std::uint64_t* const merged = arena_->allocate<std::uint64_t>(total);
    for_chunks(executor, count, kFilterChunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t) {
        const auto kept = candidates_.begin() + begin;
        std::merge(kept, kept + counts_[index].kept, sorted.begin() + static_cast<std::ptrdiff_t>(parts[index].found),
                   sorted.begin() + static_cast<std::ptrdiff_t>(parts[index + 1].found), merged + parts[index].to);
    });
    resize_sparingly(candidates_, total);
    for_chunks(executor, static_cast<std::uint32_t>(total), kCopyChunk,
               [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
                   std::copy(merged + begin, merged + end, candidates_.begin() + begin);
               });
}

// New fat bounds for what left its own, into the trees.
void BroadPhase::refresh_trees(const Bodies& bodies, bool all, std::span<const std::uint32_t> moved,
                               const BroadKernels& kernels, Executor& executor) {
    for (const std::uint32_t i : gone_) {
        for (BoxTree& tree : moving_trees_) tree.remove(i, kernels);
        for (BoxTree& tree : fixed_trees_) tree.remove(i, kernels);
        renewed_[i] = 1;
    }
    const auto fatten = [&](const ExpandInput& input, std::span<const std::uint32_t> rows) {
        for_chunks(executor, static_cast<std::uint32_t>(rows.size()), kExpandChunk,
                   [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
                       kernels.fatten(input, fat_.data()->min, rows.data() + begin, end - begin);
                   });
    };
    fatten(expand_input(bodies, dt_s_), moved);
    fatten(expand_input(bodies, 0.0f), escaped_fixed_);
    const auto rebuild_worn = [&](std::vector<BoxTree>& trees, std::span<const std::uint32_t> rows) {
        for (std::size_t c = 0; c < trees.size(); ++c) {
            if (trees[c].wants_rebuild()) rebuild(trees[c], c, fat_.data(), rows, kernels);
        }
    };
    for (const std::uint32_t i : escaped_fixed_) fixed_trees_[class_of_[i]].set(i, fat_[i], kernels);
    rebuild_worn(fixed_trees_, fixed_);
    if (all) {
        rebuild_all(moving_trees_, fat_.data(), moving_, kernels);
        return;
    }
    std::fill(std::begin(escaped_of_), std::end(escaped_of_), 0u);
    for (const std::uint32_t i : escaped_moving_) ++escaped_of_[class_of_[i]];
    for (const std::uint32_t i : escaped_moving_) moving_trees_[class_of_[i]].set(i, fat_[i], kernels);
    rebuild_worn(moving_trees_, moving_);
}

// New candidates of renewed bodies beside the old ones of others. False: more than `most`.
bool BroadPhase::search_fat(bool all, std::uint64_t most, const BroadKernels& kernels, Executor& executor) {
    const Search what{fat_.data(), false, most};
    found_.clear();
    if (all) {
        for (const std::uint32_t i : moving_) renewed_[i] = 1;
        if (!search_all(what, kernels, executor)) return false;
    } else {
        choose_few(false);
        if (!search(escaped_moving_, From::renewed, what, kernels, executor)) return false;
        few_rows_.clear();
        for (std::size_t c = 0; c < classes_.size(); ++c) {
            if (few_[c] == 0) continue;
            for (const std::uint32_t row : moving_trees_[c].rows()) {
                if (row != kNone) few_rows_.push_back(row);
            }
        }
        if (!search(few_rows_, From::few, what, kernels, executor)) return false;
    }
    if (!search(escaped_fixed_, From::renewed, what, kernels, executor)) return false;
    merge_found(all, executor);
    return candidates_.size() <= most;
}

// Candidates are the pairs themselves, planes' apart. False: more than max_pairs.
bool BroadPhase::search_tight(std::uint32_t max_pairs, const BroadKernels& kernels, Executor& executor) {
    uncached_ = true;
    candidates_.clear();
    found_.clear();
    rebuild_all(moving_trees_, tight_.data(), moving_, kernels);
    if (!search_all({tight_.data(), true, max_pairs}, kernels, executor)) return false;
    const std::span<const std::uint64_t> sorted = sort_found(executor);
    resize_sparingly(candidates_, sorted.size());
    std::ranges::copy(sorted, candidates_.begin());
    return true;
}

bool BroadPhase::renew(const Bodies& bodies, const BroadKernels& kernels, Executor& executor, std::uint32_t max_pairs) {
    const bool all = uncached_ || escaped_moving_.size() * 2 > moving_.size();
    const std::span<const std::uint32_t> moved = all ? moving_ : escaped_moving_;
    uncached_ = false;
    refresh_trees(bodies, all, moved, kernels, executor);
    const bool within = search_fat(all, std::uint64_t(max_pairs) * kCandidatesPerPair, kernels, executor) ||
                        search_tight(max_pairs, kernels, executor);
    for (const std::uint32_t i : moved) renewed_[i] = 0;
    for (const std::uint32_t i : escaped_fixed_) renewed_[i] = 0;
    for (const std::uint32_t i : gone_) renewed_[i] = 0;
    gone_.clear();
    escaped_moving_.clear();
    escaped_fixed_.clear();
    return within;
}

// Gives how many pairs there are with those that are excluded.
std::uint32_t BroadPhase::filter(PairFilter excluded, const BroadKernels& kernels, Executor& executor,
                                 std::span<const Pair>& pairs) {
    const auto count = static_cast<std::uint32_t>(candidates_.size());
    Pair* const list = arena_->allocate<Pair>(count);
    counts_.resize(chunk_count(count, kFilterChunk));
    for_chunks(executor, count, kFilterChunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        Pair* const first = list + begin;
        const std::uint32_t overlapping = kernels.filter(tight_.data(), candidates_.data() + begin, end - begin, first);
        const Pair* const kept = leave_out(excluded, first, first + overlapping, [](Pair pair) { return pair; });
        counts_[index] = {overlapping, static_cast<std::uint32_t>(kept - first)};
    });
    pairs = {list, close_gaps(list)};
    std::uint32_t overlapping = 0;
    for (const Count& of_chunk : counts_) overlapping += of_chunk.overlapping;
    return overlapping;
}

// Pairs of planes and these bodies. False: found_ holds more than `most`.
bool BroadPhase::find_planes(const Bodies& bodies, std::span<const std::uint32_t> rows, const BroadKernels& kernels,
                             std::uint32_t most) {
    const auto count = static_cast<std::uint32_t>(rows.size());
    flags_.resize(count);
    for (const std::uint32_t plane : planes_) {
        kernels.plane(bodies.pose[plane].position, margin_m_, tight_.data(), rows.data(), count, flags_.data());
        for (std::uint32_t i = 0; i < count; ++i) {
            if (flags_[i] != 0 && may_meet(plane, rows[i])) found_.push_back(pair_key(plane, rows[i]));
        }
        if (found_.size() > most) return false;
    }
    return true;
}

// Pairs that are no candidates: planes', and those of held_. False: they are more than `most`.
bool BroadPhase::add_others(const Bodies& bodies, PairFilter excluded, const BroadKernels& kernels, Executor& executor,
                            std::span<const Pair>& pairs, std::uint32_t most) {
    found_.clear();
    if (!find_planes(bodies, moving_, kernels, most)) return false;
    for (const Held& group : held_) {
        if (!find_planes(bodies, group.rows, kernels, most)) return false;
        for (std::size_t i = 0; i < group.rows.size(); ++i) {
            for (std::uint32_t bits = group.hits[i]; bits != 0; bits &= bits - 1) {
                const std::uint32_t other = group.others[static_cast<std::size_t>(std::countr_zero(bits))];
                if (may_meet(group.rows[i], other)) found_.push_back(pair_key(group.rows[i], other));
            }
            if (found_.size() > most) return false;
        }
    }
    std::span<std::uint64_t> others = sort_found(executor);
    const auto pair_of = [](std::uint64_t key) {
        return Pair{static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
    };
    others = {others.begin(), leave_out(excluded, others.begin(), others.end(), pair_of)};
    const std::size_t all = pairs.size() + others.size();
    Pair *const merged = arena_->allocate<Pair>(all), *to = merged;
    auto next = pairs.begin();
    for (const std::uint64_t key : others) {
        const Pair pair = pair_of(key);
        while (next != pairs.end() && *next < pair) *to++ = *next++;
        *to++ = pair;
    }
    std::copy(next, pairs.end(), to);
    pairs = {merged, all};
    return true;
}

bool BroadPhase::find_pairs(const Bodies& bodies, PairFilter excluded, const BroadKernels& kernels, Executor& executor,
                            TickArena& arena, std::span<const Pair>& pairs, std::uint32_t max_pairs) {
    arena_ = &arena;
    found_ = TickList<std::uint64_t>(arena);
    const bool stale = uncached_ || !gone_.empty() || !escaped_moving_.empty() || !escaped_fixed_.empty();
    if (stale && !renew(bodies, kernels, executor, max_pairs)) return false;
    const std::uint32_t overlapping = filter(excluded, kernels, executor, pairs);
    if (overlapping > max_pairs) return false;
    return (held_.empty() && (planes_.empty() || moving_.empty())) ||
           add_others(bodies, excluded, kernels, executor, pairs, max_pairs - overlapping);
}

}  // namespace orrery::sim
