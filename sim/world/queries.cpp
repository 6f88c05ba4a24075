// The world's queries: input is checked, the snapshot of the asked tick looked up, and what is found told apart into
// what still lives and what does not.

#include <algorithm>

#include "sim/collision/queries/batch_order.h"
#include "sim/collision/queries/queries.h"
#include "sim/world/executor.h"
#include "sim/world/impl.h"

namespace orrery::sim {

namespace {

constexpr std::uint32_t kQueriesPerTask = 32;

// The shape that a query casts or overlaps with. False: there is none that could be.
bool find_probe(std::span<const Shape> shapes, const QueryShape& wanted, Shape& made, const Shape*& probe) {
    if (wanted.index != kNone) {
        if (wanted.index >= shapes.size()) return false;
        probe = &shapes[wanted.index];
    } else {
        auto shape = make_shape({{}, wanted.type, wanted.radius, wanted.half_height, wanted.half_extents}, {});
        if (!shape) return false;
        made = *shape;
        probe = &made;
    }
    return ref::can_probe(*probe);
}
bool find_probe(std::span<const Shape> shapes, const ShapeCast& query, Shape& made, const Shape*& probe) {
    return find_probe(shapes, query.shape, made, probe);
}
bool find_probe(std::span<const Shape> shapes, const Overlap& query, Shape& made, const Shape*& probe) {
    return find_probe(shapes, query.shape, made, probe);
}
bool find_probe(std::span<const Shape>, const RayCast&, Shape&, const Shape*&) { return true; }
bool find_probe(std::span<const Shape>, const ClosestPoint&, Shape&, const Shape*&) { return true; }

// Appends to `hits`.
template <class Query>
QueryStatus ask(const Core& core, const History& history, const Query& query, std::vector<QueryHit>& hits) {
    Shape made;
    const Shape* probe = nullptr;
    if (!ref::query_holds(query) || !find_probe(core.shapes, query, made, probe)) return QueryStatus::invalid_query;
    const Snapshot* snapshot = history.at(query.tick, core);
    if (!snapshot) return QueryStatus::tick_not_kept;
    const std::size_t first = hits.size();
    ref::ask(query, probe, *snapshot, core.shapes, hits);
    for (std::size_t i = first; i < hits.size(); ++i)
        hits[i].despawned = core.state.bodies.generation[hits[i].body.index] != hits[i].body.generation;
    return hits.size() == first ? QueryStatus::miss : QueryStatus::hit;
}

template <class Query>
QueryStatus ask_one(const Core& core, const History& history, const Query& query, std::vector<QueryHit>& hits) {
    const FpEnvironment environment;
    hits.clear();
    return ask(core, history, query, hits);
}

// A batch, in tasks of queries that follow each other in `order`.
template <class Query>
struct Batch {
    struct Part {  // the answers of a task, in its order
        QueryAnswer answers[kQueriesPerTask];
        std::vector<QueryHit> hits;
    };

    const Core& core;
    const History& history;
    std::span<const Query> queries;
    std::vector<std::uint32_t> order;
    std::vector<Part> parts;

    std::span<const std::uint32_t> of_task(std::uint32_t task) const {
        const std::size_t first = std::size_t(task) * kQueriesPerTask;
        return std::span(order).subspan(first, std::min<std::size_t>(kQueriesPerTask, order.size() - first));
    }
    void ask_task(std::uint32_t task) {
        Part& part = parts[task];
        part.hits.reserve(kQueriesPerTask);
        const std::span<const std::uint32_t> rows = of_task(task);
        for (const std::uint32_t i : rows) __builtin_prefetch(&queries[i]);
        QueryAnswer* answer = part.answers;
        for (const std::uint32_t i : rows) {
            answer->first = part.hits.size();
            answer->status = ask(core, history, queries[i], part.hits);
            answer->count = part.hits.size() - answer->first;
            ++answer;
        }
    }
    // In the order of the queries.
    void gather(QueryAnswers& out) const {
        out.answers.resize(queries.size());
        for (std::uint32_t task = 0; task < parts.size(); ++task) {
            const QueryAnswer* answer = parts[task].answers;
            for (const std::uint32_t i : of_task(task)) out.answers[i] = *answer++;
        }
        std::vector<std::size_t> begin(queries.size());
        std::size_t all = 0;
        for (std::size_t i = 0; i < queries.size(); ++i) begin[i] = all, all += out.answers[i].count;
        out.hits.resize(all);
        for (std::uint32_t task = 0; task < parts.size(); ++task) {
            for (const std::uint32_t i : of_task(task)) {
                QueryAnswer& answer = out.answers[i];
                std::copy_n(parts[task].hits.data() + answer.first, answer.count, out.hits.data() + begin[i]);
                answer.first = begin[i];
            }
        }
    }
};

template <class Query>
void ask_many(const Core& core, const History& history, std::span<const Query> queries, QueryAnswers& out,
              Executor* executor) {
    const FpEnvironment environment;
    Batch<Query> batch{core, history, queries, ref::batch_order(queries), {}};
    const auto tasks = static_cast<std::uint32_t>((queries.size() + kQueriesPerTask - 1) / kQueriesPerTask);
    batch.parts.resize(tasks);
    SerialExecutor serial;
    GuardedExecutor guarded(executor ? *executor : static_cast<Executor&>(serial));
    guarded.run(
        tasks, [](void* context, std::uint32_t task) { static_cast<Batch<Query>*>(context)->ask_task(task); }, &batch);
    batch.gather(out);
}

}  // namespace

std::uint64_t World::oldest_tick() const { return impl_->history.oldest_tick(impl_->core.state.tick); }

QueryStatus World::cast_ray(const RayCast& query, std::vector<QueryHit>& hits) const {
    return ask_one(impl_->core, impl_->history, query, hits);
}
QueryStatus World::cast_shape(const ShapeCast& query, std::vector<QueryHit>& hits) const {
    return ask_one(impl_->core, impl_->history, query, hits);
}
QueryStatus World::overlap(const Overlap& query, std::vector<QueryHit>& hits) const {
    return ask_one(impl_->core, impl_->history, query, hits);
}
QueryStatus World::closest_point(const ClosestPoint& query, std::vector<QueryHit>& hits) const {
    return ask_one(impl_->core, impl_->history, query, hits);
}
void World::cast_rays(std::span<const RayCast> queries, QueryAnswers& out, Executor* executor) const {
    ask_many(impl_->core, impl_->history, queries, out, executor);
}
void World::cast_shapes(std::span<const ShapeCast> queries, QueryAnswers& out, Executor* executor) const {
    ask_many(impl_->core, impl_->history, queries, out, executor);
}
void World::overlaps(std::span<const Overlap> queries, QueryAnswers& out, Executor* executor) const {
    ask_many(impl_->core, impl_->history, queries, out, executor);
}
void World::closest_points(std::span<const ClosestPoint> queries, QueryAnswers& out, Executor* executor) const {
    ask_many(impl_->core, impl_->history, queries, out, executor);
}

}  // namespace orrery::sim
