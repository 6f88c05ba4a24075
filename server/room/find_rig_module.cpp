#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "server/room/rig_module.h"

namespace orrery::server {

namespace {

constexpr char kModuleFile[] = "liborrery_jacobi_cuda.so";

// Ropes that swing, one more link each; every other one with a twig at its end, every third with ends that meet.
sim::WorldDef trial() {
    sim::WorldDef def;
    def.solver.rig_joints = 2;
    def.shapes.push_back({"bead", sim::ShapeType::sphere, 0.1f, 0.0f, {}});
    for (std::uint32_t rope = 0; rope < 20; ++rope) {
        for (std::uint32_t k = 0; k < rope + 2; ++k) {
            sim::BodyDef bead;
            bead.shape = 0;
            bead.mask = 0;
            bead.pose.position = {0.25f * static_cast<float>(k), 0.0f, static_cast<float>(rope)};
            bead.angular_velocity = {1.0f, 2.0f, 3.0f};
            sim::JointDef joint;
            joint.body_b = static_cast<std::uint32_t>(def.bodies.size());
            joint.body_a = k == 0 ? sim::kNone : joint.body_b - 1;
            sim::BallSocket ball;
            ball.anchor_a = k == 0 ? sim::Vec3{-0.125f, 0.0f, static_cast<float>(rope)} : sim::Vec3{0.125f, 0.0f, 0.0f};
            ball.anchor_b = {-0.125f, 0.0f, 0.0f};
            joint.constraint = ball;
            def.bodies.push_back(bead);
            def.joints.push_back(joint);
        }
        const auto last = static_cast<std::uint32_t>(def.bodies.size() - 1), links = rope + 2;
        const auto tie = [&def](std::uint32_t a, std::uint32_t b) {
            sim::BallSocket ball;
            ball.anchor_a = ball.anchor_b = {0.0f, 0.1f, 0.0f};
            sim::JointDef joint;
            joint.body_a = a;
            joint.body_b = b;
            joint.constraint = ball;
            def.joints.push_back(joint);
        };
        if (rope % 2 == 1) {
            def.bodies.push_back(def.bodies[last]);
            tie(last + 1 - links / 2, last + 1);
        }
        if (rope % 3 == 2) tie(last + 1 - links, last);
    }
    return def;
}

// Empty, or what is wrong with it.
std::string try_out(const sim::RigModule& module) {
    std::string problem;
    ModuleRigDevice::Settings settings;
    settings.always = true;
    settings.on_lost = [&problem](const std::string& why) { problem = why; };
    ModuleRigDevice device(module, settings);
    const auto definition = sim::Definition::create(trial());
    if (!definition) return "the world of the trial cannot be made";
    const auto there = sim::World::create(*definition, {.rig_device = &device}), here = sim::World::create(*definition);
    if (!there.ok() || !here.ok()) return "the world of the trial cannot be made";
    for (int tick = 0; tick < 30; ++tick) (*there)->step(), (*here)->step();
    if (problem.empty() && (*there)->hash().root != (*here)->hash().root) problem = "its bits differ from the CPU's";
    return problem;
}

std::vector<std::string> places() {
    if (const char* named = std::getenv("ORRERY_JACOBI_MODULE"); named != nullptr && *named != '\0') return {named};
    std::vector<std::string> out;
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) {
        for (const std::filesystem::path& folder :
             {program.parent_path(), program.parent_path().parent_path() / "lib"}) {
            const std::filesystem::path file = folder / kModuleFile;
            if (std::filesystem::exists(file, error)) out.push_back(file.string());
        }
    }
    out.emplace_back(kModuleFile);
    return out;
}

}  // namespace

RigModuleFound find_rig_module() {
    void* library = nullptr;
    std::string why;
    for (const std::string& place : places()) {
        library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) break;
        const char* const error = dlerror();
        if (why.empty() && error != nullptr) why = error;  // of a file that is there, if any is
    }
    if (library == nullptr)
        return {nullptr, "no CUDA module: " + why +
                             " (it is built if nvcc 12 or newer and a GPU are there, or with -DORRERY_CUDA=ON; "
                             "ORRERY_JACOBI_MODULE names a module elsewhere)"};
    const auto entry = reinterpret_cast<sim::RigModuleEntry>(dlsym(library, sim::kRigModuleSymbol));
    const sim::RigModule* const module = entry != nullptr ? entry() : nullptr;
    if (module == nullptr || module->layout != sim::rig_module_layout() ||
        module->engine_version != sim::kEngineVersion)
        return {nullptr,
                std::string(kModuleFile) + " is of another build than this program; build both from the same sources"};
    sim::RigModuleText text{};
    if (!module->find(&text)) return {nullptr, text.text};
    const std::string problem = try_out(*module);
    if (!problem.empty()) return {nullptr, std::string(text.text) + " is not used: " + problem};
    return {module, text.text};
}

}  // namespace orrery::server
