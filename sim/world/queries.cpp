// The world's queries: input is checked, the snapshot of the asked tick looked up, and what is found told apart into
// what still lives and what does not.

#include <algorithm>

#include "sim/collision/queries/queries.h"
#include "sim/world/executor.h"
#include "sim/world/impl.h"

namespace orrery::sim {

namespace {

constexpr std::uint32_t kQueriesPerTask = 16;

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

template <class Query>
void ask_many(const Core& core, const History& history, std::span<const Query> queries, QueryAnswers& out,
              Executor* executor) {
    const FpEnvironment environment;
    struct Job {
        const Core& core;
        const History& history;
        std::span<const Query> queries;
        std::vector<QueryAnswer>& answers;
        std::vector<std::vector<QueryHit>> hits;  // by task
    };
    const auto count = static_cast<std::uint32_t>(queries.size()),
               tasks = (count + kQueriesPerTask - 1) / kQueriesPerTask;
    out.answers.assign(count, {});
    out.hits.clear();
    Job job{core, history, queries, out.answers, {}};
    job.hits.resize(tasks);
    SerialExecutor serial;
    GuardedExecutor guarded(executor ? *executor : static_cast<Executor&>(serial));
    guarded.run(
        tasks,
        [](void* context, std::uint32_t task) {
            Job& inner = *static_cast<Job*>(context);
            std::vector<QueryHit>& hits = inner.hits[task];
            const std::size_t first = std::size_t(task) * kQueriesPerTask,
                              last = std::min(inner.queries.size(), first + kQueriesPerTask);
            for (std::size_t i = first; i < last; ++i) {
                QueryAnswer& answer = inner.answers[i];
                answer.first = hits.size();
                answer.status = ask(inner.core, inner.history, inner.queries[i], hits);
                answer.count = hits.size() - answer.first;
            }
        },
        &job);
    for (std::uint32_t task = 0; task < tasks; ++task) {
        const std::size_t first = std::size_t(task) * kQueriesPerTask,
                          last = std::min(queries.size(), first + kQueriesPerTask);
        for (std::size_t i = first; i < last; ++i) out.answers[i].first += out.hits.size();
        out.hits.insert(out.hits.end(), job.hits[task].begin(), job.hits[task].end());
    }
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
