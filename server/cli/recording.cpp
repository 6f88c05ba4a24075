#include "server/cli/recording.h"

#include "protocol/replay/recorded.h"
#include "protocol/replay/seek.h"
#include "server/cli/command_line.h"

namespace orrery::server {

using protocol::replay::ReplayReader;

namespace {

// What the survey found is there no more.
Error changed() { return Error{ErrorCode::io, "", "the file changed while it was read"}; }

}  // namespace

Result<std::unique_ptr<Recording>> Recording::open(const std::string& path) {
    auto source = ReplaySource::open(path);
    if (!source) return source.error();
    std::unique_ptr<Recording> made(new Recording(std::move(*source)));
    made->survey_ = protocol::replay::survey(*made->source_);
    if (!made->survey_.usable()) return made->survey_.error;
    return made;
}

Result<std::unique_ptr<sim::World>> Recording::new_world(std::uint64_t max_bodies, sim::Target target) const {
    const auto definition =
        protocol::replay::recorded_definition(survey_.header, [max_bodies](const protocol::replay::FileHeader& header) {
            return protocol::replay::load_recorded_scene(header, max_bodies);
        });
    if (!definition) return definition.error();
    return sim::World::create(*definition, {.target = target});
}

Result<Ok> Recording::go_to(std::uint64_t tick, sim::World& world, sim::Executor* executor) {
    const std::uint64_t first = survey_.header.first_tick, last = survey_.ticks;
    if (tick < first || tick > last)
        return Error{ErrorCode::not_found, "tick " + std::to_string(tick),
                     "the recording has the states of ticks " + std::to_string(first) + " to " + std::to_string(last)};
    const protocol::replay::Mark& mark = survey_.marks[protocol::replay::mark_before(survey_, tick)];
    if (const Result<Ok> begun = begin_at(mark, world); !begun) return begun.error();
    while (world.tick() < tick) {
        const Result<bool> stepped = step(world, executor);
        if (!stepped) return stepped.error();
        if (!*stepped) return changed();
    }
    return Ok{};
}

Result<Ok> Recording::begin_at(const protocol::replay::Mark& mark, sim::World& world) {
    reader_.emplace(*source_, mark);
    return protocol::replay::restore_at(mark, *reader_, world);
}

bool Recording::read_tick() {
    for (;;) {
        const ReplayReader::Kind kind = reader_->next();
        if (kind == ReplayReader::Kind::stop) return false;
        if (kind == ReplayReader::Kind::tick) return true;
    }
}

Result<bool> Recording::step(sim::World& world, sim::Executor* executor) {
    if (!read_tick()) return false;
    if (const Result<Ok> taken = take(world, reader_->tick(), executor); !taken) return taken.error();
    return true;
}

int exit_code_of_replaying(const Error& error) {
    return error.code == ErrorCode::corrupt ? kExitFalse : exit_code_of(error);
}

}  // namespace orrery::server
