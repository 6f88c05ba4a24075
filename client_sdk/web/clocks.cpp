// What is measured with a clock: the host's performance.now(), which is an import. Only for the module with the
// simulation.
#include <cstdint>

#include "orrery/client.h"

extern "C" {

// ms of a monotonic clock. Browsers round it, to 0.1 ms or less.
__attribute__((import_module("orrery"), import_name("now_ms"))) double orrery_web_now_ms();
}

namespace {

std::uint64_t now_ns(void*) { return static_cast<std::uint64_t>(orrery_web_now_ms() * 1e6); }

}  // namespace

extern "C" {

// Turns prediction on: orrery_client_set_prediction() with that clock.
orrery_status orrery_web_predict(orrery_client* client, std::uint32_t input_delay_ticks, float max_rollback_ms) {
    orrery_prediction prediction{};
    prediction.struct_size = sizeof prediction;
    prediction.on = 1;
    prediction.input_delay_ticks = input_delay_ticks;
    prediction.max_rollback_ms = max_rollback_ms;
    prediction.clock = now_ns;
    return orrery_client_set_prediction(client, &prediction);
}

// orrery_client_set_step_clock() and orrery_player_set_step_clock() with that clock, or with none.
orrery_status orrery_web_measure_client(orrery_client* client, std::int32_t on) {
    return orrery_client_set_step_clock(client, on != 0 ? now_ns : nullptr, nullptr);
}

orrery_status orrery_web_measure_player(orrery_player* player, std::int32_t on) {
    return orrery_player_set_step_clock(player, on != 0 ? now_ns : nullptr, nullptr);
}
}
