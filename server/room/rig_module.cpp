#include "server/room/rig_module.h"

#include <bit>

namespace orrery::server {

class ModuleRigDevice::Session final : public sim::RigSession {
  public:
    explicit Session(ModuleRigDevice& device) : device_(device) {
        if (device_.lost_) return;
        sim::RigModuleText why{};
        session_ = device_.module_.open(&why);
        if (session_ == nullptr) device_.lose(why.text);
    }
    ~Session() override {
        if (session_ != nullptr) device_.module_.close(session_);
    }
    sim::DeviceAnswer solve(const sim::AloneTick& tick, sim::DeviceTimes& times) override {
        if (session_ == nullptr || device_.lost_) return sim::DeviceAnswer::lost;
        std::uint64_t beads = 0, threads = 0;
        for (std::uint32_t k = 0; k < tick.alone_count; ++k) {
            const sim::ChainBundle& bundle = tick.bundles[tick.alone[k]];
            const auto lanes = static_cast<std::uint64_t>(std::popcount(bundle.alone));
            threads += lanes;
            beads += lanes * bundle.links;
        }
        for (std::uint32_t k = 0; k < tick.tree_count; ++k) {
            const auto lanes = static_cast<std::uint64_t>(std::popcount(tick.trees[k].alone));
            threads += lanes;
            beads += lanes * tick.trees[k].links;
        }
        for (std::uint32_t k = 0; k < tick.graph_count; ++k) {
            const std::uint64_t joints = tick.graphs[k].alone ? std::uint64_t{tick.graphs[k].joints} * sim::kBundleLanes : 0;
            threads += joints;
            beads += joints;
        }
        if (beads < device_.settings_.least_beads || threads < device_.settings_.least_threads) return sim::DeviceAnswer::declined;
        sim::RigModuleText why{};
        const sim::DeviceAnswer answer = device_.module_.solve(session_, &tick, &times, &why);
        if (answer == sim::DeviceAnswer::lost) device_.lose(why.text);
        return answer;
    }

  private:
    ModuleRigDevice& device_;
    void* session_ = nullptr;
};

std::unique_ptr<sim::RigSession> ModuleRigDevice::open() { return std::make_unique<Session>(*this); }

void ModuleRigDevice::lose(const char* why) {
    if (!lost_.exchange(true) && settings_.on_lost) settings_.on_lost(why);
}

}  // namespace orrery::server
