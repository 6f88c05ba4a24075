// A world's rigs on a GPU: its memory, what is sent there and comes back, and the launches (kernels.h) of a tick.
//
// All of a tick is one launch of a CUDA graph, recorded once and for as long as nothing but numbers changes. Bodies and
// forces stay on the device, and the host remembers what it has there: only blocks of them that the host has changed
// since are sent. What the device had is lost with it; what the host holds is not changed before all of the tick is
// there.

#include "sim/rigs/cuda/kernels.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "sim/rigs/cuda/module.h"

ORRERY_LANES_BEGIN

constexpr std::uint32_t kPassThreads = 128;
constexpr std::size_t kWarp = 32, kAlign = 256;
constexpr std::size_t kBlockOverhead = 2048;                // of a processor's chip, which a block takes besides
constexpr std::size_t kSpareBytes = std::size_t(64) << 20;  // of the device's memory, left to others
constexpr std::size_t kBlockBytes = std::size_t(64) << 10;  // that are compared, and sent if they differ
constexpr std::size_t kMostNodes = 16'384;                  // of a recorded graph; more launches are made one by one

constexpr int kDevice = 0;

// Memory that grows and is never given back before the end.
struct Memory {
    unsigned char* at = nullptr;
    std::size_t bytes = 0;
};

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Parts one behind the other.
class Places {
  public:
    template <class T>
    std::size_t add(std::size_t count) {
        const std::size_t begin = end_;
        end_ += aligned(sizeof(T) * count);
        return begin;
    }
    std::size_t end() const { return end_; }

  private:
    std::size_t end_ = 0;
};

// All that a tick's launches are made of: while it stays the same, so does the graph that was recorded.
struct Plan {
    RigLaunch rigs;
    // Of chains, by length: those that fit on chip not at all, at least one bundle at a time, and kChainBlocks of them.
    struct Chains {
        ChainLaunch launch;
        OnChip on_chip;
        std::uint32_t blocks, threads;
        std::size_t shared;
    } chains[3];
    std::uint32_t graph_blocks, graph_threads;  // of graphs on chip
    std::size_t graph_shared;
    std::uint32_t substeps, most_steps;  // of graphs that are not on chip
    bool trees, graphs, wide_graphs;     // wide: not on chip
    const unsigned char* from;           // what comes back, and to where
    unsigned char* to;
    std::size_t back;
};
static_assert(std::is_trivially_copyable_v<Plan>);

class Session {
  public:
    Session() { clear(plan_); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        cudaSetDevice(kDevice);
        forget_graph();
        for (Memory* m : {&state_, &topology_, &work_, &scratch_}) cudaFree(m->at);
        cudaFreeHost(staging_.at);
        for (const cudaEvent_t mark : marks_) {
            if (mark != nullptr) cudaEventDestroy(mark);
        }
        if (stream_ != nullptr) cudaStreamDestroy(stream_);
    }

    // Makes the kernels ready, so that the first tick need not wait for them.
    bool open(RigModuleText& why) { return prepare() || fail(why); }

    DeviceAnswer solve(const AloneTick& tick, DeviceTimes& times, RigModuleText& why) {
        failed_ = nullptr;
        error_ = cudaSuccess;
        const DeviceAnswer answer = ok(cudaSetDevice(kDevice), "cudaSetDevice") ? attempt(tick, times) : given_up();
        if (answer == DeviceAnswer::lost) fail(why);
        return answer;
    }

  private:
    enum Mark { kBegin, kSent, kSolved, kBack, kMarks };
    // Where the parts of the state begin, in the device's memory and in the host's copy of it. The first four come
    // back.
    struct StateParts {
        std::size_t pose, velocity, force, mean_n, back, bundles, trees, graphs, mass_of, mass, kinematic, total;
    };
    static StateParts state_parts(const AloneTick& tick) {
        StateParts p{};
        Places places;
        p.pose = places.add<PoseRecord>(tick.body_count);
        p.velocity = places.add<VelocityRecord>(tick.body_count);
        p.force = places.add<RigForce>(tick.force_rows);
        p.mean_n = places.add<float>(tick.breakable ? tick.force_rows : 0);
        p.back = places.end();
        p.bundles = places.add<ChainBundle>(tick.bundle_count);
        const bool others = tick.trees_alone || tick.graphs_alone;
        p.trees = places.add<TreeBundle>(others ? tick.tree_count : 0);
        p.graphs = places.add<Graph>(others ? tick.graph_count : 0);
        p.mass_of = places.add<std::uint32_t>(others ? tick.body_count : 0);
        p.mass = places.add<MassRecord>(others ? tick.mass_count : 0);
        p.kinematic = places.add<std::uint32_t>(others ? tick.kinematic_count : 0);
        p.total = places.end();
        return p;
    }
    struct TopologyParts {
        std::size_t slots, extras, tree_slots, tree_spans, joints, bodies, sides, steps, planes, changes, total;
    };
    static TopologyParts topology_parts(const AloneTick& tick) {
        TopologyParts p{};
        Places places;
        p.slots = places.add<ChainSlot>(tick.slot_count);
        p.extras = places.add<ChainExtras>(tick.slot_count);
        p.tree_slots = places.add<TreeSlot>(tick.tree_slot_count);
        p.tree_spans = places.add<TreeSpan>(tick.tree_span_count);
        p.joints = places.add<GraphJoints>(tick.graph_joint_groups);
        p.bodies = places.add<GraphBodies>(tick.graph_body_groups);
        p.sides = places.add<GraphSides>(tick.graph_side_groups);
        p.steps = places.add<GraphStep>(tick.graph_step_count);
        p.planes = places.add<Row>(tick.plane_rows);
        p.changes = places.add<Row>(tick.change_rows);
        p.total = places.end();
        return p;
    }
    // What trees and graphs alone have. Of it, ticks hand zeros alone to the next ones.
    struct ScratchParts {
        std::size_t pose, delta, inertia, no_force, tree_work, tree_span_work, total;
    };
    static ScratchParts scratch_parts(const AloneTick& tick) {
        ScratchParts p{};
        Places places;
        p.pose = places.add<PoseRecord>(tick.body_count);
        p.delta = places.add<DeltaRecord>(tick.body_count);
        p.inertia = places.add<InertiaRecord>(tick.body_count);
        p.no_force = places.add<Vec3>(tick.body_count);
        p.tree_work = places.add<TreeWork>(tick.tree_slot_count);
        p.tree_span_work = places.add<TreeSpanWork>(tick.tree_span_count);
        p.total = places.end();
        return p;
    }

    // Of a block that has so much to do at once: as few rounds as can be, and those full.
    static std::uint32_t threads_for(std::size_t work, std::uint32_t most) {
        const std::size_t rounds = (work + most - 1) / most, threads = (work + rounds - 1) / rounds;
        return static_cast<std::uint32_t>(std::min<std::size_t>(most, (threads + kWarp - 1) / kWarp * kWarp));
    }

    static void clear(Plan& plan) { std::memset(static_cast<void*>(&plan), 0, sizeof(plan)); }  // and what pads it

    bool fail(RigModuleText& why) const {
        std::snprintf(why.text, sizeof(why.text), "%.60s: %.150s", failed_, cudaGetErrorString(error_));
        return false;
    }
    // Where memory is short nothing is lost: then failed_ stays null.
    bool ok(cudaError_t error, const char* what) {
        if (error == cudaSuccess) return true;
        if (error == cudaErrorMemoryAllocation && stream_ != nullptr) {
            cudaGetLastError();
            return false;
        }
        error_ = error;
        failed_ = what;
        return false;
    }

    // How many threads a block of the kernel may have; 0: it cannot be had. Loaded only when it is first recorded, a
    // kernel might break the recording.
    template <class Launch>
    std::uint32_t load(void (*kernel)(Launch)) {
        cudaFuncAttributes attributes{};
        return ok(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes")
                   ? static_cast<std::uint32_t>(attributes.maxThreadsPerBlock)
                   : 0;
    }
    bool prepare() {
        int processors = 0, on_chip_bytes = 0;
        if (!ok(cudaSetDevice(kDevice), "cudaSetDevice") ||
            !ok(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, kDevice),
                "cudaDeviceGetAttribute") ||
            !ok(cudaDeviceGetAttribute(&on_chip_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, kDevice),
                "cudaDeviceGetAttribute") ||
            !ok(cudaFuncSetAttribute(chain_kernel<OnChip::rows>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     on_chip_bytes),
                "cudaFuncSetAttribute") ||
            !ok(cudaFuncSetAttribute(chain_kernel<OnChip::all>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     on_chip_bytes),
                "cudaFuncSetAttribute") ||
            !ok(cudaFuncSetAttribute(graph_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, on_chip_bytes),
                "cudaFuncSetAttribute") ||
            !load(kinematic_kernel) || !load(tree_kernel<TreePass::prepare>) || !load(tree_kernel<TreePass::substep>) ||
            !load(tree_kernel<TreePass::finish>) || !load(joint_kernel<JointPass::prepare>) ||
            !load(joint_kernel<JointPass::warm_start>) || !load(joint_kernel<JointPass::solve>) ||
            !load(joint_kernel<JointPass::show>) || !load(joint_kernel<JointPass::refresh>) ||
            !load(joint_kernel<JointPass::relax>) || !load(joint_kernel<JointPass::sum>) ||
            !load(joint_kernel<JointPass::finish>) || !load(body_kernel<BodyPass::prepare>) ||
            !load(body_kernel<BodyPass::begin>) || !load(body_kernel<BodyPass::push>) ||
            !load(body_kernel<BodyPass::move>) || !load(body_kernel<BodyPass::refresh>) ||
            !load(body_kernel<BodyPass::end>) || !load(body_kernel<BodyPass::finish>))
            return false;
        graph_threads_ = std::min(kGraphThreads, load(graph_kernel));
        chain_threads_ = std::min({kChainThreads, load(chain_kernel<OnChip::all>), load(chain_kernel<OnChip::rows>),
                                   load(chain_kernel<OnChip::nothing>)});
        if (graph_threads_ == 0 || chain_threads_ == 0) return false;
        processors_ = static_cast<std::size_t>(processors);
        on_chip_bytes_ = static_cast<std::size_t>(on_chip_bytes);
        for (cudaEvent_t& mark : marks_) {
            if (!ok(cudaEventCreateWithFlags(&mark, cudaEventDefault), "cudaEventCreateWithFlags")) return false;
        }
        return ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    }

    // False: there is no room, or the device is lost (failed_ is set).
    bool grow(Memory& memory, std::size_t bytes) {
        if (bytes <= memory.bytes) return true;
        std::size_t free = 0, total = 0;
        forget_graph();
        if (!ok(cudaFree(std::exchange(memory, {}).at), "cudaFree") ||
            !ok(cudaMemGetInfo(&free, &total), "cudaMemGetInfo"))
            return false;
        if (bytes > free || free - bytes < kSpareBytes) return false;
        const std::size_t more = bytes + bytes / 2;  // bodies that come one by one need no memory each
        if (more <= free && free - more >= kSpareBytes) bytes = more;
        void* at = nullptr;
        if (!ok(cudaMalloc(&at, bytes), "cudaMalloc")) return false;
        memory = {static_cast<unsigned char*>(at), bytes};
        return true;
    }
    bool grow_staging(std::size_t bytes) {
        if (bytes <= staging_.bytes) return true;
        forget_graph();
        if (!ok(cudaFreeHost(std::exchange(staging_, {}).at), "cudaFreeHost")) return false;
        bytes += bytes / 2;
        void* at = nullptr;
        if (!ok(cudaMallocHost(&at, bytes), "cudaMallocHost")) return false;
        staging_ = {static_cast<unsigned char*>(at), bytes};
        return true;
    }
    bool reserve_flags(std::size_t blocks) {
        if (blocks <= changed_blocks_) return true;
        changed_.reset(new (std::nothrow) bool[blocks]);
        changed_blocks_ = changed_ ? blocks : 0;
        return changed_ != nullptr;  // else there is no room, and failed_ stays null
    }
    bool grow_state(const StateParts& parts) {
        const std::size_t bytes = parts.total;
        if (bytes > staging_.bytes || bytes > state_.bytes || std::memcmp(&parts, &parts_, sizeof(parts)) != 0)
            same_ = 0;
        parts_ = parts;
        return grow_staging(bytes) && grow(state_, bytes);
    }

    template <class T>
    bool put(std::size_t at, const T* from, std::size_t count) {
        return count == 0 ||
               ok(cudaMemcpyAsync(topology_.at + at, from, sizeof(T) * count, cudaMemcpyHostToDevice, stream_),
                  "copy of rigs");
    }
    bool upload_topology(const AloneTick& tick, const TopologyParts& parts) {
        if (has_layout_ && layout_ == tick.layout) return true;
        has_layout_ = false;
        scratch_bodies_ = 0;
        if (!grow(topology_, parts.total)) return false;
        // In front of planes, behind them and where nothing is are zeros.
        if (!put(parts.slots, tick.slots, tick.slot_count) || !put(parts.extras, tick.extras, tick.slot_count) ||
            !put(parts.tree_slots, tick.tree_slots, tick.tree_slot_count) ||
            !put(parts.tree_spans, tick.tree_spans, tick.tree_span_count) ||
            !put(parts.joints, tick.graph_joints, tick.graph_joint_groups) ||
            !put(parts.bodies, tick.graph_bodies, tick.graph_body_groups) ||
            !put(parts.sides, tick.graph_sides, tick.graph_side_groups) ||
            !put(parts.steps, tick.graph_steps, tick.graph_step_count) ||
            (parts.total > parts.planes &&
             !ok(cudaMemsetAsync(topology_.at + parts.planes, 0, parts.total - parts.planes, stream_),
                 "zeros of planes")) ||
            !ok(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"))
            return false;
        layout_ = tick.layout;
        has_layout_ = true;
        return true;
    }
    // Bodies that are not dynamic have no inverse inertia, and nobody writes it, nor forces.
    bool clear_scratch(const AloneTick& tick, const ScratchParts& parts) {
        if (parts.total > scratch_.bytes) scratch_bodies_ = 0;
        if (!grow(scratch_, parts.total)) return false;
        if (scratch_bodies_ == tick.body_count) return true;
        if (!ok(cudaMemsetAsync(scratch_.at, 0, parts.tree_work, stream_), "zeros of bodies")) return false;
        scratch_bodies_ = tick.body_count;
        return true;
    }

    // Of the host's state: where it lies in staging_, and with the world.
    struct Part {
        std::size_t at;
        void* of;
        std::size_t bytes;
        std::size_t blocks() const { return (bytes + kBlockBytes - 1) / kBlockBytes; }
    };
    // The first four come back.
    using Parts = std::array<Part, 10>;
    static constexpr std::size_t kPartsBack = 4;
    static Parts host_parts(const AloneTick& tick, const StateParts& p) {
        const bool others = tick.trees_alone || tick.graphs_alone;
        const auto part = [](std::size_t at, const auto* of, std::size_t count) {
            return Part{at, const_cast<void*>(static_cast<const void*>(of)), count * sizeof(*of)};
        };
        return {part(p.pose, tick.pose, tick.body_count),
                part(p.velocity, tick.velocity, tick.body_count),
                part(p.force, tick.force, tick.force_rows),
                part(p.mean_n, tick.mean_n, tick.breakable ? tick.force_rows : 0),
                part(p.bundles, tick.bundles, tick.bundle_count),
                part(p.trees, tick.trees, others ? tick.tree_count : 0),
                part(p.graphs, tick.graphs, others ? tick.graph_count : 0),
                part(p.mass_of, tick.mass_of, others ? tick.body_count : 0),
                part(p.mass, tick.mass, others ? tick.mass_count : 0),
                part(p.kinematic, tick.kinematic, others ? tick.kinematic_count : 0)};
    }
    // Work for each block of the first so many parts, by all workers: work(its number, part, where in it, how many
    // bytes).
    template <class Work>
    static void each_block(const AloneTick& tick, const Parts& parts, std::size_t count, const Work& work) {
        struct Job {
            const Parts& parts;
            const Work& work;
        } job{parts, work};
        std::size_t blocks = 0;
        for (std::size_t p = 0; p < count; ++p) blocks += parts[p].blocks();
        tick.run(
            tick.executor, static_cast<std::uint32_t>(blocks),
            [](void* context, std::uint32_t block) {
                const Job& j = *static_cast<const Job*>(context);
                const Part* part = j.parts.data();
                std::size_t k = block;
                for (; k >= part->blocks(); ++part) k -= part->blocks();
                k *= kBlockBytes;
                j.work(block, *part, k, std::min(kBlockBytes, part->bytes - k));
            },
            &job);
    }

    // The device has the same as staging_ in the first same_ bytes, of parts that lie where they did. What is as it was
    // is not sent.
    bool send_state(const AloneTick& tick, const Parts& parts) {
        std::size_t blocks = 0;
        for (const Part& part : parts) blocks += part.blocks();
        if (!reserve_flags(blocks)) return false;
        each_block(tick, parts, parts.size(),
                   [&](std::size_t block, const Part& part, std::size_t k, std::size_t bytes) {
                       const unsigned char* const source = static_cast<const unsigned char*>(part.of) + k;
                       unsigned char* const kept = staging_.at + part.at + k;
                       changed_[block] = part.at + k + bytes > same_ || std::memcmp(kept, source, bytes) != 0;
                       if (changed_[block]) std::memcpy(kept, source, bytes);
                   });
        std::size_t block = 0;
        for (const Part& part : parts) {
            for (std::size_t k = 0, end = block + part.blocks(); block < end;) {
                const std::size_t first = k;
                for (; block < end && changed_[block]; ++block) k += kBlockBytes;
                const std::size_t from = part.at + first, bytes = std::min(k, part.bytes) - first;
                if (k > first &&
                    !ok(cudaMemcpyAsync(state_.at + from, staging_.at + from, bytes, cudaMemcpyHostToDevice, stream_),
                        "copy to the device"))
                    return false;
                for (; block < end && !changed_[block]; ++block) k += kBlockBytes;
            }
        }
        return true;
    }
    void take_back(const AloneTick& tick, const Parts& parts) const {
        each_block(tick, parts, kPartsBack, [&](std::size_t, const Part& part, std::size_t k, std::size_t bytes) {
            std::memcpy(static_cast<unsigned char*>(part.of) + k, staging_.at + part.at + k, bytes);
        });
    }

    DeviceAnswer given_up() const { return failed_ == nullptr ? DeviceAnswer::declined : DeviceAnswer::lost; }

    DeviceAnswer attempt(const AloneTick& tick, DeviceTimes& times) {
        const StateParts parts = state_parts(tick);
        const TopologyParts topology = topology_parts(tick);
        const ScratchParts scratch = scratch_parts(tick);
        const bool others = tick.trees_alone || tick.graphs_alone;
        if (!grow_state(parts) || !upload_topology(tick, topology) || (others && !clear_scratch(tick, scratch)))
            return given_up();

        Plan plan;
        clear(plan);
        if (tick.alone_count > 0 && !plan_chains(tick, parts, topology, plan)) return given_up();
        if (others) plan_others(tick, parts, topology, scratch, plan);
        plan.substeps = tick.substeps;
        plan.from = state_.at;
        plan.to = staging_.at;
        plan.back = parts.back;
        const Parts host = host_parts(tick, parts);
        const bool sent = mark(kBegin, cudaEventRecordDefault) && send_state(tick, host);
        same_ = 0;  // until all is there
        if (!sent || !launch(plan) || !ok(cudaStreamSynchronize(stream_), "cudaStreamSynchronize")) return given_up();
        DeviceTimes taken;
        if (!read_times(taken)) return given_up();
        same_ = parts.total;

        take_back(tick, host);
        times = taken;
        return DeviceAnswer::done;
    }

    // Member by member: what pads a whole one that is assigned is anything.
    template <class Launch>
    void read_state(const AloneTick& tick, const StateParts& parts, Launch& out) const {
        out.context.step = tick.step;
        out.context.pose = reinterpret_cast<PoseRecord*>(state_.at + parts.pose);
        out.context.velocity = reinterpret_cast<VelocityRecord*>(state_.at + parts.velocity);
        out.context.body_count = tick.body_count;
        out.forces.force = reinterpret_cast<RigForce*>(state_.at + parts.force);
        out.forces.mean_n = reinterpret_cast<float*>(state_.at + parts.mean_n);
    }

    bool plan_chains(const AloneTick& tick, const StateParts& parts, const TopologyParts& topology, Plan& plan) {
        const auto bytes = [&](std::uint32_t b) {
            return sizeof(ChainHead) + (std::size_t(tick.bundles[b].links) + 1) * sizeof(ChainRows);
        };
        const std::size_t most[] = {
            ~std::size_t(0), on_chip_bytes_,
            (on_chip_bytes_ - std::min(on_chip_bytes_, kChainBlocks * kBlockOverhead)) / kChainBlocks};
        std::uint32_t begin[4] = {0, 0, 0, tick.bundle_count};  // the longest come first
        for (std::uint32_t k = 1; k < 3; ++k) {
            for (begin[k] = begin[k - 1]; begin[k] < tick.bundle_count && bytes(begin[k]) > most[k]; ++begin[k]) {
            }
        }
        const std::size_t state_bytes = sizeof(ChainState) * tick.slot_count;
        if (!grow(work_, state_bytes + (begin[1] > 0 ? sizeof(ChainRows) * tick.slot_count : 0))) return false;
        for (std::uint32_t k = 0; k < 3; ++k) {
            Plan::Chains& chains = plan.chains[k];
            chains.blocks = begin[k + 1] - begin[k];
            if (chains.blocks == 0) continue;
            const std::size_t slots = std::size_t(tick.bundles[begin[k]].links) + 1;
            chains.threads = threads_for(slots * kBundleLanes, chain_threads_);
            chains.on_chip = k == 0 ? OnChip::nothing : OnChip::rows;
            chains.shared = k == 0 ? sizeof(ChainHead) : bytes(begin[k]);
            const std::size_t all = sizeof(ChainHead) + slots * (sizeof(ChainRows) + sizeof(ChainState));
            if (k > 0 && chains.blocks <= kWholeChainBlocks * processors_ &&
                kWholeChainBlocks * (all + kBlockOverhead) <= on_chip_bytes_) {
                chains.on_chip = OnChip::all;
                chains.shared = all;
            }
            read_state(tick, parts, chains.launch);
            chains.launch.substeps = tick.substeps;
            chains.launch.bundles = reinterpret_cast<const ChainBundle*>(state_.at + parts.bundles) + begin[k];
            chains.launch.slots = reinterpret_cast<const ChainSlot*>(topology_.at + topology.slots);
            chains.launch.extras = reinterpret_cast<const ChainExtras*>(topology_.at + topology.extras);
            chains.launch.state = reinterpret_cast<ChainState*>(work_.at);
            if (k == 0) chains.launch.rows = reinterpret_cast<ChainRows*>(work_.at + state_bytes);
        }
        return true;
    }
    void plan_others(const AloneTick& tick, const StateParts& parts, const TopologyParts& topology,
                     const ScratchParts& scratch, Plan& plan) {
        plan.trees = tick.trees_alone;
        plan.graphs = tick.graphs_alone;
        RigLaunch& rigs = plan.rigs;
        rigs.on_chip_bytes = static_cast<std::uint32_t>(on_chip_bytes_);
        for (std::uint32_t g = 0; g < tick.graph_count; ++g) {
            const Graph& graph = tick.graphs[g];
            if (stays_on_chip(rigs, graph)) {
                plan.graph_blocks = tick.graph_count;
                plan.graph_shared = std::max(plan.graph_shared, bytes_of(graph));
                plan.graph_threads =
                    std::max(plan.graph_threads, threads_for(std::size_t(graph.joints) * kBundleLanes, graph_threads_));
            } else {
                plan.wide_graphs = true;
                plan.most_steps = std::max(plan.most_steps, graph.steps);
            }
        }
        read_state(tick, parts, rigs);
        rigs.pose = rigs.context.pose;
        rigs.context.pose = reinterpret_cast<PoseRecord*>(scratch_.at + scratch.pose);
        rigs.context.delta = reinterpret_cast<DeltaRecord*>(scratch_.at + scratch.delta);
        rigs.context.inertia = reinterpret_cast<InertiaRecord*>(scratch_.at + scratch.inertia);
        rigs.context.mass_of = reinterpret_cast<const std::uint32_t*>(state_.at + parts.mass_of);
        rigs.context.mass = reinterpret_cast<const MassRecord*>(state_.at + parts.mass);
        if (tick.pushed)
            rigs.context.force = rigs.context.torque = reinterpret_cast<const Vec3*>(scratch_.at + scratch.no_force);
        rigs.iterations = tick.iterations;
        rigs.kinematic_count = tick.kinematic_count;
        rigs.kinematic = reinterpret_cast<const std::uint32_t*>(state_.at + parts.kinematic);
        rigs.tree_count = tick.tree_count;
        rigs.joint_groups = tick.graph_joint_groups;
        rigs.body_groups = tick.graph_body_groups;
        rigs.trees = reinterpret_cast<const TreeBundle*>(state_.at + parts.trees);
        rigs.tree_slots = reinterpret_cast<const TreeSlot*>(topology_.at + topology.tree_slots);
        rigs.tree_spans = reinterpret_cast<const TreeSpan*>(topology_.at + topology.tree_spans);
        rigs.tree_work = reinterpret_cast<TreeWork*>(scratch_.at + scratch.tree_work);
        rigs.tree_span_work = reinterpret_cast<TreeSpanWork*>(scratch_.at + scratch.tree_span_work);
        rigs.graphs = reinterpret_cast<const Graph*>(state_.at + parts.graphs);
        rigs.joints = reinterpret_cast<GraphJoints*>(topology_.at + topology.joints);
        rigs.bodies = reinterpret_cast<GraphBodies*>(topology_.at + topology.bodies);
        rigs.sides = reinterpret_cast<GraphSides*>(topology_.at + topology.sides);
        rigs.steps = reinterpret_cast<const GraphStep*>(topology_.at + topology.steps);
        rigs.planes = reinterpret_cast<float*>(topology_.at + topology.planes);
        rigs.changes = reinterpret_cast<float*>(topology_.at + topology.changes);
    }

    void forget_graph() {
        if (recorded_ != nullptr) cudaGraphExecDestroy(std::exchange(recorded_, nullptr));
    }
    bool launch(const Plan& plan) {
        const std::size_t nodes =
            plan.substeps * (13 + (plan.rigs.iterations + std::size_t{1}) * plan.most_steps * 2) + 10;
        if (nodes > kMostNodes) return enqueue(plan, cudaEventRecordDefault);
        if (recorded_ == nullptr || std::memcmp(&plan, &plan_, sizeof(plan)) != 0) {
            forget_graph();
            if (!record(plan)) return false;
            std::memcpy(static_cast<void*>(&plan_), &plan, sizeof(plan));
        }
        return ok(cudaGraphLaunch(recorded_, stream_), "cudaGraphLaunch");
    }
    bool record(const Plan& plan) {
        if (!ok(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture"))
            return false;
        const bool all = enqueue(plan, cudaEventRecordExternal);
        cudaGraph_t graph = nullptr;
        const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);  // whatever happened before
        const bool made = all && ok(ended, "cudaStreamEndCapture") &&
                          ok(cudaGraphInstantiate(&recorded_, graph, 0), "cudaGraphInstantiate");
        if (graph != nullptr) cudaGraphDestroy(graph);
        if (!made) recorded_ = nullptr;
        return made;
    }

    bool run(void (*kernel)(RigLaunch), const RigLaunch& launch, std::uint32_t threads) {
        RigLaunch copy = launch;
        void* arguments[] = {&copy};
        return threads == 0 || ok(cudaLaunchKernel(kernel, dim3((threads + kPassThreads - 1) / kPassThreads),
                                                   dim3(kPassThreads), arguments, 0, stream_),
                                  "launch");
    }
    bool mark(Mark which, unsigned how) {
        return ok(cudaEventRecordWithFlags(marks_[which], stream_, how), "cudaEventRecordWithFlags");
    }
    bool read_times(DeviceTimes& times) {
        const auto between = [&](Mark from, Mark to, float& ms) {
            return ok(cudaEventElapsedTime(&ms, marks_[from], marks_[to]), "cudaEventElapsedTime");
        };
        return between(kBegin, kSent, times.send_ms) && between(kSent, kSolved, times.solve_ms) &&
               between(kSolved, kBack, times.return_ms);
    }
    bool enqueue(const Plan& plan, unsigned marking) {
        if (!mark(kSent, marking)) return false;
        for (const Plan::Chains& chains : plan.chains) {
            if (chains.blocks == 0) continue;
            ChainLaunch copy = chains.launch;
            void* arguments[] = {&copy};
            void (*const kernel)(ChainLaunch) = chains.on_chip == OnChip::all    ? chain_kernel<OnChip::all>
                                                : chains.on_chip == OnChip::rows ? chain_kernel<OnChip::rows>
                                                                                 : chain_kernel<OnChip::nothing>;
            if (!ok(cudaLaunchKernel(kernel, dim3(chains.blocks), dim3(chains.threads), arguments, chains.shared,
                                     stream_),
                    "launch"))
                return false;
        }
        if (plan.trees || plan.graphs) {
            const RigLaunch& rigs = plan.rigs;
            if (!ok(cudaMemcpyAsync(rigs.context.pose, rigs.pose, sizeof(PoseRecord) * rigs.context.body_count,
                                    cudaMemcpyDeviceToDevice, stream_),
                    "copy of poses"))
                return false;
            const std::uint32_t trees = plan.trees ? rigs.tree_count * kBundleLanes : 0;
            if (!run(tree_kernel<TreePass::prepare>, rigs, trees) || (plan.graphs && !prepare_graphs(rigs)))
                return false;
            for (std::uint32_t substep = 0; substep < plan.substeps; ++substep) {
                if (!run(kinematic_kernel, rigs, rigs.kinematic_count) ||
                    !run(tree_kernel<TreePass::substep>, rigs, trees) ||
                    (plan.graphs && !(substep_on_chip(plan) && (!plan.wide_graphs || substep_graphs(plan)))))
                    return false;
            }
            if (!run(tree_kernel<TreePass::finish>, rigs, trees) || (plan.graphs && !finish_graphs(rigs))) return false;
        }
        return mark(kSolved, marking) &&
               ok(cudaMemcpyAsync(plan.to, plan.from, plan.back, cudaMemcpyDeviceToHost, stream_),
                  "copy from the device") &&
               mark(kBack, marking);
    }

    // A graph a block.
    bool substep_on_chip(const Plan& plan) {
        RigLaunch copy = plan.rigs;
        void* arguments[] = {&copy};
        return plan.graph_blocks == 0 ||
               ok(cudaLaunchKernel(graph_kernel, dim3(plan.graph_blocks), dim3(plan.graph_threads), arguments,
                                   plan.graph_shared, stream_),
                  "launch");
    }
    // All joints or all bodies of graphs that are not on chip.
    template <JointPass kPass>
    bool joints(const RigLaunch& rigs) {
        return run(joint_kernel<kPass>, rigs, rigs.joint_groups * kBundleLanes);
    }
    template <BodyPass kPass>
    bool bodies(const RigLaunch& rigs) {
        return run(body_kernel<kPass>, rigs, rigs.body_groups * kBundleLanes);
    }
    template <JointPass kPass>
    bool iterate(RigLaunch rigs, std::uint32_t steps) {
        for (rigs.step = 0; rigs.step < steps; ++rigs.step) {
            if (!joints<kPass>(rigs) || !bodies<BodyPass::push>(rigs)) return false;
        }
        return true;
    }
    bool prepare_graphs(RigLaunch rigs) {
        rigs.on_chip_bytes = 0;  // none is yet
        return bodies<BodyPass::prepare>(rigs) && joints<JointPass::prepare>(rigs) && bodies<BodyPass::refresh>(rigs) &&
               joints<JointPass::refresh>(rigs);
    }
    bool substep_graphs(const Plan& plan) {
        const RigLaunch& rigs = plan.rigs;
        if (!bodies<BodyPass::begin>(rigs) || !joints<JointPass::warm_start>(rigs) || !bodies<BodyPass::push>(rigs))
            return false;
        for (std::uint32_t k = 0; k < rigs.iterations; ++k) {
            if (!iterate<JointPass::solve>(rigs, plan.most_steps)) return false;
        }
        return bodies<BodyPass::move>(rigs) && joints<JointPass::show>(rigs) && bodies<BodyPass::refresh>(rigs) &&
               joints<JointPass::refresh>(rigs) && iterate<JointPass::relax>(rigs, plan.most_steps) &&
               joints<JointPass::sum>(rigs) && bodies<BodyPass::end>(rigs);
    }
    bool finish_graphs(RigLaunch rigs) {
        rigs.on_chip_bytes = 0;
        return joints<JointPass::finish>(rigs) && bodies<BodyPass::finish>(rigs);
    }

    cudaStream_t stream_ = nullptr;
    cudaGraphExec_t recorded_ = nullptr;  // of plan_
    cudaEvent_t marks_[kMarks] = {};
    Plan plan_;
    std::size_t processors_ = 0, on_chip_bytes_ = 0;
    std::uint32_t graph_threads_ = 0, chain_threads_ = 0;
    Memory state_, topology_, work_, scratch_, staging_;  // the last is the host's
    StateParts parts_{};
    std::size_t same_ = 0;
    std::unique_ptr<bool[]> changed_;  // by block, of this tick
    std::size_t changed_blocks_ = 0;
    std::uint32_t scratch_bodies_ = 0;
    std::uint64_t layout_ = 0;
    bool has_layout_ = false;
    const char* failed_ = nullptr;
    cudaError_t error_ = cudaSuccess;
};

bool find(RigModuleText* out) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        std::snprintf(out->text, sizeof(out->text), "no CUDA device: %.200s",
                      error != cudaSuccess ? cudaGetErrorString(error) : "none is there");
        return false;
    }
    cudaDeviceProp properties{};
    if (const cudaError_t asked = cudaGetDeviceProperties(&properties, kDevice); asked != cudaSuccess) {
        std::snprintf(out->text, sizeof(out->text), "the CUDA device does not answer: %.200s",
                      cudaGetErrorString(asked));
        return false;
    }
    // The kernel must be there for this card.
    cudaFuncAttributes attributes{};
    cudaError_t loaded = cudaSetDevice(kDevice);
    if (loaded == cudaSuccess) loaded = cudaFuncGetAttributes(&attributes, chain_kernel<OnChip::rows>);
    if (loaded != cudaSuccess) {
        std::snprintf(out->text, sizeof(out->text), "%.100s cannot be used: %.120s", properties.name,
                      cudaGetErrorString(loaded));
        return false;
    }
    std::snprintf(out->text, sizeof(out->text), "%.200s, %zu MiB", properties.name, properties.totalGlobalMem >> 20);
    return true;
}
void* open(RigModuleText* why) {
    auto* const session = new (std::nothrow) Session;
    if (session == nullptr) {
        std::snprintf(why->text, sizeof(why->text), "no memory");
        return nullptr;
    }
    if (session->open(*why)) return session;
    delete session;
    return nullptr;
}
DeviceAnswer solve(void* session, const AloneTick* tick, DeviceTimes* times, RigModuleText* why) {
    return static_cast<Session*>(session)->solve(*tick, *times, *why);
}
void close(void* session) { delete static_cast<Session*>(session); }

constexpr RigModule kRigModule{rig_module_layout(), kEngineVersion, find, open, solve, close};

ORRERY_LANES_END

extern "C" __attribute__((visibility("default"))) const orrery::sim::RigModule* orrery_rig_module() {
    return &orrery::sim::cuda::kRigModule;
}
