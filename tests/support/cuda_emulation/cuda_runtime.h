// As much of CUDA's runtime as sim/rigs/cuda/module.cu asks for, on the calling thread of a CPU: threads of a block and
// blocks one after the other, forwards or backwards, the device's memory of the heap. A block whose threads wait for
// each other has one. Every call can be made to fail, as it does once a device is lost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __host__
#define __device__
#define __global__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define ORRERY_IN_BLOCK_ORDER(k, count) (cuda_emulation::device.backwards ? (count)-1 - (k) : (k))

struct dim3 {
    unsigned x, y = 1, z = 1;
    explicit dim3(unsigned n) : x(n) {}
};
enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorDevicesUnavailable };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaFuncAttributes {
    int maxThreadsPerBlock;
};
struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem;
};
using cudaStream_t = int*;
using cudaGraph_t = std::vector<std::function<cudaError_t()>>*;
using cudaGraphExec_t = cudaGraph_t;
using cudaEvent_t = std::size_t*;  // when: calls since the program began

namespace cuda_emulation {

constexpr std::size_t kMostOnChipBytes = 256 * 1024,
                      kFewOnChipBytes = 64;  // that a block without its work on chip may have there, too

struct Device {
    unsigned calls_left = ~0u;  // after which the device is lost; ~0: never
    int processors = 4;
    int on_chip_bytes = 64 * 1024;  // at most kMostOnChipBytes
    std::size_t memory_bytes = std::size_t(1) << 30, used_bytes = 0;
    bool backwards = false;                       // the last thread of a launch first
    unsigned launches = 0, on_chip_launches = 0;  // of kernels, counted
    unsigned uploads = 0, recordings = 0, graph_launches = 0;
    std::size_t uploaded_bytes = 0;
};
inline Device device;
inline int stream;
inline cudaGraph_t recording = nullptr;
inline unsigned graphs = 0;  // that are there
inline std::size_t now = 0;
unsigned char* on_chip_memory();

// Every call of the runtime.
inline bool lost() {
    if (device.calls_left == 0) return true;
    if (device.calls_left != ~0u) --device.calls_left;
    return false;
}
// The sizes of blocks of the device's memory lie before them.
constexpr std::size_t kHead = 256;

}  // namespace cuda_emulation

inline thread_local dim3 blockIdx(0), blockDim(0), threadIdx(0);
inline void __syncthreads() {
    if (blockDim.x != 1) std::abort();
}
inline unsigned atomicOr(unsigned* at, unsigned bits) {
    const unsigned had = *at;
    *at |= bits;
    return had;
}

inline const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorDevicesUnavailable ? "the device is lost" : "an error";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

#define CUDA_EMULATION_CALL \
    if (cuda_emulation::lost()) return cudaErrorDevicesUnavailable

inline cudaError_t cudaGetDeviceCount(int* count) {
    CUDA_EMULATION_CALL;
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) {
    CUDA_EMULATION_CALL;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
    CUDA_EMULATION_CALL;
    std::strcpy(out->name, "emulated");
    out->totalGlobalMem = cuda_emulation::device.memory_bytes;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    CUDA_EMULATION_CALL;
    *value = attribute == cudaDevAttrMultiProcessorCount ? cuda_emulation::device.processors
                                                         : cuda_emulation::device.on_chip_bytes;
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int) {
    CUDA_EMULATION_CALL;
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, Kernel*) {
    CUDA_EMULATION_CALL;
    out->maxThreadsPerBlock = 1;
    return cudaSuccess;
}
constexpr unsigned cudaStreamNonBlocking = 1;
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
    CUDA_EMULATION_CALL;
    *out = &cuda_emulation::stream;
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
    CUDA_EMULATION_CALL;
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    CUDA_EMULATION_CALL;
    *total = cuda_emulation::device.memory_bytes;
    *free = *total - cuda_emulation::device.used_bytes;
    return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** out, std::size_t bytes) {
    CUDA_EMULATION_CALL;
    auto* const block = static_cast<unsigned char*>(
        std::aligned_alloc(cuda_emulation::kHead,
                           (bytes + 2 * cuda_emulation::kHead - 1) / cuda_emulation::kHead * cuda_emulation::kHead));
    std::memcpy(block, &bytes, sizeof(bytes));
    std::memset(block + cuda_emulation::kHead, 0xff, bytes);  // NaNs: whoever reads what nobody wrote is seen
    cuda_emulation::device.used_bytes += bytes;
    *out = block + cuda_emulation::kHead;
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* at) {  // of a lost device, too: the process goes on
    if (at != nullptr) {
        auto* const block = static_cast<unsigned char*>(at) - cuda_emulation::kHead;
        std::size_t bytes = 0;
        std::memcpy(&bytes, block, sizeof(bytes));
        cuda_emulation::device.used_bytes -= bytes;
        std::free(block);
    }
    return cuda_emulation::lost() ? cudaErrorDevicesUnavailable : cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** out, std::size_t bytes) {
    CUDA_EMULATION_CALL;
    *out = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* at) {
    std::free(at);
    return cuda_emulation::lost() ? cudaErrorDevicesUnavailable : cudaSuccess;
}

namespace cuda_emulation {

// At once, or once for each launch of the graph that is being recorded.
inline cudaError_t enqueue(std::function<cudaError_t()> work) {
    if (recording == nullptr) return work();
    if (lost()) return cudaErrorDevicesUnavailable;
    recording->push_back(std::move(work));
    return cudaSuccess;
}

}  // namespace cuda_emulation

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    return cuda_emulation::enqueue([=] {
        // A device that is lost in a copy leaves half of it.
        const bool lost = cuda_emulation::lost();
        std::memcpy(to, from, lost ? bytes / 2 : bytes);
        if (kind == cudaMemcpyHostToDevice)
            ++cuda_emulation::device.uploads, cuda_emulation::device.uploaded_bytes += bytes;
        return lost ? cudaErrorDevicesUnavailable : cudaSuccess;
    });
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
    return cuda_emulation::enqueue([=] {
        if (cuda_emulation::lost()) return cudaErrorDevicesUnavailable;
        std::memset(to, value, bytes);
        return cudaSuccess;
    });
}
template <class Argument>
cudaError_t cudaLaunchKernel(void (*kernel)(Argument), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t) {
    const Argument argument = *static_cast<Argument*>(arguments[0]);
    return cuda_emulation::enqueue([=] {
        CUDA_EMULATION_CALL;
        if (shared_bytes > static_cast<std::size_t>(cuda_emulation::device.on_chip_bytes))
            return cudaErrorMemoryAllocation;
        ++cuda_emulation::device.launches;
        if (shared_bytes > cuda_emulation::kFewOnChipBytes) ++cuda_emulation::device.on_chip_launches;
        blockDim = block;
        const bool backwards = cuda_emulation::device.backwards;
        for (unsigned b = 0; b < grid.x; ++b) {
            blockIdx.x = backwards ? grid.x - 1 - b : b;
            std::memset(cuda_emulation::on_chip_memory(), 0xff, shared_bytes);
            for (unsigned t = 0; t < block.x; ++t) {
                threadIdx.x = backwards ? block.x - 1 - t : t;
                kernel(argument);
            }
        }
        return cudaSuccess;
    });
}
constexpr unsigned cudaEventDefault = 0, cudaEventRecordDefault = 0, cudaEventRecordExternal = 1;
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
    CUDA_EMULATION_CALL;
    *out = new std::size_t(0);
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t, unsigned flags) {
    if ((flags == cudaEventRecordExternal) != (cuda_emulation::recording != nullptr)) std::abort();
    return cuda_emulation::enqueue([=] {
        CUDA_EMULATION_CALL;
        *event = ++cuda_emulation::now;
        return cudaSuccess;
    });
}
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
    CUDA_EMULATION_CALL;
    *ms = static_cast<float>(*to - *from);
    return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
    CUDA_EMULATION_CALL;
    cuda_emulation::recording = new std::vector<std::function<cudaError_t()>>;
    ++cuda_emulation::graphs;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* out) {
    *out = cuda_emulation::recording;
    cuda_emulation::recording = nullptr;
    ++cuda_emulation::device.recordings;
    return cuda_emulation::lost() ? cudaErrorDevicesUnavailable : cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long) {
    CUDA_EMULATION_CALL;
    *out = new std::vector<std::function<cudaError_t()>>(*graph);
    ++cuda_emulation::graphs;
    return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {  // also of a lost device
    delete graph;
    --cuda_emulation::graphs;
    return cuda_emulation::lost() ? cudaErrorDevicesUnavailable : cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return cudaGraphDestroy(graph); }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
    CUDA_EMULATION_CALL;
    ++cuda_emulation::device.graph_launches;
    for (const auto& node : *graph) {
        if (const cudaError_t error = node(); error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

#undef CUDA_EMULATION_CALL
