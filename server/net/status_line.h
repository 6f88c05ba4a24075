// The line that a serving room prints regularly: first the numbers that a host needs, then everything unusual.
#pragma once

#include <cstdint>
#include <string>

#include "server/room/room_recorder.h"

namespace orrery::server {

struct Status {
    std::uint64_t tick = 0;
    std::uint32_t clients = 0;                    // connected
    std::uint32_t players = 0;                    // clients that have joined and get snapshots
    double tick_p50_ms = 0.0, tick_p99_ms = 0.0;  // of the last ticks, with all the work of a tick
    double rigs_p50_ms = 0.0, rigs_p99_ms = 0.0;  // the part of the rigs; 0: no rigs
    double budget_ms = 0.0;                       // the time that a tick may take
    std::uint64_t late_ticks = 0;                 // since the start: so late that the grid of ticks slipped
    double sent_bytes_per_s = 0.0, received_bytes_per_s = 0.0;  // of all clients, without UDP and IP headers
    bool records = true;
    RecordingCounters recording;    // its `recorded` is announced: the last tick whose bytes are in the file
    std::uint64_t late_inputs = 0;  // controls that arrived after their tick
    std::uint64_t rejected_commands = 0;
    std::uint64_t lines_dropped = 0;  // status and log lines that no reader took at once
};

// "status key=value ...". Rigs, late inputs, rejected commands and dropped lines appear only if there are any.
std::string status_text(const Status& status);
// All fields, as one JSON object.
std::string status_json(const Status& status);

}  // namespace orrery::server
