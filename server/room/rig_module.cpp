#include "server/room/rig_module.h"

#include <dlfcn.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace orrery::server {

namespace {

constexpr char kModuleFile[] = "liborrery_jacobi_cuda.so";

class Session final : public sim::RigSession {
  public:
    Session(const sim::RigModule& module, const ModuleRigDevice::Settings& settings) : module_(module), settings_(settings) {}
    ~Session() override {
        if (session_ != nullptr) module_.close(session_);
    }
    sim::DeviceAnswer solve(const sim::AloneTick& tick) override {
        if (beads(tick) < settings_.least_beads) return sim::DeviceAnswer::declined;
        if (session_ == nullptr) session_ = module_.open();
        if (session_ == nullptr) return sim::DeviceAnswer::declined;
        sim::RigModuleText why{};
        const sim::DeviceAnswer answer = module_.solve(session_, &tick, &why);
        if (answer == sim::DeviceAnswer::lost && settings_.on_lost) settings_.on_lost(why.text);
        return answer;
    }

  private:
    static std::uint64_t beads(const sim::AloneTick& tick) {
        std::uint64_t count = 0;
        for (std::uint32_t k = 0; k < tick.alone_count; ++k) {
            const sim::ChainBundle& bundle = tick.bundles[tick.alone[k]];
            count += std::uint64_t(bundle.links) * static_cast<std::uint64_t>(std::popcount(bundle.alone));
        }
        return count;
    }
    const sim::RigModule& module_;
    const ModuleRigDevice::Settings& settings_;
    void* session_ = nullptr;
};

std::vector<std::string> places() {
    if (const char* named = std::getenv("ORRERY_JACOBI_MODULE"); named != nullptr && *named != '\0') return {named};
    std::vector<std::string> out;
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) {
        for (const std::filesystem::path& folder : {program.parent_path(), program.parent_path().parent_path() / "lib"}) {
            const std::filesystem::path file = folder / kModuleFile;
            if (std::filesystem::exists(file, error)) out.push_back(file.string());
        }
    }
    out.emplace_back(kModuleFile);
    return out;
}

}  // namespace

std::unique_ptr<sim::RigSession> ModuleRigDevice::open() { return std::make_unique<Session>(module_, settings_); }

RigModuleFound find_rig_module() {
    void* library = nullptr;
    std::string why;
    for (const std::string& place : places()) {
        library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) break;
        why = dlerror();
    }
    if (library == nullptr) return {nullptr, "no CUDA module: " + why};
    const auto entry = reinterpret_cast<sim::RigModuleEntry>(dlsym(library, sim::kRigModuleSymbol));
    const sim::RigModule* const module = entry != nullptr ? entry() : nullptr;
    if (module == nullptr || module->layout != sim::rig_module_layout() || module->engine_version != sim::kEngineVersion)
        return {nullptr, std::string(kModuleFile) + " is of another build than this program; build both of the same sources"};
    sim::RigModuleText text{};
    if (!module->find(&text)) return {nullptr, text.text};
    return {module, text.text};
}

}  // namespace orrery::server
