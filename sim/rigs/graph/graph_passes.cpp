#include "sim/rigs/graph/graph_passes.h"

#include <algorithm>
#include <span>

namespace orrery::sim {
namespace {

std::span<const GraphPart> parts_of(GraphPass pass) {
    using enum GraphPart;
    static constexpr GraphPart
        kPrepare[] = {prepare, place, show, refresh_members, refresh_joints},
        kWarmStart[] = {load, warm_start, push, unload}, kHold[] = {load, hold, unload},
        kSolve[] = {load, solve, unload},
        // The poses have moved. A user's spring keeps the bias of the substep that it was integrated in.
        kRelax[] = {place, show, refresh_members, refresh_joints, load, relax, unload, sum_up},
        kRelaxAgain[] = {take_back, load, relax, unload, sum_up}, kFinish[] = {finish};
    switch (pass) {
        case GraphPass::prepare:
            return kPrepare;
        case GraphPass::warm_start:
            return kWarmStart;
        case GraphPass::hold:
            return kHold;
        case GraphPass::solve:
            return kSolve;
        case GraphPass::relax:
            return kRelax;
        case GraphPass::relax_again:
            return kRelaxAgain;
        case GraphPass::finish:
            return kFinish;
    }
    return {};
}

constexpr bool iterates(GraphPart part) {
    return part == GraphPart::solve || part == GraphPart::relax || part == GraphPart::hold;
}

// Iterations go over a graph's tiles in the order in which joints are ahead of bodies (Graph::backwards). In it a joint
// of tile t reads the velocities of tiles [t - ahead, t + lag - ahead], and a body there the changes of as many on the
// other side, [t - lag + ahead, t + ahead]. Several iterations go together, each behind the one before by what it reads
// of it: of a large graph what lies between the first and the last stays in a core's cache.
//
// Workers who share a graph have a slice each. Of a slice, and without asking anyone, an iteration can be done but for
// what lies near the slice's ends, by `lag` tiles more in each iteration. When all have done that, what is left about
// each of the ends between slices is done, as many iterations, by one worker each (in space and time: trapezoids, and
// what is between them).
class Iterations {
  public:
    Iterations(GraphPart step, const GraphKernels& kernels, const StepContext& context, const GraphView& view)
        : step_(step),
          kernels_(kernels),
          context_(context),
          view_(view),
          tiles_(graph_tiles(view.graph->bodies)),
          ahead_(view.graph->ahead),
          lag_(view.graph->lag) {}

    // Of tiles [begin, end), iterations from `first` on, so many of them.
    void slice(std::int64_t begin, std::int64_t end, std::uint32_t first, std::int64_t count) const {
        const bool whole_begin = begin == 0, whole_end = end == tiles_;
        for (std::int64_t front = begin; front < end + ahead_ + (count - 1) * lag_; ++front) {
            for (std::int64_t k = 0; k < count; ++k) {
                const std::int64_t at = front - k * lag_, behind = at - ahead_;
                if (at < begin) break;
                if (at >= (whole_begin ? begin : begin + ahead_ + k * lag_) &&
                    at < (whole_end ? end : end - (k + 1) * lag_ + ahead_))
                    run(step_, at, at + 1, first + k);
                if (behind >= (whole_begin ? begin : begin + (k + 1) * lag_) &&
                    behind < (whole_end ? end : end - (k + 1) * lag_))
                    run(GraphPart::push, behind, behind + 1, first + k);
            }
        }
    }
    // What slices that meet there have left.
    void between(std::int64_t at, std::uint32_t first, std::int64_t count) const {
        for (std::int64_t k = 0; k < count; ++k) {
            run(step_, at - (k + 1) * lag_ + ahead_, at + ahead_ + k * lag_, first + k);
            run(GraphPart::push, at - (k + 1) * lag_, at + (k + 1) * lag_, first + k);
        }
    }

  private:
    void run(GraphPart part, std::int64_t begin, std::int64_t end, std::int64_t n) const {
        if (begin >= end) return;
        const Graph& graph = *view_.graph;
        const auto first = static_cast<std::uint32_t>(graph.backwards ? tiles_ - end : begin) * kGraphTile,
                   last = static_cast<std::uint32_t>(graph.backwards ? tiles_ - begin : end) * kGraphTile;
        kernels_[part](context_, view_, first, std::min(last, graph.bodies), static_cast<std::uint32_t>(n));
    }

    GraphPart step_;
    const GraphKernels& kernels_;
    const StepContext& context_;
    const GraphView& view_;
    std::int64_t tiles_, ahead_, lag_;
};

// How iterations are shared: in so many slices, so many together.
struct Tiling {
    std::uint32_t slices, depth;
};

// Slices of other parts, by worker, so that who is early may take what others are late with; and of iterations, where
// there is room.
constexpr std::uint32_t kSlicesOfWorker = 4;
// Groups of joints below which waiting for each other takes longer than what is shared.
constexpr std::uint32_t kTeamFrom = 256;

// What is left between slices is small beside them where there is room, and never as wide as a slice.
Tiling tiling_of(const Graph& graph, std::uint32_t workers) {
    const std::uint32_t tiles = graph_tiles(graph.bodies), lag = std::max(graph.lag, 1u),
                        fewest = std::clamp(tiles / (2 * lag), 1u, workers);
    const std::uint32_t slices = std::clamp(tiles / (8 * lag), fewest, workers * kSlicesOfWorker);
    return {slices, std::clamp(tiles / slices / (4 * lag), 1u, graph.depth)};
}

}  // namespace

std::uint32_t team_of(const Graph& graph, std::size_t joint_groups, std::uint32_t workers) {
    if (workers <= 1 || graph.joints < kTeamFrom) return 1;
    const std::uint32_t helpful = std::min(tiling_of(graph, workers).slices, workers);
    return std::size_t(graph.joints) * helpful > joint_groups ? helpful : 1;
}

void run_graph(GraphPass pass, const GraphKernels& kernels, const StepContext& context, const GraphView& view) {
    const Graph& graph = *view.graph;
    for (const GraphPart part : parts_of(pass)) {
        if (!iterates(part)) {
            kernels[part](context, view, 0, graph.bodies + graph.outer, 0);
            continue;
        }
        const Iterations iterations(part, kernels, context, view);
        for (std::uint32_t first = 0; first < graph.steps; first += graph.depth)
            iterations.slice(0, graph_tiles(graph.bodies), first, std::min(graph.depth, graph.steps - first));
    }
}

void GraphTeam::run(GraphPass pass, const GraphKernels& kernels, const StepContext& context, const GraphView& view,
                    Executor& executor) {
    enum Work : std::uint32_t { kPart, kSlice, kBetween };
    struct Job {
        const GraphKernels& kernels;
        const StepContext& context;
        const GraphView& view;
        std::uint32_t places, of_places;
        Tiling tiling;

        std::uint32_t slice_begin(std::uint32_t slice) const {
            return static_cast<std::uint32_t>(std::uint64_t(graph_tiles(view.graph->bodies)) * slice / tiling.slices);
        }
    };
    const Graph& graph = *view.graph;
    const std::uint32_t workers = std::max(executor.worker_count(), 1u);
    Job job{kernels, context, view, graph.bodies + graph.outer, 0, tiling_of(graph, workers)};
    job.of_places = std::max(graph_tiles(job.places) / (workers * kSlicesOfWorker), 1u) * kGraphTile;

    const auto add = [&](Work work, GraphPart part, std::uint32_t count, std::uint32_t n) {
        phases_.push_back(
            {0, count, static_cast<std::uint32_t>(work) | static_cast<std::uint32_t>(part) << 8 | n << 16});
    };
    phases_.clear();
    for (const GraphPart part : parts_of(pass)) {
        if (!iterates(part)) {
            add(kPart, part, (job.places + job.of_places - 1) / job.of_places, 0);
            continue;
        }
        for (std::uint32_t n = 0; n < graph.steps; n += job.tiling.depth) {
            add(kSlice, part, job.tiling.slices, n);
            add(kBetween, part, job.tiling.slices - 1, n);
        }
    }
    const auto task = [](void* opaque, std::uint32_t what, std::uint32_t index) {
        const Job& j = *static_cast<const Job*>(opaque);
        const auto work = static_cast<Work>(what & 0xffu);
        const auto part = static_cast<GraphPart>(what >> 8 & 0xffu);
        const std::uint32_t n = what >> 16;
        if (work == kPart) {
            const std::uint32_t begin = index * j.of_places;
            return j.kernels[part](j.context, j.view, begin, std::min(begin + j.of_places, j.places), n);
        }
        const Iterations iterations(part, j.kernels, j.context, j.view);
        const std::uint32_t count = std::min(j.tiling.depth, j.view.graph->steps - n);
        if (work == kSlice)
            iterations.slice(j.slice_begin(index), j.slice_begin(index + 1), n, count);
        else
            iterations.between(j.slice_begin(index + 1), n, count);
    };
    runner_.run(&executor, phases_, task, &job);
}

}  // namespace orrery::sim
