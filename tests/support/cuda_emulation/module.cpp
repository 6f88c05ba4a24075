// The GPU module, on the CPU.
#include "sim/rigs/cuda/module.cu"

namespace orrery::sim::cuda {
alignas(64) unsigned char on_chip[cuda_emulation::kMostOnChipBytes];
}
unsigned char* cuda_emulation::on_chip_memory() { return orrery::sim::cuda::on_chip; }
