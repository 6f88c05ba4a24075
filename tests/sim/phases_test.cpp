// Phases run in order, each task once, whatever the executor makes of its workers.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "server/room/thread_pool.h"
#include "sim/solver/phases.h"
#include "tests/support/executors.h"

using namespace orrery::sim;

namespace {

constexpr std::uint32_t kCells = 96, kPhases = 150;

void keep_busy_ms(int ms) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    while (std::chrono::steady_clock::now() < end) {
    }
}

// Says that it has workers, and lets them come one after the other, or one alone for all of them.
class OneAfterTheOther final : public Executor {
  public:
    explicit OneAfterTheOther(bool backwards) : backwards_(backwards) {}
    std::uint32_t worker_count() const override { return 5; }
    void run(std::uint32_t count, Task task, void* context) override {
        for (std::uint32_t i = 0; i < count; ++i) task(context, backwards_ ? count - 1 - i : i);
    }

  private:
    bool backwards_;
};

// Its second worker comes when the first has long begun.
class LateWorker final : public Executor {
  public:
    std::uint32_t worker_count() const override { return 2; }
    void run(std::uint32_t count, Task task, void* context) override {
        std::thread late([&] {
            keep_busy_ms(2);
            for (std::uint32_t i = 1; i < count; ++i) task(context, i);
        });
        task(context, 0);
        late.join();
    }
};

// Each phase makes a row of cells out of the row before, so that a task that ran early, twice or never shows in the
// last row. The cells are plain: only the runner orders the threads that read and write them.
struct Rows {
    std::array<std::array<std::uint32_t, kCells>, kPhases + 1> rows{};
    std::uint32_t slow_task = ~0u;  // in each phase: it takes long

    static std::uint32_t tasks_of(std::uint32_t phase) { return 1 + phase * 7 % 13; }
    void step(std::uint32_t phase, std::uint32_t task) {
        if (task == slow_task) keep_busy_ms(1);
        const std::uint32_t tasks = tasks_of(phase), first = kCells * task / tasks, last = kCells * (task + 1) / tasks;
        const auto& from = rows[phase];
        for (std::uint32_t i = first; i < last; ++i) {
            const std::uint32_t sum = 3 * from[(i + kCells - 1) % kCells] + 5 * from[i] + 7 * from[(i + 1) % kCells];
            rows[phase + 1][i] += sum * 2654435761u + i + task;
        }
    }
};

std::vector<Phase> all_phases(std::uint32_t count) {
    std::vector<Phase> phases;
    for (std::uint32_t p = 0; p < count; ++p) {
        phases.push_back({100, Rows::tasks_of(p), p});
        if (p % 4 == 0) phases.push_back({0, 0, p});  // nothing to do
    }
    return phases;
}

void step(void* rows, std::uint32_t phase, std::uint32_t task) { static_cast<Rows*>(rows)->step(phase, task - 100); }

}  // namespace

TEST_CASE("phases follow one another, each task once, whoever of the workers comes, and when") {
    const std::vector<Phase> phases = all_phases(kPhases);
    Rows expected;
    PhaseRunner alone;
    alone.run(nullptr, phases, step, &expected);
    CHECK(expected.rows[kPhases] != expected.rows[kPhases - 1]);

    PhaseRunner runner;
    const auto check = [&](Executor& executor, const char* what, int rounds) {
        CAPTURE(what);
        for (int k = 0; k < rounds; ++k) {
            Rows rows;
            runner.run(&executor, phases, step, &rows);
            REQUIRE(rows.rows == expected.rows);
        }
    };
    OneAfterTheOther forwards(false), backwards(true);
    check(forwards, "one after the other", 1);
    check(backwards, "one after the other, the last first", 1);
    LateWorker late;
    for (int k = 0; k < 3; ++k) {  // while the first is in some phase
        Rows rows;
        rows.slow_task = 0;
        runner.run(&late, phases, step, &rows);
        CHECK(rows.rows == expected.rows);
    }
    orrery::test::ThreadedExecutor many(70);
    check(many, "more than share the work", 1);
    for (const std::uint32_t workers : {2u, 3u, 8u}) {
        orrery::test::ThreadedExecutor threads(workers);
        check(threads, "threads", 10);
        orrery::server::ThreadPool pool(workers);
        check(pool, "a pool", 100);
        struct Inside {
            PhaseRunner& runner;
            Executor& executor;
            const std::vector<Phase>& phases;
            std::array<Rows, 3> rows;
        };
        Inside inside{runner, pool, phases, {}};
        // From inside a task a pool has no workers to give.
        static_cast<Executor&>(pool).run(
            3,
            [](void* context, std::uint32_t i) {
                auto& in = *static_cast<Inside*>(context);
                PhaseRunner own;
                own.run(&in.executor, in.phases, step, &in.rows[i]);
            },
            &inside);
        for (const Rows& rows : inside.rows) CHECK(rows.rows == expected.rows);
    }
}

TEST_CASE("a runner takes lists of any length one after the other, and of empty phases") {
    PhaseRunner runner;
    orrery::server::ThreadPool pool(3);
    for (const std::uint32_t count : {150u, 3u, 40u, 0u, 16u, 17u, 1u, 150u}) {
        Rows rows, expected;
        std::vector<Phase> phases = all_phases(count);
        runner.run(nullptr, phases, step, &expected);
        phases.insert(phases.begin(), Phase{7, 0, 0});
        runner.run(&pool, phases, step, &rows);
        CHECK(rows.rows == expected.rows);
    }
    const std::vector<Phase> empty(5);
    Rows rows;
    runner.run(&pool, empty, step, &rows);
    runner.run(&pool, {}, step, &rows);
    CHECK(rows.rows == Rows{}.rows);
}

// Without threads, too, the order inside a phase is another than the tasks' own: what leans on it shows.
TEST_CASE("of another's share a worker takes the last tasks first") {
    std::vector<std::uint32_t> order;
    OneAfterTheOther executor(false);
    PhaseRunner runner;
    const Phase phase{0, 10, 0};
    runner.run(
        &executor, {&phase, 1},
        [](void* context, std::uint32_t, std::uint32_t task) {
            static_cast<std::vector<std::uint32_t>*>(context)->push_back(task);
        },
        &order);
    CHECK(order == std::vector<std::uint32_t>{0, 1, 3, 2, 5, 4, 7, 6, 9, 8});
}

TEST_CASE("who waits for long sleeps, and is woken" * doctest::test_suite("quality")) {
    constexpr std::uint32_t kFew = 40;
    const std::vector<Phase> phases = all_phases(kFew);
    Rows expected;
    PhaseRunner runner;
    runner.run(nullptr, phases, step, &expected);
    for (const std::uint32_t workers : {2u, 4u}) {
        orrery::server::ThreadPool pool(workers);
        Rows rows;
        rows.slow_task = 0;
        runner.run(&pool, phases, step, &rows);
        CHECK(rows.rows == expected.rows);
    }
}
