#include "client_sdk/src/player.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "client_sdk/src/body_difference.h"
#include "protocol/replay/recorded.h"
#include "protocol/scene/scene.h"

namespace orrery::client {

using namespace orrery::protocol::replay;
using Kind = ReplayReader::Kind;

Result<std::unique_ptr<Player>> open_player(protocol::Bytes bytes) {
    auto player = std::make_unique<WorldPlayer>(bytes);
    if (auto done = player->open(); !done) return done.error();
    return std::unique_ptr<Player>(std::move(player));
}

Result<Ok> WorldPlayer::open() {
    reader_ = std::make_unique<ReplayReader>(source_);
    auto header = reader_->begin();
    if (!header) return header.error();
    header_ = std::move(header).value();
    auto definition = recorded_definition(
        header_, [](const FileHeader& of) { return load_recorded_scene(of, protocol::kDefaultMaxSceneBodies); });
    if (!definition) return definition.error();
    auto world = sim::World::create(std::move(definition).value());
    if (!world) return world.error();
    world_ = std::move(world).value();
    std::uint32_t index = 0;  // each body is one behind its place in the definition
    for (const sim::BodyDef& body : world_->definition().bodies)
        if (++index; !body.name.empty()) names_.emplace_back(sim::BodyId{index, 0}, body.name.c_str());

    outline_ = outline(source_, reader_->position(), header_.first_tick);
    last_tick_ = outline_.ticks;
    for (const Mark& mark : outline_.marks)
        if (mark.keyframe) keyframes_.push_back({mark});
    seen_.resize(static_cast<std::size_t>(last_tick_ - first_tick()));
    if (outline_.status == ReadStatus::corrupt || outline_.status == ReadStatus::unreadable)
        damaged(outline_.error_offset, outline_.error.to_string(), outline_.ticks);
    if (first_tick() > 0)
        if (auto begun = begin_at_cut(); !begun) return begun.error();
    const bool whole = pass_keyframes();
    keep();
    if (whole) read_end();
    picture_.take(*world_, true);
    return Ok{};
}

// A recording that was cut begins with a keyframe.
Result<Ok> WorldPlayer::begin_at_cut() {
    if (keyframes_.empty() || reader_->next() != Kind::keyframe)
        return Error{ErrorCode::corrupt, "keyframe", "the recording has no tick that its world can begin with"};
    if (auto restored = world_->restore(reader_->keyframe().state); !restored) return restored.error();
    if (tick() != first_tick())
        return Error{ErrorCode::corrupt, "keyframe", "the recording begins with a state of another tick"};
    // It is read again as the keyframe of its tick.
    reader_ = std::make_unique<ReplayReader>(source_, keyframes_.front().mark);
    return Ok{};
}

bool WorldPlayer::step(std::uint64_t ticks) {
    for (; ticks > 0 && step_one(); --ticks)
        if (ticks <= 2) picture_.take(*world_, false);  // these two are shown
    if (picture_.tick() != world_->tick()) picture_.take(*world_, true);
    return ticks == 0;
}

bool WorldPlayer::step_one() {
    if (world_->tick() >= last_tick_) return false;
    if (reader_->next() != Kind::tick) {
        stopped(*reader_);
        return false;
    }
    const TickRecord& record = reader_->tick();
    const StepTurn turn(step_clock_);
    const sim::StepStatus status = step_clock_.step(*world_, record.commands);
    if (status != sim::StepStatus::ok) {  // no world can have taken this tick, and this one is half through it
        damaged(reader_->position().offset, sim::step_error(status, record.tick).to_string(), record.tick - 1);
        use(nearest_kept(record.tick - 1));
        return false;
    }
    compare(record);
    if (pass_keyframes()) {
        keep();
        read_end();
    }
    return true;
}

void WorldPlayer::compare(const TickRecord& record) {
    const sim::HashTree found = world_->hash();
    const bool same = agrees(found, record);
    Seen& seen = seen_[static_cast<std::size_t>(record.tick - first_tick() - 1)];
    if (seen == Seen::no) {
        ++compared_;
        if (same) ++equal_;
    } else if (seen == Seen::equal && !same) {
        --equal_;
    }
    if (seen != Seen::differs) seen = same ? Seen::equal : Seen::differs;
    if (same) return;
    // Without leaves only the whole is known to differ.
    const auto leaf = record.has_leaves ? differing_leaf(found, record.hash) : std::nullopt;
    const auto hash_in = [&](const sim::HashTree& tree) {
        return leaf ? tree.leaves[static_cast<std::size_t>(*leaf)] : tree.root;
    };
    differ(record.tick, leaf ? sim::subsystem_name(*leaf) : "root", hash_in(record.hash), hash_in(found));
}

void WorldPlayer::differ(std::uint64_t tick, std::string_view part, std::uint64_t recorded, std::uint64_t found) {
    if (!difference_ || tick < difference_->tick) difference_ = {tick, part, recorded, found};
}

std::size_t WorldPlayer::keyframe_from(std::uint64_t tick) const {
    const auto at = std::lower_bound(keyframes_.begin(), keyframes_.end(), tick,
                                     [](const Keyframe& keyframe, std::uint64_t t) { return keyframe.mark.tick < t; });
    return static_cast<std::size_t>(at - keyframes_.begin());
}

// Reads the keyframes of the world's tick, and compares them with it. False: the file is damaged there.
bool WorldPlayer::pass_keyframes() {
    for (std::size_t i = keyframe_from(tick()); i < keyframes_.size() && keyframes_[i].mark.tick == tick(); ++i) {
        if (reader_->next() != Kind::keyframe) {
            keyframes_[i].usable = false;
            stopped(*reader_);
            return false;
        }
        const auto recorded = reader_->keyframe().state;
        world_->save(scratch_);
        if (!std::equal(scratch_.begin(), scratch_.end(), recorded.begin(), recorded.end()))
            differ(tick(), "keyframe", 0, 0), note_body(recorded);
        if (!std::exchange(keyframes_[i].compared, true)) ++keyframes_compared_;
    }
    return true;
}

void WorldPlayer::note_body(std::span<const std::uint8_t> recorded) {
    if (body_tick_ != 0 && body_tick_ <= tick()) return;
    body_tick_ = tick();
    const std::optional<BodyDifference> found = first_body_difference(*world_, recorded);
    PlayerBody named;
    if (!found) return body_text_.clear();
    std::string name = "body " + std::to_string(found->body.index);
    if (body(found->body, named) && (*named.name || *named.member_name))
        name += std::string(" ") + (*named.name ? named.name : named.member_name);
    body_text_ = "; in the keyframe of tick " + std::to_string(tick()) + ", " + name + ": " + found->text;
}

// Behind the last tick: what the file ends with.
void WorldPlayer::read_end() {
    if (tick() != last_tick_ || end_read_ || damage_) return;
    while (reader_->next() != Kind::stop) {
    }
    stopped(*reader_);
    end_read_ = !damage_;
}

void WorldPlayer::stopped(const ReplayReader& reader) {
    if (reader.status() != ReadStatus::corrupt && reader.status() != ReadStatus::unreadable) return;
    damaged(reader.error_offset(), reader.error().to_string(), reader.ticks());
}

void WorldPlayer::damaged(std::uint64_t byte, std::string text, std::uint64_t ticks_before) {
    last_tick_ = std::min(last_tick_, ticks_before);
    if (!damage_ || byte < damage_->byte) damage_ = {byte, std::move(text)};
}

void WorldPlayer::keep() {
    if ((tick() - first_tick()) % spacing_ != 0) return;
    const auto at = std::lower_bound(kept_.begin(), kept_.end(), tick(),
                                     [](const Kept& kept, std::uint64_t t) { return kept.mark.tick < t; });
    if (at != kept_.end() && at->mark.tick == tick()) return;
    Kept made{reader_->mark(), {}};
    world_->save(made.state);
    kept_bytes_ += made.state.size();
    kept_.insert(at, std::move(made));
    while (kept_bytes_ > most_kept_bytes_ && kept_.size() > 2) {
        spacing_ *= 2;
        std::erase_if(kept_, [&](const Kept& kept) { return (kept.mark.tick - first_tick()) % spacing_ != 0; });
        kept_bytes_ = 0;
        for (const Kept& kept : kept_) kept_bytes_ += kept.state.size();
    }
}

bool WorldPlayer::seek(std::uint64_t wanted, std::uint64_t ticks_at_most) {
    const std::uint64_t to = std::min(std::max(wanted, first_tick()), last_tick_);
    jump(to);
    step(std::min(to - std::min(to, tick()), ticks_at_most));
    return tick() == std::min(to, last_tick_);
}

const WorldPlayer::Kept& WorldPlayer::nearest_kept(std::uint64_t to) const {
    const auto behind = std::upper_bound(kept_.begin(), kept_.end(), to,
                                         [](std::uint64_t t, const Kept& kept) { return t < kept.mark.tick; });
    return *std::prev(behind);  // the first is the start
}

// Goes to the nearest state at or before a tick, unless the world is there or behind it already. A call tries one
// keyframe: many that cannot be used do not hold it up.
void WorldPlayer::jump(std::uint64_t to) {
    const Kept& kept = nearest_kept(to);
    const auto on_the_way_from = [&](std::uint64_t nearest) { return tick() <= to && tick() >= nearest; };
    std::size_t i = keyframe_from(to + 1);
    while (i > 0 && keyframes_[i - 1].mark.tick > kept.mark.tick && !keyframes_[i - 1].usable) --i;
    if (i > 0 && keyframes_[i - 1].mark.tick > kept.mark.tick)
        if (on_the_way_from(keyframes_[i - 1].mark.tick) || use(keyframes_[i - 1])) return;
    if (!on_the_way_from(kept.mark.tick)) use(kept);
}

// False: the keyframe cannot be used, and is not tried again.
bool WorldPlayer::use(Keyframe& keyframe) {
    auto reader = std::make_unique<ReplayReader>(source_, keyframe.mark);
    if (reader->next() != Kind::keyframe) {
        keyframe.usable = false;
        stopped(*reader);
        return false;
    }
    const bool restored = world_->restore(reader->keyframe().state).ok();
    keyframe.usable = restored && tick() == keyframe.mark.tick;
    if (!keyframe.usable) {
        differ(keyframe.mark.tick, "keyframe", 0, 0);
        if (restored) use(nearest_kept(keyframe.mark.tick));  // the world is at a tick that the reader is not at
        return false;
    }
    reader_ = std::move(reader);
    picture_.take(*world_, true);
    return true;
}

void WorldPlayer::use(const Kept& kept) {
    [[maybe_unused]] const auto restored = world_->restore(kept.state);  // which this world has saved
    reader_ = std::make_unique<ReplayReader>(source_, kept.mark);
    picture_.take(*world_, true);
}

bool WorldPlayer::check(std::uint64_t bytes) {
    if (!checker_) {
        checker_ = std::make_unique<ReplayReader>(source_);
        if (!checker_->begin()) return false;  // it was read before
    }
    const std::uint64_t from = checker_->position().offset;
    const std::uint64_t until = from + std::min(bytes, std::numeric_limits<std::uint64_t>::max() - from);
    while (checker_->position().offset < until) {
        if (checker_->next() != Kind::stop) continue;
        stopped(*checker_);
        return false;
    }
    return true;
}

bool WorldPlayer::all_same() const {
    return end_read_ && compared_ == outline_.ticks - first_tick() && keyframes_compared_ == keyframes_.size();
}

PlayerVerdict WorldPlayer::verdict() const {
    PlayerVerdict out;
    out.ticks_compared = compared_;
    out.ticks_equal = equal_;
    out.keyframes_compared = keyframes_compared_;
    out.difference = difference_;
    if (checker_) out.bytes_checked = checker_->position().offset;
    if (!complete()) {
        out.broken_at = outline_.status == ReadStatus::open ? source_.size() : outline_.error_offset;
        out.text = "byte " + std::to_string(out.broken_at) + ": the recording ends here, and was not closed";
    }
    if (damage_) {
        out.state = PlayerState::damaged;
        out.broken_at = damage_->byte;
        out.text = damage_->text;
    } else if (difference_) {
        out.state = PlayerState::differs;
        out.text = "tick " + std::to_string(difference_->tick) + ": the " + std::string(difference_->part) +
                   " differs from what was recorded" + body_text_;
    } else if (all_same()) {
        out.state = complete() ? PlayerState::same : PlayerState::end_missing;
    }
    return out;
}

bool WorldPlayer::body(sim::BodyId id, PlayerBody& out) const {
    if (!world_->alive(id)) return false;
    const sim::WorldDef& def = world_->definition();
    const sim::BodyState body = world_->body(id);
    out = {body.type, body.shape, body.prefab, body.member, body.slot, body.user_data, "", "", "", ""};
    const auto name = std::lower_bound(names_.begin(), names_.end(), id.index,
                                       [](const auto& each, std::uint32_t index) { return each.first.index < index; });
    if (name != names_.end() && name->first == id) out.name = name->second;
    if (body.prefab < def.prefabs.size()) {
        const sim::PrefabDef& prefab = def.prefabs[body.prefab];
        out.template_name = prefab.name.c_str();
        if (body.member < prefab.bodies.size()) out.member_name = prefab.bodies[body.member].name.c_str();
    }
    if (body.material < def.materials.size()) out.material_name = def.materials[body.material].name.c_str();
    return true;
}

}  // namespace orrery::client
