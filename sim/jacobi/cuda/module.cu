// Chains on a GPU: a thread a chain, by the code of chain-inl.h. Where the work of all chains fits in the memory on chip of as
// many blocks as there are multiprocessors it stays there for all substeps; else it lies in the device's memory, in which threads
// side by side meet words side by side.
//
// What a tick reads and writes goes to the device and back in one copy each. What is on the device is lost with it, what the
// host holds is not changed before all of the tick is there.

#include "sim/lanes/cuda_pass.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "sim/jacobi/chain-inl.h"
#include "sim/jacobi/cuda/module.h"

ORRERY_LANES_BEGIN

constexpr std::uint32_t kBlockThreads = 2 * kBundleLanes;  // a warp
constexpr std::size_t kAlign = 256;
// Rows of two bundles in the same warp must not meet in the same banks.
constexpr std::size_t kBundlePadding = 64;
constexpr std::size_t kSpareBytes = std::size_t(64) << 20;  // of the device's memory, left to others

struct AloneLaunch {
    StepContext context;
    RigForces forces;
    std::uint32_t substeps;
    const ChainBundle* bundles;
    const ChainSlot* slots;
    const ChainExtras* extras;
    const std::uint32_t* alone;
    std::uint32_t alone_count;
    unsigned char* work;     // of all slots; null: on chip
    std::size_t work_bytes;  // of a bundle on chip
};

extern __shared__ __align__(64) unsigned char on_chip[];

__global__ void solve_alone_kernel(AloneLaunch launch) {
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t at = thread / kBundleLanes, lane = thread % kBundleLanes;
    if (at >= launch.alone_count) return;
    const ChainBundle& bundle = launch.bundles[launch.alone[at]];
    if (((bundle.alone >> lane) & 1u) == 0) return;
    unsigned char* const work = launch.work != nullptr ? launch.work + bundle.slot * sizeof(AloneSlot)
                                                       : on_chip + (threadIdx.x / kBundleLanes) * launch.work_bytes;
    RigForces forces = launch.forces;
    forces.breakable = bundle.breakable;
    const ChainView chains{&bundle, launch.slots + bundle.slot, launch.extras + bundle.slot, forces, nullptr};
    solve_alone_lanes<float>(launch.context, launch.substeps, chains, reinterpret_cast<AloneSlot*>(work), nullptr, lane);
}

constexpr int kDevice = 0;

// Memory that grows and is never given back before the end.
struct Memory {
    unsigned char* at = nullptr;
    std::size_t bytes = 0;
};

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

class Session {
  public:
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        cudaSetDevice(kDevice);
        for (Memory* m : {&state_, &topology_, &work_}) cudaFree(m->at);
        cudaFreeHost(staging_.at);
        if (stream_ != nullptr) cudaStreamDestroy(stream_);
    }

    // Makes the kernel ready, so that the first tick need not wait for it.
    bool open(RigModuleText& why) { return prepare() || fail(why); }

    DeviceAnswer solve(const AloneTick& tick, RigModuleText& why) {
        failed_ = nullptr;
        error_ = cudaSuccess;
        const DeviceAnswer answer = ok(cudaSetDevice(kDevice), "cudaSetDevice") ? attempt(tick) : given_up();
        if (answer == DeviceAnswer::lost) fail(why);
        return answer;
    }

  private:
    // Where the parts of the state begin, in the device's memory and in the host's copy of it. The first three come back.
    struct Parts {
        std::size_t pose, velocity, force, mean_n, back, bundles, alone, total;
    };
    static Parts parts_of(const AloneTick& tick) {
        Parts p{};
        std::size_t end = 0;
        const auto part = [&end](std::size_t bytes) {
            const std::size_t begin = end;
            end += aligned(bytes);
            return begin;
        };
        p.pose = part(sizeof(PoseRecord) * tick.body_count);
        p.velocity = part(sizeof(VelocityRecord) * tick.body_count);
        p.force = part(sizeof(RigForce) * tick.force_rows);
        p.mean_n = part(tick.breakable ? sizeof(float) * tick.force_rows : 0);
        p.back = end;
        p.bundles = part(sizeof(ChainBundle) * tick.bundle_count);
        p.alone = part(sizeof(std::uint32_t) * tick.alone_count);
        p.total = end;
        return p;
    }

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

    bool prepare() {
        int processors = 0, on_chip_bytes = 0;
        if (!ok(cudaSetDevice(kDevice), "cudaSetDevice") ||
            !ok(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, kDevice), "cudaDeviceGetAttribute") ||
            !ok(cudaDeviceGetAttribute(&on_chip_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, kDevice), "cudaDeviceGetAttribute") ||
            !ok(cudaFuncSetAttribute(solve_alone_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, on_chip_bytes), "cudaFuncSetAttribute"))
            return false;
        processors_ = static_cast<std::size_t>(processors);
        on_chip_bytes_ = static_cast<std::size_t>(on_chip_bytes);
        return ok(cudaStreamCreate(&stream_), "cudaStreamCreate");
    }

    // False: there is no room, or the device is lost (failed_ is set).
    bool grow(Memory& memory, std::size_t bytes) {
        if (bytes <= memory.bytes) return true;
        std::size_t free = 0, total = 0;
        if (!ok(cudaFree(std::exchange(memory, {}).at), "cudaFree") || !ok(cudaMemGetInfo(&free, &total), "cudaMemGetInfo")) return false;
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
        if (!ok(cudaFreeHost(std::exchange(staging_, {}).at), "cudaFreeHost")) return false;
        bytes += bytes / 2;
        void* at = nullptr;
        if (!ok(cudaMallocHost(&at, bytes), "cudaMallocHost")) return false;
        staging_ = {static_cast<unsigned char*>(at), bytes};
        return true;
    }

    bool upload_topology(const AloneTick& tick) {
        const std::size_t slot_bytes = aligned(sizeof(ChainSlot) * tick.slot_count), extra_bytes = sizeof(ChainExtras) * tick.slot_count;
        if (has_layout_ && layout_ == tick.layout) return true;
        has_layout_ = false;
        if (!grow(topology_, slot_bytes + extra_bytes)) return false;
        if (!ok(cudaMemcpyAsync(topology_.at, tick.slots, sizeof(ChainSlot) * tick.slot_count, cudaMemcpyHostToDevice, stream_), "copy of slots") ||
            !ok(cudaMemcpyAsync(topology_.at + slot_bytes, tick.extras, extra_bytes, cudaMemcpyHostToDevice, stream_), "copy of extras") ||
            !ok(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"))
            return false;
        layout_ = tick.layout;
        has_layout_ = true;
        extras_at_ = slot_bytes;
        return true;
    }

    DeviceAnswer given_up() const { return failed_ == nullptr ? DeviceAnswer::declined : DeviceAnswer::lost; }

    DeviceAnswer attempt(const AloneTick& tick) {
        const Parts parts = parts_of(tick);
        if (!grow_staging(parts.total) || !grow(state_, parts.total) || !upload_topology(tick)) return given_up();

        AloneLaunch launch{};
        const std::size_t slots = std::size_t(tick.bundles[tick.alone[0]].links) + 1;
        launch.work_bytes = slots * sizeof(AloneSlot) + kBundlePadding;
        std::uint32_t threads = kBlockThreads;
        if (launch.work_bytes * (threads / kBundleLanes) > on_chip_bytes_) threads = kBundleLanes;
        const std::uint32_t bundles_per_block = threads / kBundleLanes;
        const std::uint32_t blocks = (tick.alone_count + bundles_per_block - 1) / bundles_per_block;
        std::size_t shared = launch.work_bytes * bundles_per_block;
        if (shared > on_chip_bytes_ || blocks > processors_) {
            shared = 0;
            if (!grow(work_, sizeof(AloneSlot) * tick.slot_count)) return given_up();
            launch.work = work_.at;
        }

        unsigned char* const host = staging_.at;
        std::memcpy(host + parts.pose, tick.pose, sizeof(PoseRecord) * tick.body_count);
        std::memcpy(host + parts.velocity, tick.velocity, sizeof(VelocityRecord) * tick.body_count);
        std::memcpy(host + parts.force, tick.force, sizeof(RigForce) * tick.force_rows);
        if (tick.breakable) std::memcpy(host + parts.mean_n, tick.mean_n, sizeof(float) * tick.force_rows);
        std::memcpy(host + parts.bundles, tick.bundles, sizeof(ChainBundle) * tick.bundle_count);
        std::memcpy(host + parts.alone, tick.alone, sizeof(std::uint32_t) * tick.alone_count);

        unsigned char* const there = state_.at;
        launch.context.step = tick.step;
        launch.context.pose = reinterpret_cast<PoseRecord*>(there + parts.pose);
        launch.context.velocity = reinterpret_cast<VelocityRecord*>(there + parts.velocity);
        launch.context.body_count = tick.body_count;
        launch.forces = {reinterpret_cast<RigForce*>(there + parts.force), reinterpret_cast<float*>(there + parts.mean_n), false};
        launch.substeps = tick.substeps;
        launch.bundles = reinterpret_cast<const ChainBundle*>(there + parts.bundles);
        launch.slots = reinterpret_cast<const ChainSlot*>(topology_.at);
        launch.extras = reinterpret_cast<const ChainExtras*>(topology_.at + extras_at_);
        launch.alone = reinterpret_cast<const std::uint32_t*>(there + parts.alone);
        launch.alone_count = tick.alone_count;
        void* arguments[] = {&launch};
        if (!ok(cudaMemcpyAsync(there, host, parts.total, cudaMemcpyHostToDevice, stream_), "copy to the device") ||
            !ok(cudaLaunchKernel(solve_alone_kernel, dim3(blocks), dim3(threads), arguments, shared, stream_), "launch") ||
            !ok(cudaMemcpyAsync(host, there, parts.back, cudaMemcpyDeviceToHost, stream_), "copy from the device") ||
            !ok(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"))
            return given_up();

        std::memcpy(tick.pose, host + parts.pose, sizeof(PoseRecord) * tick.body_count);
        std::memcpy(tick.velocity, host + parts.velocity, sizeof(VelocityRecord) * tick.body_count);
        std::memcpy(tick.force, host + parts.force, sizeof(RigForce) * tick.force_rows);
        if (tick.breakable) std::memcpy(tick.mean_n, host + parts.mean_n, sizeof(float) * tick.force_rows);
        return DeviceAnswer::done;
    }

    cudaStream_t stream_ = nullptr;
    std::size_t processors_ = 0, on_chip_bytes_ = 0;
    Memory state_, topology_, work_, staging_;  // the last is the host's
    std::size_t extras_at_ = 0;
    std::uint64_t layout_ = 0;
    bool has_layout_ = false;
    const char* failed_ = nullptr;
    cudaError_t error_ = cudaSuccess;
};

bool find(RigModuleText* out) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        std::snprintf(out->text, sizeof(out->text), "no CUDA device: %.200s", error != cudaSuccess ? cudaGetErrorString(error) : "none is there");
        return false;
    }
    cudaDeviceProp properties{};
    if (const cudaError_t asked = cudaGetDeviceProperties(&properties, kDevice); asked != cudaSuccess) {
        std::snprintf(out->text, sizeof(out->text), "the CUDA device does not answer: %.200s", cudaGetErrorString(asked));
        return false;
    }
    // The kernel must be there for this card.
    cudaFuncAttributes attributes{};
    cudaError_t loaded = cudaSetDevice(kDevice);
    if (loaded == cudaSuccess) loaded = cudaFuncGetAttributes(&attributes, solve_alone_kernel);
    if (loaded != cudaSuccess) {
        std::snprintf(out->text, sizeof(out->text), "%.100s cannot be used: %.120s", properties.name, cudaGetErrorString(loaded));
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
DeviceAnswer solve(void* session, const AloneTick* tick, RigModuleText* why) { return static_cast<Session*>(session)->solve(*tick, *why); }
void close(void* session) { delete static_cast<Session*>(session); }

constexpr RigModule kRigModule{rig_module_layout(), kEngineVersion, find, open, solve, close};

ORRERY_LANES_END

extern "C" __attribute__((visibility("default"))) const orrery::sim::RigModule* orrery_rig_module() { return &orrery::sim::cuda::kRigModule; }
