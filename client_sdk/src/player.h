// Plays a recording: steps its world with the recorded commands, compares hashes, and goes to any tick.
//
// States to go back to are the keyframes of the file, and states of its own that it keeps each `spacing_` ticks. When
// these need more than `most_kept_bytes`, each second one is dropped and the spacing doubles.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client_sdk/src/player_seam.h"
#include "client_sdk/src/world_picture.h"
#include "protocol/replay/reader.h"

namespace orrery::client {

inline constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;
inline constexpr std::uint64_t kFirstSpacing = 30;  // ticks

class WorldPlayer final : public Player {
  public:
    explicit WorldPlayer(protocol::Bytes bytes, std::size_t most_kept_bytes = kMostKeptBytes)
        : source_(bytes), most_kept_bytes_(most_kept_bytes) {}
    Result<Ok> open();

    const protocol::replay::FileHeader& header() const override { return header_; }
    std::uint64_t tick() const override { return world_->tick(); }
    std::uint64_t last_tick() const override { return last_tick_; }
    bool complete() const override { return outline_.status == protocol::replay::ReadStatus::closed; }
    std::uint32_t keyframes() const override { return static_cast<std::uint32_t>(keyframes_.size()); }
    std::uint64_t bytes() const override { return source_.size(); }
    bool step(std::uint64_t ticks) override;
    bool seek(std::uint64_t tick, std::uint64_t ticks_at_most) override;
    bool check(std::uint64_t bytes) override;
    PlayerVerdict verdict() const override;
    const StepClock& step_clock() const override { return step_clock_; }
    void set_step_clock(StepClock::Clock clock, void* user) override { step_clock_.set(clock, user); }
    void picture(double part, std::vector<ShownBody>& out) const override { picture_.at(part, out); }
    bool body(sim::BodyId id, PlayerBody& out) const override;
    const std::vector<sim::ShapeDef>& shapes() const override { return world_->definition().shapes; }
    std::uint32_t body_count() const override { return static_cast<std::uint32_t>(picture_.bodies().size()); }
    const sim::World& world() const override { return *world_; }
    std::size_t kept_bytes() const { return kept_bytes_; }  // of own states

  private:
    enum class Seen : std::uint8_t { no, equal, differs };
    struct Keyframe {
        protocol::replay::Mark mark;
        bool compared = false;
        bool usable = true;  // to go to
    };
    struct Kept {
        protocol::replay::Mark mark;  // behind what belongs to the tick
        std::vector<std::uint8_t> state;
    };
    struct Damage {
        std::uint64_t byte = 0;
        std::string text;
    };

    std::uint64_t first_tick() const { return header_.first_tick; }
    Result<Ok> begin_at_cut();
    bool step_one();
    void compare(const protocol::replay::TickRecord& record);
    void note_body(std::span<const std::uint8_t> recorded);
    void differ(std::uint64_t tick, std::string_view part, std::uint64_t recorded, std::uint64_t found);
    bool pass_keyframes();
    void read_end();
    void stopped(const protocol::replay::ReplayReader& reader);
    void damaged(std::uint64_t byte, std::string text, std::uint64_t ticks_before);
    void keep();
    const Kept& nearest_kept(std::uint64_t tick) const;
    void jump(std::uint64_t tick);
    bool use(Keyframe& keyframe);
    void use(const Kept& kept);
    std::size_t keyframe_from(std::uint64_t tick) const;  // the first that belongs to this tick or a later one
    bool all_same() const;

    protocol::replay::MemorySource source_;
    protocol::replay::FileHeader header_;
    protocol::replay::Outline outline_;
    std::unique_ptr<sim::World> world_;
    std::vector<std::pair<sim::BodyId, const char*>> names_;  // of the scene's bodies, in order of index
    std::unique_ptr<protocol::replay::ReplayReader> reader_;  // stands behind what belongs to the world's tick
    std::unique_ptr<protocol::replay::ReplayReader> checker_;
    StepClock step_clock_;
    WorldPicture picture_;
    std::vector<std::uint8_t> scratch_;

    std::vector<Keyframe> keyframes_;  // in order of ticks, as the file has them
    std::vector<Kept> kept_;           // in order of ticks; the first is the start
    std::size_t kept_bytes_ = 0, most_kept_bytes_;
    std::uint64_t spacing_ = kFirstSpacing;

    std::uint64_t last_tick_ = 0;
    std::vector<Seen> seen_;  // by tick, from tick 1
    std::uint64_t compared_ = 0, equal_ = 0;
    std::uint32_t keyframes_compared_ = 0;
    bool end_read_ = false;
    std::optional<PlayerDifference> difference_;
    // At the first keyframe that differs from the state that was stepped to: the body that does. Empty: none moves
    // otherwise.
    std::uint64_t body_tick_ = 0;  // of that keyframe; 0: none was found
    std::string body_text_;
    std::optional<Damage> damage_;
};

}  // namespace orrery::client
