// What a host may count on: small worlds, many of them, no allocation in a steady tick, its own floating-point
// environment left alone, stages told in pairs.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "server/room/thread_pool.h"
#include "tests/support/seed.h"
#include "tests/support/varied_world.h"

namespace {

// Counts what this program allocates; the sanitizers keep their own account and are left theirs.
[[maybe_unused]] std::atomic<std::uint64_t> allocated_bytes{0}, allocations{0};

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ORRERY_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ORRERY_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef ORRERY_COUNTS_ALLOCATIONS
#define ORRERY_COUNTS_ALLOCATIONS 1
#endif

#if ORRERY_COUNTS_ALLOCATIONS
namespace {
void* counted(std::size_t size, std::size_t alignment) {
    allocated_bytes += size;
    ++allocations;
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* memory = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? std::aligned_alloc(alignment, rounded)
                                                                : std::malloc(size == 0 ? 1 : size);
    if (!memory) std::abort();
    return memory;
}
}  // namespace
void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

using namespace orrery::sim;
using namespace orrery::test;

namespace {

// A pile that has settled: contacts, joints and islands as they will stay.
WorldDef settled_scene() {
    WorldDef def;
    add_ground(def);
    const auto box = add_box_shape(def, {0.5f, 0.5f, 0.5f});
    for (int i = 0; i < 60; ++i)
        add_body(def, box, {static_cast<float>(i % 10) * 1.5f, 0.5f + static_cast<float>(i / 10), 0.0f});
    for (std::uint32_t i = 1; i < 10; ++i) add_joint(def, i, i + 1, DistanceLimit{{}, {}, 0.0f, 1.6f, {}});
    return def;
}

class PairedStages final : public StageObserver {
  public:
    void begin(Stage stage) override {
        CHECK(open_ == kStageCount);
        open_ = static_cast<std::size_t>(stage);
        seen_[open_] += 1;
    }
    void end(Stage stage) override {
        CHECK(open_ == static_cast<std::size_t>(stage));
        open_ = kStageCount;
    }
    int seen(Stage stage) const { return seen_[static_cast<std::size_t>(stage)]; }

  private:
    std::size_t open_ = kStageCount;
    std::array<int, kStageCount> seen_{};
};

// Another number of workers whenever it is asked, the last task first, one after the other.
class Fickle final : public Executor {
  public:
    std::uint32_t worker_count() const override { return kCounts[asked_++ % std::size(kCounts)]; }
    void run(std::uint32_t count, Task task, void* context) override {
        while (count > 0) task(context, --count);
    }

  private:
    static constexpr std::uint32_t kCounts[] = {3, 1, 2, 5, 1, 1, 4};
    mutable std::uint32_t asked_ = 0;
};

}  // namespace

#if ORRERY_COUNTS_ALLOCATIONS
TEST_CASE("an empty world takes at most 64 KiB, its first ticks included") {
    const std::uint64_t before = allocated_bytes;
    auto world = make_world(WorldDef{});
    run(*world, 3);
    CHECK(allocated_bytes - before > 0);
    CHECK(allocated_bytes - before <= 64u * 1024u);
}

TEST_CASE("a steady tick allocates nothing, its hash included") {
    auto world = make_world(settled_scene());
    orrery::server::ThreadPool pool(2);
    run(*world, 120);
    for (int n = 0; n < 5; ++n) world->step({}, &pool);
    const std::uint64_t before = allocations;
    HashTree hash;
    for (int n = 0; n < 60; ++n) {
        world->step({}, n % 2 == 0 ? &pool : nullptr);
        hash = world->hash();
    }
    CHECK(allocations == before);
    CHECK(hash.root != 0);
}
#endif

TEST_CASE("a thousand worlds in one process go their own ways") {
    std::vector<std::unique_ptr<World>> worlds;
    for (int i = 0; i < 1'000; ++i) {
        WorldDef def;
        add_ground(def);
        const auto ball = add_body(def, add_sphere_shape(def, 0.5f), {0.0f, 1.0f + static_cast<float>(i % 10), 0.0f});
        def.bodies[ball].linear_velocity.x = static_cast<float>(i / 10);
        worlds.push_back(
            make_world(def, available_targets()[static_cast<std::size_t>(i) % available_targets().size()]));
    }
    for (int n = 0; n < 20; ++n) {
        for (auto& world : worlds) world->step();
    }
    for (int i = 0; i < 1'000; ++i) {
        const BodyState s = state_of(*worlds[static_cast<std::size_t>(i)], 1);
        const double straight = static_cast<double>(i / 10) / 3.0;
        CHECK(std::abs(s.pose.position.x - straight) <= 0.025 * straight);  // some have landed, and roll
    }
}

#if defined(__x86_64__)
TEST_CASE("the host's floating-point environment changes no bit and is found as it was left") {
    auto world = make_world(varied_world()), reference = make_world(varied_world());
    orrery::server::ThreadPool pool(3);
    constexpr unsigned kFlushToZero = 0x8040, kRoundUp = 0x4000;
    for (int n = 0; n < 40; ++n) {
        const std::vector<Command> commands = varied_commands(reference->tick());
        reference->step(commands);
        const unsigned host = _mm_getcsr();
        const unsigned odd = (host & ~0x6000u) | kFlushToZero | kRoundUp;
        pool.run(
            16, [](void* context, std::uint32_t) { _mm_setcsr(*static_cast<const unsigned*>(context)); },
            const_cast<unsigned*>(&odd));
        _mm_setcsr(odd);
        world->step(commands, &pool);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(host);
        CHECK((after & 0xffc0u) == (odd & 0xffc0u));
        CHECK(world->hash() == reference->hash());
    }
}
#endif

TEST_CASE("an observer is told of each stage's begin and end, one at a time") {
    auto world = make_world(settled_scene());
    PairedStages stages;
    for (int n = 0; n < 3; ++n) world->step({}, nullptr, &stages);
    for (const Stage stage : {Stage::commands, Stage::bounds, Stage::pairs, Stage::narrow_phase, Stage::events}) {
        CAPTURE(std::string(stage_name(stage)));
        CHECK(stages.seen(stage) == 3);
    }
    CHECK(stages.seen(Stage::solve) == 12);
}

TEST_CASE("who runs the tasks, who looks on and how many workers there are now change no bit of a heap") {
    WorldDef def;
    add_ground(def);
    const auto box = add_box_shape(def, {0.25f, 0.25f, 0.25f});
    for (int i = 0; i < 600; ++i)  // above one another, a little aside, so that they fall over each other
        add_body(def, box,
                 {static_cast<float>(i % 10) * 0.55f + static_cast<float>(i / 100) * 0.13f,
                  0.25f + static_cast<float>(i / 100) * 0.6f,
                  static_cast<float>(i / 10 % 10) * 0.55f + static_cast<float>(i / 100) * 0.08f});
    for (std::uint32_t i = 1; i < 100; ++i) add_joint(def, i, i + 1, DistanceLimit{{}, {}, 0.0f, 0.6f, {}});
    const auto run = [&](Executor* executor, StageObserver* observer) {
        const auto world = make_world(def);
        for (int n = 0; n < (few() ? 20 : 60); ++n) world->step({}, executor, observer);
        CHECK(world->stats().colours > 3);
        return world->hash().root;
    };
    const std::uint64_t alone = run(nullptr, nullptr);
    PairedStages stages;
    CHECK(run(nullptr, &stages) == alone);
    for (const std::uint32_t threads : {2u, 5u}) {
        orrery::server::ThreadPool pool(threads);
        CHECK(run(&pool, nullptr) == alone);
        CHECK(run(&pool, &stages) == alone);
    }
    Fickle fickle;
    CHECK(run(&fickle, nullptr) == alone);
    CHECK(run(&fickle, &stages) == alone);
}

TEST_CASE("a target that this machine lacks is an error that lists the others") {
#if defined(__x86_64__)
    const auto world = World::create(WorldDef{}, {Target::neon});
#else
    const auto world = World::create(WorldDef{}, {Target::avx2});
#endif
    REQUIRE_FALSE(world.ok());
    CHECK(world.error().code == orrery::ErrorCode::unsupported_target);
    CHECK(world.error().message.find("scalar") != std::string::npos);
}

namespace {

constexpr std::size_t kSaveHeaderBytes = 40, kClockBytes = 16, kBodyBytes = 69;

// Saved states of a world without bodies, put together by hand: `bodies` and `joints` that were removed, and no more
// than that. Length and checksum are true.
class ForgedSave {
  public:
    explicit ForgedSave(const World& world) {
        world.save(bytes);
        bytes.resize(kSaveHeaderBytes + kClockBytes);
    }
    template <class T>
    void put(T value, std::size_t times = 1) {
        std::size_t at = bytes.size();
        bytes.resize(at + times * sizeof value);
        for (; at < bytes.size(); at += sizeof value) std::memcpy(&bytes[at], &value, sizeof value);
    }
    void put_removed_bodies(std::uint32_t count) {
        put(count + 1);
        put(std::uint8_t{1});  // flags: the world, and `count` times none
        put(std::uint8_t{0}, count);
        put(0u);  // generations
        put(1u, count);
        put(~std::uint64_t{0}, count + 1);      // no origin
        put(std::uint16_t{0xffff}, count + 1);  // no slot
        put(0u);                                // no changed settings
    }
    void put_removed_joints(std::uint32_t count) {
        put(count);
        constexpr std::array<std::uint8_t, 7> kRemoved{0, 1, 0, 0, 0, 0xff, 0xff};
        put(kRemoved, count);
    }
    void put_rest(std::uint32_t bodies) {  // where they stand; no mean motion, contact, actuator or event
        constexpr std::array<float, 13> kPoseAndVelocity{0, 0, 0, 0, 0, 0, 1};
        put(std::uint16_t{0}, bodies + 1);  // slow for no tick
        put(kPoseAndVelocity, bodies + 1);
        put(0u, 6);
    }
    const std::vector<std::uint8_t>& sealed() {
        const std::uint64_t length = bytes.size() - kSaveHeaderBytes;
        const std::uint64_t checksum = XXH3_64bits(bytes.data() + kSaveHeaderBytes, length);
        std::memcpy(&bytes[24], &length, sizeof length);
        std::memcpy(&bytes[32], &checksum, sizeof checksum);
        return bytes;
    }

    std::vector<std::uint8_t> bytes;
};

}  // namespace

TEST_CASE("a hostile saved state of 60 MiB is refused within 64 MiB of memory") {
    constexpr std::size_t kFileBytes = 60u << 20;
    [[maybe_unused]] constexpr std::uint64_t kMemory = 64u << 20;
    constexpr std::uint32_t kBodies = kFileBytes / kBodyBytes - 1, kJoints = 8'000'000;
    auto world = make_world({});
    const auto refused_within_memory = [&](ForgedSave& save) {
        const std::vector<std::uint8_t>& bytes = save.sealed();
        REQUIRE(bytes.size() > kFileBytes - (8u << 20));
        [[maybe_unused]] const std::uint64_t before = allocated_bytes;
        const bool refused = !world->restore(bytes).ok();
#if ORRERY_COUNTS_ALLOCATIONS
        CHECK(allocated_bytes - before < kMemory);  // all that was ever taken, so no less than its peak
#endif
        return refused;
    };
    SUBCASE("zeros that call themselves bodies") {
        ForgedSave save(*world);
        save.put(kBodies);
        save.bytes.resize(kFileBytes);
        CHECK(refused_within_memory(save));
    }
    SUBCASE("more bodies than could be followed by poses") {
        ForgedSave save(*world);
        save.put(4'000'000u);
        save.bytes.resize(kFileBytes);
        CHECK(refused_within_memory(save));
    }
    SUBCASE("zeros that call themselves joints") {
        ForgedSave save(*world);
        save.put_removed_bodies(0);
        save.put(kJoints);
        save.bytes.resize(kFileBytes);
        CHECK(refused_within_memory(save));
    }
    SUBCASE("removed bodies in good order, and one byte too many") {
        ForgedSave save(*world);
        save.put_removed_bodies(kBodies);
        save.put_removed_joints(0);
        save.put_rest(kBodies);
        save.put(std::uint8_t{0});
        CHECK(refused_within_memory(save));
    }
    SUBCASE("removed joints in good order, and one byte too many") {
        ForgedSave save(*world);
        save.put_removed_bodies(0);
        save.put_removed_joints(kJoints);
        save.put_rest(0);
        save.put(std::uint8_t{0});
        CHECK(refused_within_memory(save));
    }
    SUBCASE("without the byte too many they are a state") {
        ForgedSave save(*world);
        save.put_removed_bodies(100);
        save.put_removed_joints(100);
        save.put_rest(100);
        CHECK(world->restore(save.sealed()).ok());
        std::vector<std::uint8_t> again;
        world->save(again);
        CHECK(again == save.bytes);
    }
}
