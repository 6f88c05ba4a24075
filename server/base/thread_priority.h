// What a thread asks of the system's scheduler. None of it needs rights; a system that does not know it goes on as it
// was.
#pragma once

namespace orrery::server {

// For a thread whose work has a time: it is run soon after it wakes, in short slices (Linux 6.12 or newer).
void ask_for_short_waits();

// For a thread whose work may wait for that of others: it gets little where there is more to do than cores.
void give_way();

}  // namespace orrery::server
