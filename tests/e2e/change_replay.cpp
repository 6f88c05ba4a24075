// change_replay FROM TO TICK: a copy of a recording whose hash of a tick's contacts is another one, with checksums that
// hold. Who verifies it finds that the tick differs.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/replay_files.h"

using namespace orrery;

int main(int count, char** arguments) {
    if (count != 4) return std::fputs("usage: change_replay FROM TO TICK\n", stderr), 64;
    std::ifstream from(arguments[1], std::ios::binary);
    const std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(from), {}};
    const std::uint64_t tick = std::strtoull(arguments[3], nullptr, 10);
    bool changed = false;
    const auto change = [&](protocol::replay::TickRecord& record) {
        if (record.tick != tick) return;
        record.hash.leaves[static_cast<std::size_t>(sim::Subsystem::contacts)] ^= 1;
        changed = true;
    };
    const std::vector<std::uint8_t> out = test::rewritten(file, {.tick = change});
    std::ofstream to(arguments[2], std::ios::binary);
    to.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return changed && to.flush() ? 0 : 1;
}
