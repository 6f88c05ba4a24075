#include "protocol/replay/seek.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace orrery::protocol::replay {

namespace {

// What the survey found is there no more.
Error changed() { return Error{ErrorCode::io, "", "the file changed while it was read"}; }

}  // namespace

std::size_t mark_before(const Survey& survey, std::uint64_t tick) {
    const auto behind = std::ranges::upper_bound(survey.marks, tick, {}, &Mark::tick);
    return behind == survey.marks.begin() ? 0 : static_cast<std::size_t>(behind - survey.marks.begin()) - 1;
}

Result<Ok> restore_at(const Mark& mark, ReplayReader& reader, sim::World& world) {
    if (!mark.keyframe) return Ok{};
    if (reader.next() != ReplayReader::Kind::keyframe) return changed();
    if (const Result<Ok> restored = world.restore(reader.keyframe().state); !restored)
        return Error{ErrorCode::parse, "keyframe of tick " + std::to_string(mark.tick), restored.error().to_string()};
    return Ok{};
}

Result<std::unique_ptr<Seeker>> Seeker::create(const Source& source, const Survey& survey, const SeekOptions& options) {
    const auto definition = recorded_definition(survey.header, options.load_scene);
    if (!definition) return definition.error();
    auto world = sim::World::create(*definition, {.target = options.target});
    if (!world) return world.error();
    std::unique_ptr<Seeker> made(new Seeker(source, survey, options));
    made->world_ = std::move(world).value();
    made->world_->checkpoint(made->begin_);
    return made;
}

// It becomes the one that was looked at last.
Seeker::Stretch& Seeker::stretch_of(std::size_t mark) {
    const auto found = std::ranges::find(stretches_, mark, &Stretch::mark);
    if (found != stretches_.end()) {
        stretches_.splice(stretches_.end(), stretches_, found);
        return stretches_.back();
    }
    if (stretches_.size() == kSeekStretches) stretches_.pop_front();
    const double ticks = options_.checkpoint_every_s * static_cast<double>(survey_.header.tick_rate_hz);
    return stretches_.emplace_back(
        Stretch{.mark = mark, .spacing = static_cast<std::uint64_t>(std::max(1.0, std::floor(ticks)))});
}

std::uint64_t Seeker::end_of(const Stretch& stretch) const {
    return stretch.mark + 1 < survey_.marks.size() ? survey_.marks[stretch.mark + 1].tick : survey_.ticks + 1;
}

std::size_t Seeker::checkpoints() const {
    std::size_t count = 0;
    for (const Stretch& stretch : stretches_) count += stretch.saved.size();
    return count;
}

// From the place in the stretch that is nearest before the tick.
Result<Ok> Seeker::start(const Stretch& stretch, std::uint64_t tick) {
    const Mark& mark = survey_.marks[stretch.mark];
    const auto behind =
        std::ranges::upper_bound(stretch.saved, tick, {}, [](const Saved& saved) { return saved.state.tick(); });
    const bool is_near = reader_ && world_->tick() >= mark.tick && world_->tick() <= tick;
    if (behind == stretch.saved.begin()) {
        reader_.emplace(source_, mark);
        if (!mark.keyframe) return world_->roll_back(begin_);
        return restore_at(mark, *reader_, *world_);
    }
    const Saved& saved = *(behind - 1);
    if (is_near && world_->tick() >= saved.state.tick()) return Ok{};
    reader_.emplace(source_, saved.mark);
    return world_->roll_back(saved.state);
}

Result<Ok> Seeker::step() {
    for (;;) {
        const ReplayReader::Kind kind = reader_->next();
        if (kind == ReplayReader::Kind::stop) return changed();
        if (kind == ReplayReader::Kind::tick) break;
    }
    ++simulated_;
    return take(*world_, reader_->tick(), options_.executor);
}

// Takes a checkpoint of the world's tick, if it is due and there is none.
void Seeker::save(Stretch& stretch) {
    const std::uint64_t tick = world_->tick();
    if ((tick - begin_of(stretch)) % stretch.spacing != 0) return;
    if (!stretch.saved.empty() && stretch.saved.back().state.tick() >= tick) return;
    if (stretch.saved.empty()) {
        std::vector<std::uint8_t> bytes;
        world_->save(bytes);
        state_bytes_ = std::max<std::uint64_t>(1, bytes.size());
    }
    Saved& saved = stretch.saved.emplace_back();
    saved.mark = reader_->mark();
    world_->checkpoint(saved.state);
    keep_within_budget(stretch);
}

// The other stretches go first; then every second checkpoint of this one.
void Seeker::keep_within_budget(Stretch& stretch) {
    const std::uint64_t most = std::max<std::uint64_t>(2, options_.max_bytes / state_bytes_);
    while (checkpoints() > most) {
        if (stretches_.size() > 1) {  // this one is the last
            stretches_.pop_front();
            continue;
        }
        stretch.spacing *= 2;
        std::erase_if(stretch.saved, [&](const Saved& saved) {
            return (saved.state.tick() - begin_of(stretch)) % stretch.spacing != 0;
        });
    }
}

Result<Ok> Seeker::go_to(std::uint64_t tick) {
    simulated_ = 0;
    if (tick < first_tick() || tick > last_tick())
        return Error{ErrorCode::not_found, "tick " + std::to_string(tick),
                     "the recording has the states of ticks " + std::to_string(first_tick()) + " to " +
                         std::to_string(last_tick())};
    Stretch& stretch = stretch_of(mark_before(survey_, tick));
    was_cold_ = stretch.saved.empty() || tick > stretch.reached;
    Result<Ok> done = start(stretch, tick);
    if (done) save(stretch);
    while (done && world_->tick() < tick) {
        done = step();
        if (done) save(stretch);
    }
    if (done) stretch.reached = std::max(stretch.reached, tick);
    if (!done) reader_.reset();
    return done;
}

Result<bool> Seeker::cover(std::uint64_t ticks) {
    if (!reader_) return false;
    Stretch& stretch = stretches_.back();
    const std::uint64_t end = end_of(stretch);
    const auto is_covered = [&] { return stretch.saved.back().state.tick() + stretch.spacing >= end; };
    if (is_covered()) {
        stretch.reached = end - 1;
        return false;
    }
    const std::uint64_t simulated = simulated_;
    const Mark mark_here = reader_->mark();
    world_->checkpoint(here_);
    const Saved& last = stretch.saved.back();
    Result<Ok> done = Ok{};
    if (world_->tick() < last.state.tick()) {
        reader_.emplace(source_, last.mark);
        done = world_->roll_back(last.state);
    }
    while (done && ticks-- > 0 && !is_covered()) {
        done = step();
        if (done) save(stretch);
    }
    simulated_ = simulated;
    if (done) stretch.reached = is_covered() ? end - 1 : std::max(stretch.reached, world_->tick());
    if (done) done = world_->roll_back(here_);
    if (!done) {
        reader_.reset();
        return done.error();
    }
    reader_.emplace(source_, mark_here);
    return !is_covered();
}

}  // namespace orrery::protocol::replay
