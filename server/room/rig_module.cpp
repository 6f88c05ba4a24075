#include "server/room/rig_module.h"

#include "server/room/rig_costs.h"

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
        if (!device_.settings_.always) {
            const RigCosts costs = rig_costs(tick);
            if (costs.device_ms >= costs.host_ms) return sim::DeviceAnswer::declined;
        }
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
