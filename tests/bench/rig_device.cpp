// What a GPU takes for chains, by its own clock: the rigs of S1_100k in the middle of their swing, so many times side
// by side, given to the GPU module as a world does. More of them than a world may hold show what the device is good
// for. Every copy's bits are compared with the CPU's.
//
//   bench_rig_device [SUBSTEPS [THREADS [COPIES...]]]     2 substeps; 1 thread of the host; 1, 10, 100 copies of
//   100,000 beads
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "protocol/scene/scene.h"
#include "server/cli/bench_scenes.h"
#include "server/room/rig_module.h"
#include "server/room/thread_pool.h"

using namespace orrery;

namespace {

constexpr int kTicksBefore = 60;

struct Recorded {
    sim::AloneTick tick{};
    std::vector<sim::PoseRecord> pose;
    std::vector<sim::VelocityRecord> velocity;
    std::vector<sim::RigForce> force;
    std::vector<float> mean_n;
    std::vector<sim::ChainBundle> bundles;
    std::vector<std::uint32_t> alone;
    std::vector<sim::ChainSlot> slots;
    std::vector<sim::ChainExtras> extras;
};

// Copies what it is asked to solve, and leaves it to the CPU.
class Recorder final : public sim::RigDevice {
  public:
    std::unique_ptr<sim::RigSession> open() override { return std::make_unique<Session>(*this); }
    Recorded last;

  private:
    class Session final : public sim::RigSession {
      public:
        explicit Session(Recorder& recorder) : recorder_(recorder) {}
        sim::DeviceAnswer solve(const sim::AloneTick& t, sim::DeviceTimes&) override {
            Recorded& r = recorder_.last;
            r.tick = t;
            r.pose.assign(t.pose, t.pose + t.body_count);
            r.velocity.assign(t.velocity, t.velocity + t.body_count);
            r.force.assign(t.force, t.force + t.force_rows);
            r.mean_n.assign(t.mean_n, t.mean_n + t.force_rows);
            r.bundles.assign(t.bundles, t.bundles + t.bundle_count);
            r.alone.assign(t.alone, t.alone + t.alone_count);
            r.slots.assign(t.slots, t.slots + t.slot_count);
            r.extras.assign(t.extras, t.extras + t.slot_count);
            return sim::DeviceAnswer::declined;
        }

      private:
        Recorder& recorder_;
    };
};

template <class T>
void repeat(std::vector<T>& of, std::size_t copies) {
    const std::vector<T> once = of;
    of.reserve(once.size() * copies);
    for (std::size_t k = 1; k < copies; ++k) of.insert(of.end(), once.begin(), once.end());
}

Recorded many(const Recorded& one, std::uint32_t copies) {
    Recorded r = one;
    const sim::AloneTick& t = one.tick;
    repeat(r.pose, copies);
    repeat(r.velocity, copies);
    repeat(r.force, copies);
    repeat(r.mean_n, copies);
    repeat(r.bundles, copies);
    repeat(r.alone, copies);
    repeat(r.slots, copies);
    repeat(r.extras, copies);
    for (std::uint32_t k = 1; k < copies; ++k) {
        for (std::uint32_t b = 0; b < t.bundle_count; ++b) r.bundles[k * t.bundle_count + b].slot += k * t.slot_count;
        for (std::uint32_t b = 0; b < t.alone_count; ++b) r.alone[k * t.alone_count + b] += k * t.bundle_count;
        for (std::uint32_t s = 0; s < t.slot_count; ++s) {
            sim::ChainSlot& slot = r.slots[std::size_t(k) * t.slot_count + s];
            for (std::uint32_t lane = 0; lane < sim::kBundleLanes; ++lane) {
                slot.body[lane] += k * t.body_count;
                slot.force[lane] += k * t.force_rows;
            }
        }
    }
    r.tick.pose = r.pose.data();
    r.tick.velocity = r.velocity.data();
    r.tick.body_count = t.body_count * copies;
    r.tick.force = r.force.data();
    r.tick.mean_n = r.mean_n.data();
    r.tick.force_rows = t.force_rows * copies;
    r.tick.bundles = r.bundles.data();
    r.tick.bundle_count = t.bundle_count * copies;
    r.tick.alone = r.alone.data();
    r.tick.alone_count = t.alone_count * copies;
    r.tick.slots = r.slots.data();
    r.tick.extras = r.extras.data();
    r.tick.slot_count = t.slot_count * copies;
    return r;
}

double median(std::vector<double> of) {
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
}

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "bench_rig_device: %s\n", why.c_str());
    std::exit(1);
}

// The same, after the CPU's step.
void compare(const Recorded& device, const Recorded& cpu, std::uint32_t copies) {
    const auto same = [copies](const auto& there, const auto& here) {
        for (std::size_t k = 0; k < copies; ++k) {
            if (std::memcmp(there.data() + k * here.size(), here.data(), sizeof(here[0]) * here.size()) != 0)
                return false;
        }
        return true;
    };
    if (!same(device.pose, cpu.pose) || !same(device.velocity, cpu.velocity) || !same(device.force, cpu.force))
        fail("the bits are not the CPU's");
}

void measure(const sim::RigModule& module, const Recorded& one, const Recorded& after, std::uint32_t copies,
             server::ThreadPool& pool) {
    using Clock = std::chrono::steady_clock;
    Recorded r = many(one, copies);
    r.tick.run = [](void* executor, std::uint32_t count, void (*task)(void*, std::uint32_t), void* context) {
        static_cast<server::ThreadPool*>(executor)->run(count, task, context);
    };
    r.tick.executor = &pool;
    r.tick.workers = pool.worker_count();
    sim::RigModuleText why{};
    void* const session = module.open(&why);
    if (session == nullptr) fail(why.text);
    std::vector<double> solve, back, whole;
    double first = 0.0;
    const int solves = copies < 50 ? 21 : 6;
    for (int k = 0; k < solves; ++k) {
        sim::DeviceTimes times;
        const Clock::time_point start = Clock::now();
        const sim::DeviceAnswer answer = module.solve(session, &r.tick, &times, &why);
        const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        if (answer != sim::DeviceAnswer::done)
            fail(answer == sim::DeviceAnswer::declined ? "no room for so many" : why.text);
        if (k == 0) {  // memory is taken, everything is sent
            first = ms;
            compare(r, after, copies);
            continue;
        }
        solve.push_back(static_cast<double>(times.solve_ms));
        back.push_back(static_cast<double>(times.return_ms));
        whole.push_back(ms);
    }
    module.close(session);
    const auto [least, most] = std::minmax_element(solve.begin(), solve.end());
    std::printf(
        "%9u beads, %u substeps: solve %.4f ms (%.4f to %.4f), return %.3f, whole call %.3f, first call %.1f; the "
        "CPU's bits\n",
        (one.tick.body_count - 1) * copies, one.tick.substeps, median(solve), *least, *most, median(back),
        median(whole), first);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int k) { return static_cast<std::uint32_t>(std::strtoul(argv[k], nullptr, 10)); };
    std::vector<std::uint32_t> copies;
    for (int k = 3; k < argc; ++k) copies.push_back(number(k));
    if (copies.empty()) copies = {1, 10, 100};

    const server::RigModuleFound found = server::find_rig_module();
    if (found.module == nullptr) fail(found.text);
    std::printf("%s\n", found.text.c_str());
    server::ThreadPool pool(argc > 2 ? number(2) : 1);
    std::string unknown;
    const server::BenchScene& scene = *server::select_bench_scenes({"S1_100k"}, unknown).at(0);
    const std::string text = scene.text(scene.count);
    protocol::SceneOverrides overrides;
    overrides.substeps = argc > 1 ? number(1) : 2;
    auto loaded =
        protocol::load_scene({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, scene.name, overrides);
    if (!loaded) fail(loaded.error().to_string());
    Recorder recorder;
    auto world = sim::World::create(loaded->world, {.rig_device = &recorder});
    if (!world) fail(world.error().to_string());
    for (int tick = 0; tick < kTicksBefore; ++tick) (*world)->step();
    const Recorded one = recorder.last;
    Recorded after;  // what the next step begins with
    (*world)->step();
    after = recorder.last;
    for (const std::uint32_t n : copies) measure(*found.module, one, after, n, pool);
    return 0;
}
