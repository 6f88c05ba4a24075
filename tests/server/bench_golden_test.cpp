// Golden hashes of the benchmarks' scenes: what is timed is what was timed before.
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "server/cli/bench.h"
#include "tests/support/captured_output.h"
#include "tests/support/golden.h"
#include "tests/support/seed.h"

using namespace orrery;

namespace {

struct Timed {
    const char* name;
    const char* ticks;
    bool large = false;  // so much to set up that one target must do
};

// The hash alone, of 16 digits.
std::string hash_of(const Timed& scene, const std::string& target, const std::string& threads) {
    const test::Printed printed = test::printed_by([&] {
        return server::bench_command(
            {scene.name, "--ticks", scene.ticks, "--json", "--target", target, "--threads", threads});
    });
    REQUIRE_MESSAGE(printed.code == 0, printed.err);
    const std::string key = "\"hash\": \"";
    const std::size_t at = printed.out.rfind(key);
    REQUIRE(at != std::string::npos);
    return printed.out.substr(at + key.size(), 16);
}

std::string hashes_of(std::initializer_list<Timed> scenes) {
    std::string all;
    for (const Timed& scene : scenes) {
        CAPTURE(scene.name);
        const std::string reference = hash_of(scene, "auto", "1");
        if (test::sampled(2) == 2 && !scene.large) {  // elsewhere an instruction costs too much
            for (const sim::Target target : sim::available_targets())
                CHECK(hash_of(scene, std::string(sim::target_name(target)), "1") == reference);
        }
        CHECK(hash_of(scene, "auto", "3") == reference);
        all += std::string(scene.name) + ' ' + scene.ticks + ' ' + reference + '\n';
    }
    return all;
}

}  // namespace

TEST_CASE("golden hashes of the benchmarks' scenes hold, on every target and any number of threads") {
    test::check_golden("bench", "server/cli/bench_scenes.cpp",
                       hashes_of({Timed{"S1_1k", "60"},
                                  Timed{"S1_10k", "10"},
                                  Timed{"S1_100k", "3"},
                                  Timed{"S2_20", "60"},
                                  Timed{"S2_40", "20"},
                                  Timed{"S2_60", "20"},
                                  Timed{"S3_1000", "150"},
                                  Timed{"S3_4000", "60"},
                                  Timed{"S3_10000", "40"},
                                  Timed{"S4_100", "60"},
                                  Timed{"S4_400", "20"},
                                  Timed{"S5_ball", "10"},
                                  Timed{"S5_dist", "10"},
                                  Timed{"joint_grid", "10"},
                                  Timed{"hulls_1000", "90"},
                                  Timed{"compounds_1000", "90"},
                                  Timed{"cylinders_1000", "90"},
                                  Timed{"terrain_1000", "60"},
                                  Timed{"rig_chain", "60"},
                                  Timed{"rig_tip", "60"},
                                  Timed{"rig_star", "60"},
                                  Timed{"rig_tree", "60"},
                                  Timed{"rig_ring", "60"},
                                  Timed{"rig_net", "60"},
                                  Timed{"yard", "60"}}));
}

TEST_CASE("golden hashes of worlds at rest, of answers to queries, of meshes and of mixed shapes hold") {
    test::check_golden("bench_worlds", "server/cli/bench_worlds.cpp",
                       hashes_of({{"asleep_10k", "1", true},
                                  {"asleep_50k", "1", true},
                                  {"fixed_50k", "2", true},
                                  {"rays", "1", true},
                                  {"casts", "1"},
                                  {"mesh_drop", "28", true},
                                  {"vehicles", "30", true},
                                  {"hull_pile", "40"},
                                  {"junkyard", "35"},
                                  {"rope_4000", "2", true}}));
}

TEST_CASE("scenes of sleep are asleep before their first tick, and answers are part of a scene's hash") {
    const auto field = [](const std::string& out, const std::string& key) {
        const std::size_t at = out.rfind("\"" + key + "\": ");
        REQUIRE(at != std::string::npos);
        return out.substr(at + key.size() + 4, 5);
    };
    const auto bench = [](const char* scene) {
        const test::Printed printed = test::printed_by([&] {
            return server::bench_command({scene, "--ticks", "1", "--json"});
        });
        REQUIRE_MESSAGE(printed.code == 0, printed.err);
        return printed.out;
    };
    CHECK(field(bench("asleep_10k"), "sleeping") == "10000");
    const std::string rays = bench("rays"), casts = bench("casts");
    CHECK(field(rays, "sleeping") == "10000");
    CHECK(field(rays, "queries") == "20000");
    CHECK(field(rays, "hash") != field(casts, "hash"));  // of one world
}
