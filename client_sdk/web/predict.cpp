// Prediction with a clock: the host's performance.now(), which is an import. Only for the module with the simulation.
#include <cstdint>

#include "orrery/client.h"

extern "C" {

// ms of a monotonic clock. Browsers round it, to 0.1 ms or less.
__attribute__((import_module("orrery"), import_name("now_ms"))) double orrery_web_now_ms();

// Turns prediction on: orrery_client_set_prediction() with that clock.
orrery_status orrery_web_predict(orrery_client* client, std::uint32_t input_delay_ticks, float max_rollback_ms) {
    orrery_prediction prediction{};
    prediction.struct_size = sizeof prediction;
    prediction.on = 1;
    prediction.input_delay_ticks = input_delay_ticks;
    prediction.max_rollback_ms = max_rollback_ms;
    prediction.clock = [](void*) { return static_cast<std::uint64_t>(orrery_web_now_ms() * 1e6); };
    return orrery_client_set_prediction(client, &prediction);
}
}
