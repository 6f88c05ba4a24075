#include "sim/solver/layout.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/base/assert.h"
#include "sim/base/growth.h"
#include "sim/base/parallel.h"

namespace orrery::sim {

namespace {

constexpr std::uint32_t kFillBlocks = 8;                            // that a worker fills at a time
constexpr std::uint32_t kPlaceChunk = 1024, kMostPlaceChunks = 64;  // contacts that a worker places at a time
static_assert(kMaxBodies <= kMaxRecordRow && alignof(Row) == kBytesAlignment);

// Kinds of contacts before whole bundles of them are told apart from the rest.
constexpr Kind kSorts[] = {Kind::contact, Kind::bouncing_contact, Kind::surface_contact, Kind::nonconvex_contact};
std::uint32_t sort_of(const Contact& contact) {
    if (contact.manifolds > 1) return 3;
    return contact.surface ? 2 : contact.bounces ? 1 : 0;
}
Kind kind_of(const Contact& contact) { return kSorts[sort_of(contact)]; }
std::size_t contact_kind(Kind kind) { return index_of(kind) - index_of(Kind::contact); }
std::uint32_t bundles_of(std::uint32_t lanes) { return (lanes + kBundleLanes - 1) / kBundleLanes; }
std::uint32_t bucket_of(const Contact& contact) { return kMaxManifoldPoints - contact.points; }
constexpr std::uint32_t kNear = 0, kFar = 1, kThinNear = 2;  // in this order, then what is thin and far
std::uint32_t part_of(const Contact& contact) {
    return (contact.near ? kNear : kFar) + (contact.thin ? kThinNear : 0u);
}
bool is_near(std::uint32_t part) { return part == kNear || part == kThinNear; }

// Constraints of a bundle are solved at once: no two of its lanes may write one body.
[[maybe_unused]] bool shares_no_dynamic_body(const BundleHead& head, std::uint32_t lane, const std::uint32_t (&body)[4],
                                             const Bodies& bodies) {
    for (std::uint32_t other = 0; other < lane; ++other) {
        for (const std::uint32_t mine : {body[0], body[1]}) {
            if (!bodies.dynamic(mine)) continue;
            if (head.body_a[other] == place_of(mine) && (head.write_a >> other & 1u) != 0) return false;
            if (head.body_b[other] == place_of(mine) && (head.write_b >> other & 1u) != 0) return false;
        }
    }
    return true;
}

}  // namespace

void BundleLayout::resize_own(Kind kind, std::uint32_t bundles) {
    Store& store = stores_[index_of(kind)];
    if (store.capacity < bundles) {
        const auto capacity = static_cast<std::uint32_t>(with_room_to_grow(bundles));
        const std::size_t bytes = kBundleBytes[index_of(kind)], kept = store.size * bytes;
        AlignedBytes own = aligned_bytes(capacity * bytes);
        if (kept != 0) std::memcpy(own.get(), store.own.get(), kept);
        std::memset(own.get() + kept, 0, capacity * bytes - kept);
        store.own = std::move(own);
        store.capacity = capacity;
    }
    store.bundles = store.own.get();
    store.size = bundles;
}

// For all that was counted, and the overflow.
void BundleLayout::take_room(TickArena& arena) {
    for (std::size_t kind = 0; kind < kKindCount; ++kind) {
        Store& store = stores_[kind];
        const std::uint32_t bundles = store.size + std::exchange(store.overflow, 0);
        if (kind < index_of(Kind::contact)) {
            if (bundles != store.size) resize_own(static_cast<Kind>(kind), bundles);
            continue;
        }
        store.size = bundles;
        const std::size_t bytes = kBundleBytes[kind];
        // Those that end early are read as whole ones: a compiler may read behind what is used.
        const std::size_t behind = is_plain(static_cast<Kind>(kind)) ? kMostContactBytes - bytes : 0;
        store.bundles = bundles == 0 ? nullptr : arena.allocate<std::byte>(bundles * bytes + behind);
    }
}

std::uint32_t BundleLayout::bundle_count() const {
    std::uint32_t sum = 0;
    for (const Store& store : stores_) sum += store.size;
    return sum;
}

BundleLayout::Plan& BundleLayout::plan(Kind kind) {
    std::uint8_t& known = plan_of_[index_of(kind)];
    if (known == 0) {
        plans_.emplace_back().kind = kind;
        known = static_cast<std::uint8_t>(plans_.size());
    }
    return plans_[known - 1u];
}

BundleLayout::Member BundleLayout::member(Kind kind, std::uint32_t source, std::span<const Joint> joints,
                                          std::span<const Contact> contacts) {
    if (kind >= Kind::contact) return {kind, source, {contacts[source].a, contacts[source].b, kWorldBody, kWorldBody}};
    const Joint& joint = joints[source];
    return {kind, source, {joint.a, joint.b, joint.c, joint.d}};
}

void BundleLayout::build(const Bodies& bodies, std::span<const Joint> joints, std::span<const std::uint32_t> taken,
                         std::span<const Contact> contacts, const Colouring& colouring, bool keep_joints,
                         Executor& executor, TickArena& arena) {
    colours_ = colouring.colours;
    ORRERY_ASSERT(colours_ <= kMaxColours && colouring.joints.size() == taken.size() &&
                  colouring.contacts.size() == contacts.size());
    overflow_.clear();
    overflow_blocks_.clear();
    forget_plans(keep_joints);
    if (!keep_joints) place_joints(joints, taken, colouring);
    overflow_joints_ = static_cast<std::uint32_t>(overflow_.size());
    count_contacts(contacts, colouring, executor);
    place_overflow(bodies);
    take_room(arena);
    place_contacts(contacts, colouring, executor);
    make_blocks(joints, contacts);
    for_chunks(executor, static_cast<std::uint32_t>(blocks_.size()), kFillBlocks,
               [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
                   for (std::uint32_t k = begin; k < end; ++k) {
                       if (!keep_joints || blocks_[k].kind >= Kind::contact) fill(blocks_[k], bodies, joints, contacts);
                   }
               });
    fill_overflow(bodies, contacts);
    blocks_.insert(blocks_.end(), overflow_blocks_.begin(), overflow_blocks_.end());
    constraints_ = overflow_constraints_;
    for (const Plan& p : plans_) {
        for (std::uint32_t colour = 0; colour < colours_; ++colour) {
            for (const std::uint32_t lanes : p.lanes[colour]) constraints_ += lanes;
        }
    }
}

void BundleLayout::forget_plans(bool keep_joints) {
    std::erase_if(plans_, [&](const Plan& p) { return !keep_joints || p.kind >= Kind::contact; });
    plan_of_ = {};
    sort_plans();
    for (std::size_t kind = keep_joints ? index_of(Kind::contact) : 0; kind < kKindCount; ++kind)
        stores_[kind].size = 0;
}

// What was counted comes in the order of Kind.
void BundleLayout::sort_plans() {
    const auto before = [](const Plan& x, const Plan& y) { return x.kind < y.kind; };
    if (!std::is_sorted(plans_.begin(), plans_.end(), before))
        std::sort(plans_.begin(), plans_.end(), before);  // a plan is long
    for (std::size_t p = 0; p < plans_.size(); ++p)
        plan_of_[index_of(plans_[p].kind)] = static_cast<std::uint8_t>(p + 1);
}

// Gives each colour of a kind its bundles and turns counts into the first slot of each bucket.
void BundleLayout::reserve(Plan& p) {
    std::uint32_t next = 0;
    for (std::uint32_t colour = 0; colour < colours_; ++colour) {
        for (std::uint32_t part = 0; part < kParts; ++part) {
            std::uint32_t slot = next * kBundleLanes, &lanes = p.lanes[colour][part];
            lanes = 0;
            for (std::uint32_t& bucket : p.counts[colour][part]) {
                const std::uint32_t here = bucket;
                bucket = slot;
                slot += here, lanes += here;
            }
            p.first[colour][part] = next;
            next += bundles_of(lanes);
        }
    }
    if (p.kind < Kind::contact)
        resize_own(p.kind, next);
    else
        stores_[index_of(p.kind)].size = next;
}

void BundleLayout::place_joints(std::span<const Joint> joints, std::span<const std::uint32_t> taken,
                                const Colouring& colouring) {
    for (std::size_t k = 0; k < taken.size(); ++k) {
        const std::uint8_t colour = colouring.joints[k];
        if (colour == kNoColour) continue;
        Plan& of_kind = plan(kind_of(joints[taken[k]]));
        if (colour < kMaxColours) ++of_kind.counts[colour][kFar][0];
    }
    sort_plans();
    for (Plan& p : plans_) reserve(p);
    for (std::size_t k = 0; k < taken.size(); ++k) {
        const std::uint8_t colour = colouring.joints[k];
        if (colour == kNoColour) continue;
        const Kind kind = kind_of(joints[taken[k]]);
        if (colour == kOverflowColour)
            overflow_.push_back(member(kind, taken[k], joints, {}));
        else
            source(kind, plan(kind).counts[colour][kFar][0]++) = taken[k];
    }
}

// Contacts are placed by a counting sort by kind, colour, part and points, stable: chunks of them count theirs, and
// then know which slots are their own.
std::uint32_t BundleLayout::key_of(std::uint8_t colour, const Contact& c) const {
    return ((sort_of(c) * colours_ + colour) * parts_ + part_of(c)) * kBuckets + bucket_of(c);
}
std::uint32_t BundleLayout::chunk_of(std::span<const Contact> contacts) {
    return std::max(kPlaceChunk, chunk_count(static_cast<std::uint32_t>(contacts.size()), kMostPlaceChunks));
}

// How many slots each kind takes, and where in them contacts of each key go; lists the overflow.
void BundleLayout::count_contacts(std::span<const Contact> contacts, const Colouring& colouring, Executor& executor) {
    if (contacts.empty()) return;
    constexpr std::uint32_t kSortCount = static_cast<std::uint32_t>(std::size(kSorts));
    parts_ = colouring.any_thin ? kParts : kThinNear;
    const std::uint32_t of_sort = colours_ * parts_ * kBuckets, keys = kSortCount * of_sort;
    const auto count = static_cast<std::uint32_t>(contacts.size());
    const std::uint32_t chunk = chunk_of(contacts), chunks = chunk_count(count, chunk);
    ranks_.assign(std::size_t{chunks} * keys, 0);  // how many of a key come before a chunk's first
    constexpr std::uint32_t kOverflowBit = kSortCount, kPartBit = kSortCount + 1;  // after one for each of kSorts
    std::atomic<std::uint32_t> any{0};
    for_chunks(executor, count, chunk, [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
        std::uint32_t* const counts = ranks_.data() + std::size_t{index} * keys;
        std::uint32_t here = 0;
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::uint8_t colour = colouring.contacts[i];
            if (colour == kNoColour) continue;
            const Contact& c = contacts[i];
            if (colour < kMaxColours) ++counts[key_of(colour, c)];
            here |= 1u << sort_of(c) | 1u << (kPartBit + part_of(c)) |
                    (colour == kOverflowColour ? 1u << kOverflowBit : 0u);
        }
        any.fetch_or(here, std::memory_order_relaxed);
    });
    const std::uint32_t seen = any;
    Plan* plans[kContactKinds] = {};
    const auto of_any = [&](auto work) {
        for (std::uint32_t sort = 0; sort < kSortCount; ++sort) {
            if ((seen >> sort & 1u) != 0) work(kSorts[sort]);
            if (sort == 0 && (seen & 1u) != 0) work(Kind::contact_1), work(Kind::contact_2);
        }
    };
    of_any([&](Kind kind) { plan(kind); });  // they move while one is added
    of_any([&](Kind kind) { plans[contact_kind(kind)] = &plan(kind); });

    targets_.resize(keys);
    const auto each_key = [&](auto work) {
        for (std::uint32_t sort = 0; sort < kSortCount; ++sort) {
            for (std::uint32_t colour = 0; (seen >> sort & 1u) != 0 && colour < colours_; ++colour) {
                for (std::uint32_t part = 0; part < parts_; ++part) {
                    if ((seen >> (kPartBit + part) & 1u) == 0) continue;
                    std::uint32_t key = sort * of_sort + (colour * parts_ + part) * kBuckets;
                    for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket, ++key)
                        work(targets_[key], key, sort, colour, part, bucket);
                }
            }
        }
    };
    const auto whole_plan = [&](std::uint32_t bucket) {
        return plans[contact_kind(bucket + 1 == kBuckets ? Kind::contact_1 : Kind::contact_2)];
    };
    each_key([&](Target& target, std::uint32_t key, std::uint32_t sort, std::uint32_t colour, std::uint32_t part,
                 std::uint32_t bucket) {
        std::uint32_t all = 0;
        for (std::uint32_t c = 0; c < chunks; ++c) all += std::exchange(ranks_[std::size_t{c} * keys + key], all);
        // Of a colour's far contacts of one point, and of two, as many as fill bundles.
        target.whole = sort == 0 && part == kFar && bucket + 2 >= kBuckets ? all / kBundleLanes * kBundleLanes : 0;
        plans[contact_kind(kSorts[sort])]->counts[colour][part][bucket] = all - target.whole;
        if (target.whole != 0) whole_plan(bucket)->counts[colour][kFar][0] = target.whole;
    });
    of_any([&](Kind kind) { reserve(*plans[contact_kind(kind)]); });
    each_key([&](Target& target, std::uint32_t, std::uint32_t sort, std::uint32_t colour, std::uint32_t part,
                 std::uint32_t bucket) {
        const Plan& rest = *plans[contact_kind(kSorts[sort])];
        target.rest_kind = rest.kind;
        target.rest_first = rest.counts[colour][part][bucket] - target.whole;
        if (target.whole == 0) return;
        const Plan& whole = *whole_plan(bucket);
        target.whole_kind = whole.kind;
        target.whole_first = whole.counts[colour][kFar][0];
    });
    for (std::uint32_t i = 0; i < count && (seen >> kOverflowBit & 1u) != 0; ++i) {
        if (colouring.contacts[i] == kOverflowColour)
            overflow_.push_back(member(kind_of(contacts[i]), i, {}, contacts));
    }
}

void BundleLayout::place_contacts(std::span<const Contact> contacts, const Colouring& colouring, Executor& executor) {
    const std::size_t keys = targets_.size();
    for_chunks(executor, static_cast<std::uint32_t>(contacts.size()), chunk_of(contacts),
               [&](std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
                   std::uint32_t* const ranks = ranks_.data() + index * keys;
                   for (std::uint32_t i = begin; i < end; ++i) {
                       const std::uint8_t colour = colouring.contacts[i];
                       if (colour >= kMaxColours) continue;
                       const std::uint32_t key = key_of(colour, contacts[i]), rank = ranks[key]++;
                       const Target& target = targets_[key];
                       ORRERY_DEBUG_ASSERT(key < keys);
                       if (rank < target.whole)
                           source(target.whole_kind, target.whole_first + rank) = i;
                       else
                           source(target.rest_kind, target.rest_first + rank) = i;
                   }
               });
}

void BundleLayout::put(BundleHead& to, std::uint32_t lane, const Member& constraint, const Bodies& bodies,
                       std::span<const Contact> contacts) {
    const auto& body = constraint.body;
    ORRERY_ASSERT(lane < kBundleLanes && to.count < kBundleLanes);
    ORRERY_DEBUG_ASSERT(shares_no_dynamic_body(to, lane, body, bodies));
    ++to.count;
    const auto bit = [&](std::uint32_t k) { return (bodies.dynamic(body[k]) ? 1u : 0u) << lane; };
    to.source[lane] = constraint.source;
    to.body_a[lane] = place_of(body[0]);
    to.body_b[lane] = place_of(body[1]);
    to.write_a |= bit(0);
    to.write_b |= bit(1);
    if (constraint.kind >= Kind::contact) {
        const Contact& contact = contacts[constraint.source];
        to.points = std::max<std::uint32_t>(to.points, contact.points);
        to.bounces |= contact.bounces ? 1u : 0u;
        to.thin |= contact.thin ? 1u : 0u;
    }
    if (kBundleBodies[index_of(constraint.kind)] <= 2) return;
    auto& many = reinterpret_cast<ManyHead&>(to);
    many.body_c[lane] = place_of(body[2]);
    many.body_d[lane] = place_of(body[3]);
    many.write_c |= bit(2);
    many.write_d |= bit(3);
}

// The heads of a block's bundles.
void BundleLayout::fill(const Block& block, const Bodies& bodies, std::span<const Joint> joints,
                        std::span<const Contact> contacts) {
    for (std::uint32_t k = 0; k < block.count; ++k) {
        BundleHead& to = head(block.kind, block.first + k);
        std::uint32_t sources[kBundleLanes];
        std::copy(to.source, to.source + kBundleLanes, sources);
        std::memset(&to, 0, kHeadBytes[index_of(block.kind)]);
        ORRERY_ASSERT(block.first + k < stores_[index_of(block.kind)].size && k * kBundleLanes < block.lanes);
        const std::uint32_t lanes = std::min(kBundleLanes, block.lanes - k * kBundleLanes);
        for (std::uint32_t lane = 0; lane < lanes; ++lane)
            put(to, lane, member(block.kind, sources[lane], joints, contacts), bodies, contacts);
    }
}

// Bundles without a repeated body: the greedy colouring once more, 64 colours at a time, until every constraint has its
// place. So even a crowd that is all overflow fills its bundles.
void BundleLayout::place_overflow(const Bodies& bodies) {
    placed_.clear();
    overflow_constraints_ = static_cast<std::uint32_t>(overflow_.size());
    while (!overflow_.empty()) {
        used_.assign(bodies.size(), 0);
        for (Plan& p : plans_) std::fill(std::begin(p.open), std::end(p.open), kNone);
        left_.clear();
        for (const Member& o : overflow_) {
            std::uint64_t taken = 0;
            for (const std::uint32_t body : o.body) taken |= bodies.dynamic(body) ? used_[body] : 0;
            const std::uint64_t free = ~taken;
            if (free == 0) {
                left_.push_back(o);
                continue;
            }
            const std::uint64_t bit = free & (~free + 1);
            for (const std::uint32_t body : o.body) {
                if (bodies.dynamic(body)) used_[body] |= bit;
            }
            std::uint32_t& open = plan(o.kind).open[static_cast<std::size_t>(std::countr_zero(free))];
            if (open == kNone || overflow_blocks_[open].lanes == kBundleLanes) {
                Store& store = stores_[index_of(o.kind)];
                open = static_cast<std::uint32_t>(overflow_blocks_.size());
                overflow_blocks_.push_back({o.kind, store.size + store.overflow++, 1, 0, 0, false});
            }
            ORRERY_ASSERT(overflow_blocks_[open].lanes < kBundleLanes);
            ++overflow_blocks_[open].lanes;
            placed_.push_back({o, open});
        }
        overflow_.swap(left_);
    }
}

void BundleLayout::fill_overflow(const Bodies& bodies, std::span<const Contact> contacts) {
    for (const Block& block : overflow_blocks_)
        std::memset(bundle(block.kind, block.first), 0, kHeadBytes[index_of(block.kind)]);
    for (const Placed& placed : placed_) {
        Block& block = overflow_blocks_[placed.block];
        BundleHead& to = head(block.kind, block.first);
        put(to, to.count, placed.member, bodies, contacts);
        block.near = block.near || (block.kind >= Kind::contact && contacts[placed.member.source].near);
    }
}

// Blocks of a colour stand in the order of the bodies in them, whatever their kinds: so a worker meets the same bodies
// in every colour, and they stay in its cache.
void BundleLayout::make_blocks(std::span<const Joint> joints, std::span<const Contact> contacts) {
    blocks_.clear();
    for (std::uint32_t colour = 0; colour < colours_; ++colour) {
        colour_begin_[colour] = static_cast<std::uint32_t>(blocks_.size());
        std::uint32_t bundles = 0;
        for (const Plan& p : plans_) {
            for (const std::uint32_t lanes : p.lanes[colour]) bundles += bundles_of(lanes);
        }
        const std::uint32_t size = std::clamp(bundles / kBlocksPerColour, 1u, kMaxBlockBundles);
        for (const Plan& p : plans_) {
            for (std::uint32_t part = 0; part < kParts; ++part) {
                const std::uint32_t lanes = p.lanes[colour][part], all = bundles_of(lanes);
                for (std::uint32_t done = 0; done < all; done += size) {
                    Block& block = blocks_.emplace_back(
                        Block{p.kind, p.first[colour][part] + done, std::min(size, all - done),
                              std::min(size * kBundleLanes, lanes - done * kBundleLanes), 0, is_near(part)});
                    const std::uint32_t middle = source(p.kind, block.first * kBundleLanes + block.lanes / 2);
                    block.place = p.kind >= Kind::contact ? contacts[middle].b : joints[middle].b;
                }
            }
        }
        std::sort(blocks_.begin() + colour_begin_[colour], blocks_.end(), [](const Block& x, const Block& y) {
            return std::tie(x.place, x.kind, x.first) < std::tie(y.place, y.kind, y.first);
        });
    }
    colour_begin_[colours_] = static_cast<std::uint32_t>(blocks_.size());
    ORRERY_DEBUG_ASSERT(std::is_sorted(colour_begin_.begin(), colour_begin_.begin() + colours_ + 1));
}

}  // namespace orrery::sim
