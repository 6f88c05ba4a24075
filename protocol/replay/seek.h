// The world of a recording at any of its ticks.
//
// A *stretch* is the ticks from one keyframe up to the next. The first seek into a stretch is cold: the keyframe is
// restored from the file, and at most the ticks of the stretch are simulated. On its way it takes checkpoints in
// memory. Later seeks into what was simulated are warm: they return to a checkpoint and simulate at most the ticks
// between two of them. The stretches that were looked at last keep their checkpoints. Every tick that is simulated is
// compared with the record.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/replay/reader.h"
#include "protocol/replay/recorded.h"

namespace orrery::protocol::replay {

// The last of the survey's marks at or before a tick, or the first one; an index.
std::size_t mark_before(const Survey& survey, std::uint64_t tick);
// Brings a world to the state at a mark, behind which the reader stands then. Without a keyframe the world must be new.
Result<Ok> restore_at(const Mark& mark, ReplayReader& reader, sim::World& world);

// A stretch, and a part of another one that was looked at before, so that a player who goes back and forth over a
// keyframe is warm on both sides.
inline constexpr std::size_t kSeekStretches = 2;

struct SeekOptions {
    SceneLoader load_scene;
    sim::Target target = sim::Target::automatic;
    sim::Executor* executor = nullptr;  // workers inside a step
    double checkpoint_every_s = 0.25;   // of recorded time
    // About as much as all checkpoints may take. A stretch that needs more has them farther apart.
    std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

class Seeker {
  public:
    // Of a usable survey of the source; both must outlive it. Errors: those of recorded_definition and World::create.
    static Result<std::unique_ptr<Seeker>> create(const Source& source, const Survey& survey,
                                                  const SeekOptions& options);

    // Brings the world to its state after a tick. Errors: not_found, the recording lacks the tick; corrupt, the
    // simulation differs from the recording on the way; after an error seek again before the world is used.
    Result<Ok> go_to(std::uint64_t tick);
    const sim::World& world() const { return *world_; }
    std::uint64_t first_tick() const { return survey_.header.first_tick; }
    std::uint64_t last_tick() const { return survey_.ticks; }

    // Simulates up to so many further ticks of the stretch that was looked at last, and takes their checkpoints, so
    // that later seeks there are warm; for idle times. The world stays at its tick. False: the stretch is covered.
    Result<bool> cover(std::uint64_t ticks);

    // Of the last go_to.
    bool was_cold() const { return was_cold_; }  // it read a keyframe, or began at the start
    std::uint64_t simulated_ticks() const { return simulated_; }
    std::size_t checkpoints() const;

  private:
    struct Saved {
        sim::Checkpoint state;
        Mark mark;  // behind the tick
    };
    struct Stretch {
        std::size_t mark = 0;        // its index in the survey
        std::uint64_t spacing = 1;   // ticks between checkpoints
        std::uint64_t reached = 0;   // the last tick that was simulated
        std::vector<Saved> saved{};  // by ticks, the first one at the mark
    };

    Seeker(const Source& source, const Survey& survey, const SeekOptions& options)
        : source_(source), survey_(survey), options_(options) {}
    Stretch& stretch_of(std::size_t mark);
    Result<Ok> start(const Stretch& stretch, std::uint64_t tick);
    Result<Ok> step();
    void save(Stretch& stretch);
    void keep_within_budget(Stretch& stretch);
    std::uint64_t begin_of(const Stretch& stretch) const { return survey_.marks[stretch.mark].tick; }
    std::uint64_t end_of(const Stretch& stretch) const;  // the tick behind its last one

    const Source& source_;
    const Survey& survey_;
    const SeekOptions options_;
    std::unique_ptr<sim::World> world_;
    sim::Checkpoint begin_, here_;        // of the new world; where cover() returns to
    std::optional<ReplayReader> reader_;  // behind the world's tick; nothing: the world must be restored first
    std::list<Stretch> stretches_;        // the one that was looked at last is the last
    std::uint64_t state_bytes_ = 1;       // about those of a checkpoint
    std::uint64_t simulated_ = 0;
    bool was_cold_ = false;
};

}  // namespace orrery::protocol::replay
