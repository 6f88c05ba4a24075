// The worker for rigs. Chains that nothing else touches in a tick are solved by themselves, all substeps at once,
// before the coloured solver; the others, and all trees and graphs, with it, as its last colour. Which is which depends
// on the state alone. A device, where there is one, may solve rigs of all kinds that nothing touches before either, to
// the same bits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/collision/manifold.h"
#include "sim/rigs/chain/chain.h"
#include "sim/rigs/coupled_groups.h"
#include "sim/rigs/device/device.h"
#include "sim/rigs/graph/graph_passes.h"
#include "sim/rigs/kernels.h"
#include "sim/solver/last_colour.h"
#include "sim/solver/solver.h"

namespace orrery::sim {

class RigWorker final : public LastColour {
  public:
    // Rigs that are alone are offered to it first; it must outlive this.
    void use(RigDevice& device) { device_ = device.open(); }

    // After every change of the joints or of a body's type. `force` is State::rig_force; what is no rig's is zeroed
    // there, and what is a rig's in `impulses`.
    void find(const RigChoice& choice, const Bodies& bodies, std::span<const Joint> joints,
              std::span<JointImpulse> impulses, std::vector<RigForce>& force);
    // What joints are to hold has changed, and nothing else of them.
    void read_targets(std::span<const Joint> joints) {
        graphs_.read_targets(joints);
        ++layout_;
    }
    bool empty() const { return rigs_.rigs.empty(); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(rigs_.rigs.size()); }
    const Rigs& rigs() const { return rigs_; }
    // In this tick a member of a chain that was solved by itself, on a device or not.
    bool of_lone_chain(std::uint32_t body) const {
        if (body >= rigs_.rig_of_body.size() || rigs_.rig_of_body[body] == kNone) return false;
        const std::uint32_t r = rigs_.rig_of_body[body];
        const Rig& rig = rigs_.rigs[r];
        return rig.kind == RigClass::chain && rig.method == RigMethod::exact && touched_[r] == 0 && !rig.always_coupled;
    }

    // Sorts a tick's rigs by what touches them: `pushed` are bodies under a force of an actuator.
    void begin_tick(const Bodies& bodies, Manifolds manifolds, std::span<const std::uint32_t> pushed);
    // By body, after step_alone; empty where no chain is alone and no device has solved a rig. Those of members of
    // such: no bodies of the coloured solver's.
    std::span<const std::uint8_t> flags() const { return flags_; }
    // By body, not 0: a member of a rig that something touches, or a body that touches one. Empty: none is.
    std::span<const std::uint8_t> near() const { return near_; }
    // Whoever solves them: what they meet is solved as often.
    bool any_coupled() const { return any_coupled_; }

    // Whether quarantine_lost_bodies has to look at bodies whose flags() are 0.
    bool may_have_lost() const { return lost_; }
    // Whether step_alone writes the poses of such bodies before it where they may be lost; else they must have been
    // kept.
    bool keeps_start_poses() const { return !device_; }

    std::uint32_t solved_elsewhere() const { return elsewhere_; }      // rigs, in the last step_alone
    const DeviceTimes& device_times() const { return device_times_; }  // of that; zeros where it is 0

    // `start_pose` by body.
    void step_alone(const StepInput& input, Bodies& bodies, std::span<Joint> joints, std::span<RigForce> force,
                    std::span<PoseRecord> start_pose);

    void prepare(const StepContext& context) override;
    void warm_start(const StepContext& context) override;
    void solve(const StepContext& context) override;
    void solve_coupled(const StepContext& context) override;
    void refresh(const StepContext& context) override;
    void relax(const StepContext& context) override;
    void relax_again(const StepContext& context) override;
    void relax_coupled(const StepContext& context) override;
    void finish(const StepContext& context) override;

  private:
    using CoupledKernel = void (*)(const StepContext& context, const ChainView& chains, CoupledSlot* work);
    using TreeKernel = CoupledKernels<RigTreeView>::Kernel;

    void pack(const Bodies& bodies, std::span<const Joint> joints);
    void set_flags(const ChainBundle& bundle, std::uint32_t mask);
    // Which of a chain's bodies, and the joints before them, lie in a lane: `start` in slot 0, and those behind it. Of
    // them the lane solves first to last, and others do the rest.
    struct Stretch {
        std::int64_t start;
        std::uint32_t first, last;
    };
    void fill_lane(ChainBundle& bundle, std::uint32_t rig, const Stretch& stretch, const Bodies& bodies,
                   std::span<const Joint> joints);
    ChainBundle& add_bundle(std::uint32_t links);
    void note_resting(const ChainBundle& bundle);
    void cut(std::uint32_t rig, const Bodies& bodies, std::span<const Joint> joints);
    ChainView view(const ChainBundle& bundle);
    void note_kinematic(const Bodies& bodies, std::span<const Joint> joints);
    struct AloneWork {
        std::vector<AloneSlot> slots;
        std::vector<PieceSlot> pieces;
    };
    void reserve_work(std::uint32_t workers);
    bool solve_alone(const StepContext& context, std::uint32_t substeps, std::size_t k, AloneWork& work);
    bool solve_elsewhere(const StepInput& input, Bodies& bodies);
    enum class Of { all, coupled, met };  // coupled: of chains and trees on which something acts; met: in contact
    // Null, none: not these.
    void run(const StepContext& context, CoupledKernel chains, TreeKernel trees, std::optional<GraphPass> graphs,
             Of of = Of::all);
    void sort_graphs();
    void find_near(const Bodies& bodies, Manifolds manifolds);
    void note_breaks(const ChainBundle& bundle, std::uint32_t mask);

    Rigs rigs_;
    TreeGroups trees_;
    GraphGroups graphs_;
    std::vector<ChainBundle> bundles_;  // those of chains that are cut behind the others
    std::size_t uncut_bundles_ = 0, uncut_slots_ = 0;
    std::vector<ChainSlot> slots_;
    std::vector<ChainExtras> extras_;
    std::vector<float> mean_n_;             // by force_row
    std::unique_ptr<RigSession> device_;    // null: the CPU alone
    std::uint64_t layout_ = 0;              // AloneTick::layout
    std::vector<std::uint32_t> kinematic_;  // that hold trees or graphs, ascending

    // Of a tick.
    const RigKernels* kernels_ = nullptr;
    Executor* executor_ = nullptr;
    std::span<Joint> joints_;
    std::span<RigForce> force_;
    std::uint32_t elsewhere_ = 0;
    DeviceTimes device_times_;
    std::span<PoseRecord> start_pose_;
    bool lost_ = false;
    bool any_coupled_ = false;
    std::vector<std::uint32_t> left_out_;               // bodies of trees and graphs that were solved elsewhere
    std::vector<std::uint32_t> moving_;                 // of kinematic_
    std::vector<std::uint8_t> touched_;                 // by rig
    std::vector<std::uint8_t> met_;                     // by rig: in contact with something
    std::vector<std::uint8_t> near_;                    // by body
    std::vector<std::uint8_t> flags_, base_flags_;      // base: those of the bodies that flags_ were made from
    std::vector<std::uint32_t> alone_, cut_, coupled_;  // bundles; cut: of chains that are alone and cut
    std::vector<std::uint32_t> here_;                   // of alone_ and cut_ those that the CPU solves
    std::vector<AloneWork> alone_work_;                 // by worker
    std::vector<CoupledSlot> coupled_work_;             // of coupled_ in order
    std::vector<std::size_t> coupled_begin_;
    GraphTeam team_;
    std::vector<std::uint32_t> team_graphs_,
        other_graphs_;  // awake ones: large, which all workers solve together, and others
};

}  // namespace orrery::sim
