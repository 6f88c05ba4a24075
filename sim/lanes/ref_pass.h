// The scalar reference pass of a kernel: see target_pass.h. `--target scalar` runs it.
#pragma once

#define ORRERY_LANES ref
#define ORRERY_LANES_REF 1
#define ORRERY_PASS 1
#define ORRERY_LANES_BEGIN namespace orrery::sim::ref {
#define ORRERY_LANES_END }
#define ORRERY_FN inline __attribute__((always_inline))
#define ORRERY_ONCE __attribute__((noinline))
