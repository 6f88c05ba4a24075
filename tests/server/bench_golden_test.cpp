// Golden hashes of the benchmarks' scenes: what is timed is what was timed before.
#include <doctest/doctest.h>

#include "server/cli/bench.h"
#include "tests/support/captured_output.h"
#include "tests/support/golden.h"
#include "tests/support/seed.h"

using namespace orrery;

namespace {

struct Timed {
    const char* name;
    const char* ticks;
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

}  // namespace

TEST_CASE("golden hashes of the benchmarks' scenes hold, on every target and any number of threads") {
    std::string all;
    for (const Timed& scene : {Timed{"S1_1k", "60"},
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
                               Timed{"yard", "60"}}) {
        CAPTURE(scene.name);
        const std::string reference = hash_of(scene, "auto", "1");
        if (test::sampled(2) == 2) {  // elsewhere an instruction costs too much
            for (const sim::Target target : sim::available_targets())
                CHECK(hash_of(scene, std::string(sim::target_name(target)), "1") == reference);
        }
        CHECK(hash_of(scene, "auto", "3") == reference);
        all += std::string(scene.name) + ' ' + scene.ticks + ' ' + reference + '\n';
    }
    test::check_golden("bench", "server/cli/bench_scenes.cpp", all);
}
