#include "server/cli/executions.h"

#include <algorithm>
#include <charconv>

#include "protocol/replay/recorded.h"
#include "server/cli/replay_hashes.h"

namespace orrery::server {

namespace rp = protocol::replay;

namespace {

Error named(const std::string& who, Error error) {
    error.place = error.place.empty() ? who : who + ": " + error.place;
    return error;
}

// "orrery 0.1.0, engine version 33, commit ..." has 33; nothing: it is no such line.
std::optional<std::uint32_t> engine_version_in(const std::string& line) {
    constexpr std::string_view kBefore = "engine version ";
    const std::size_t at = line.find(kBefore);
    if (!line.starts_with("orrery ") || at == std::string::npos) return std::nullopt;
    std::uint32_t version = 0;
    const char* const digits = line.data() + at + kBefore.size();
    return std::from_chars(digits, line.data() + line.size(), version).ec == std::errc() ? std::optional(version)
                                                                                         : std::nullopt;
}

Result<Ok> check_version(const std::string& program) {
    auto output = ChildOutput::start(program, {"--version"});
    if (!output) return output.error();
    const std::string line = (*output)->read_line().value_or("");
    const std::optional<std::uint32_t> version = engine_version_in(line);
    if (!version)
        return Error{ErrorCode::parse, program, "it is no orrery program: --version prints no engine version"};
    if (*version != sim::kEngineVersion)
        return Error{ErrorCode::version_mismatch, program,
                     "it has engine version " + std::to_string(*version) + ", this is engine version " +
                         std::to_string(sim::kEngineVersion) +
                         ": two versions differ by design; give a program of the same engine version"};
    return Ok{};
}

}  // namespace

Result<std::unique_ptr<WorldExecution>> WorldExecution::create(std::string name, Recording& recording,
                                                               std::shared_ptr<const sim::Definition> definition,
                                                               const Settings& settings) {
    auto world =
        sim::World::create(std::move(definition), {.target = settings.target, .rig_device = settings.rig_device});
    if (!world) return named(name, world.error());
    if (const Result<Ok> begun = recording.begin_at(recording.survey().marks.front(), **world); !begun)
        return begun.error();
    return std::unique_ptr<WorldExecution>(new WorldExecution(std::move(name), std::move(*world), settings.executor));
}

Result<sim::HashTree> WorldExecution::take(const rp::TickRecord& record) {
    if (const sim::StepStatus status = world_->step(record.commands, executor_); status != sim::StepStatus::ok)
        return named(name_, sim::step_error(status, record.tick));
    return world_->hash();
}

Result<std::vector<std::uint8_t>> WorldExecution::state(std::uint64_t, std::uint64_t) {
    std::vector<std::uint8_t> bytes;
    world_->save(bytes);
    return bytes;
}

Result<std::unique_ptr<ProgramExecution>> ProgramExecution::create(const std::string& program,
                                                                   const std::string& replay,
                                                                   const std::vector<std::string>& options) {
    if (const Result<Ok> checked = check_version(program); !checked) return checked.error();
    std::unique_ptr<ProgramExecution> made(new ProgramExecution(program, replay, options));
    std::vector<std::string> arguments{"replay", "hashes", replay};
    arguments.insert(arguments.end(), options.begin(), options.end());
    auto output = ChildOutput::start(program, arguments);
    if (!output) return output.error();
    made->hashes_ = std::move(*output);
    return made;
}

Result<sim::HashTree> ProgramExecution::take(const rp::TickRecord& record) {
    const std::optional<std::string> line = hashes_->read_line();
    if (!line)
        return Error{ErrorCode::io, program_,
                     "`replay hashes` ended before tick " + std::to_string(record.tick) + ", with exit code " +
                         std::to_string(hashes_->wait()) + "; a program that lacks it is of an earlier build"};
    const std::optional<sim::HashTree> hash = read_hashes_line(*line, record.tick);
    if (!hash)
        return Error{ErrorCode::parse, program_,
                     "`replay hashes` printed no hashes of tick " + std::to_string(record.tick) + ": " + *line};
    return *hash;
}

Result<std::vector<std::uint8_t>> ProgramExecution::state(std::uint64_t tick, std::uint64_t start) {
    std::vector<std::string> arguments{
        "replay",      "state",  replay_, "--tick", std::to_string(tick), "--start", std::to_string(start),
        "--unchecked", "--bytes"};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    auto output = ChildOutput::start(program_, arguments);
    if (!output) return output.error();
    std::vector<std::uint8_t> bytes = (*output)->read_rest();
    if (const int code = (*output)->wait(); code != 0)
        return Error{ErrorCode::io, program_,
                     "`replay state` ended with exit code " + std::to_string(code) + " instead of the state of tick " +
                         std::to_string(tick)};
    return bytes;
}

Result<Comparison> compare_executions(Recording& recording, WorldExecution& here, Execution& there,
                                      const std::function<void(std::uint64_t tick)>& progress) {
    Comparison result;
    const rp::Mark& begin = recording.survey().marks.front();
    rp::ReplayReader reader(recording.source(), begin);
    std::uint64_t start = begin.tick;  // where the other execution may begin anew
    std::vector<std::uint8_t> bytes;
    for (auto kind = reader.next(); kind != rp::ReplayReader::Kind::stop; kind = reader.next()) {
        if (kind == rp::ReplayReader::Kind::keyframe) {
            here.world().save(bytes);
            const auto& kept = reader.keyframe().state;
            if (std::equal(bytes.begin(), bytes.end(), kept.begin(), kept.end())) start = reader.keyframe().tick;
            continue;
        }
        const rp::TickRecord& record = reader.tick();
        const Result<sim::HashTree> a = here.take(record);
        if (!a) return a.error();
        const Result<sim::HashTree> b = there.take(record);
        if (!b) return b.error();
        if (!result.here_not_recorded && !rp::agrees(*a, record)) result.here_not_recorded = record.tick;
        if (!result.there_not_recorded && !rp::agrees(*b, record)) result.there_not_recorded = record.tick;
        progress(record.tick);
        if (*a == *b) {
            result.ticks = record.tick - begin.tick;
            continue;
        }
        StateDivergence& found = result.divergence.emplace();
        found.tick = record.tick;
        for (std::size_t i = 0; i < sim::kSubsystemCount; ++i)
            if (a->leaves[i] != b->leaves[i]) found.subsystems.push_back(static_cast<sim::Subsystem>(i));
        const auto state = there.state(record.tick, start);
        if (!state) return state.error();
        found.difference = rp::first_difference(here.world(), *state);
        return result;
    }
    const bool whole = reader.status() != rp::ReadStatus::corrupt && reader.status() != rp::ReadStatus::unreadable;
    return whole ? Result<Comparison>(result) : reader.error();
}

Result<std::optional<KeyframeComparison>> compare_next_keyframe(
    Recording& recording, sim::World& world, std::uint64_t tick, sim::Executor* executor,
    const std::function<void(std::uint64_t tick)>& progress) {
    std::optional<KeyframeComparison> result;
    const auto& marks = recording.survey().marks;
    const rp::Mark* from = nullptr;
    bool any = false;
    for (const rp::Mark& mark : marks) {
        if (mark.tick < tick) from = &mark;
        any = any || (mark.keyframe && mark.tick >= tick);
    }
    if (!from || !any) return result;
    if (const Result<Ok> begun = recording.begin_at(*from, world); !begun) return begun.error();
    rp::ReplayReader& reader = recording.reader();
    for (auto kind = reader.next(); kind != rp::ReplayReader::Kind::stop; kind = reader.next()) {
        if (kind == rp::ReplayReader::Kind::tick) {
            if (result) return result;
            const sim::StepStatus status = world.step(reader.tick().commands, executor);
            if (status != sim::StepStatus::ok) return sim::step_error(status, reader.tick().tick);
            progress(reader.tick().tick);
        } else if (reader.keyframe().tick >= tick) {
            result = {reader.keyframe().tick, rp::first_difference(world, reader.keyframe().state)};
            if (result->difference) return result;  // else the next may be of the same tick
        }
    }
    return result ? Result<std::optional<KeyframeComparison>>(result) : reader.error();
}

}  // namespace orrery::server
