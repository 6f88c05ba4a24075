// The pass of a kernel that a GPU's threads run, one lane each: see target_pass.h. Compiled by nvcc or, with the
// runtime that tests emulate, by a C++ compiler.
#pragma once

#include <cuda_runtime.h>

#define ORRERY_LANES cuda
#define ORRERY_LANES_REF 1
#define ORRERY_PASS 1
#define ORRERY_LANES_BEGIN namespace orrery::sim::cuda {
#define ORRERY_LANES_END }
#define ORRERY_FN __host__ __device__ __forceinline__
#define ORRERY_ONCE __host__ __device__
