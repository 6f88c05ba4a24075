// Contract: `orrery verify --plan`, `--segment` and `--merge` give the verdict and the exit code of `orrery verify`, by
// files alone; a rerun of a segment is harmless.
#include <sys/stat.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "protocol/replay/plan_file.h"
#include "server/cli/verify.h"
#include "tests/support/captured_output.h"
#include "tests/support/replay_files.h"
#include "tests/support/temp_folder.h"
#include "tests/support/yard_recording.h"

using namespace orrery;
using test::Printed;

namespace {

Printed verify(std::vector<std::string> arguments) {
    return test::printed_by([&] { return server::verify_command(arguments); });
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void write_text(const std::string& path, const std::string& text) {
    test::write_file(path, std::vector<std::uint8_t>(text.begin(), text.end()));
}

// The JSON of a verdict without how fast it was found.
std::string verdict(const Printed& printed) {
    std::string text = printed.out;
    for (const char* field : {"\"realtime_factor\": ", "\"threads\": ", "\"target\": "}) {
        const std::size_t begin = text.find(field);
        REQUIRE(begin != std::string::npos);
        text.erase(begin, text.find(", ", begin) - begin);
    }
    return text;
}

// A recording, its plan on disk, and its results in a folder.
struct Night {
    test::TempFolder folder;
    std::string file = folder / "yard.orr", plan = folder / "plan.json", results = folder / "results";
    std::uint32_t segments = 0;

    explicit Night(const std::vector<std::uint8_t>& recording, const char* wanted = "3") {
        test::write_file(file, recording);
        const Printed made = verify({"--plan", wanted, file});
        REQUIRE_MESSAGE(made.code == 0, made.err);
        write_text(plan, made.out);
        segments = protocol::replay::read_plan(made.out, "plan").value().segments();
    }
    std::string result(std::uint32_t segment) const {
        return results + "/segment-00" + std::to_string(segment) + ".json";
    }
    Printed segment(std::uint32_t segment, std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--segment", std::to_string(segment), plan, "--out", results});
        return verify(more);
    }
    void all_segments(const std::vector<std::string>& more = {}) const {
        for (std::uint32_t i = 0; i < segments; ++i) static_cast<void>(segment(i, more));
    }
    Printed merge(std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--merge", plan});
        for (std::uint32_t i = segments; i-- > 0;) more.push_back(result(i));
        return verify(more);
    }
};

}  // namespace

TEST_CASE("plan: merged results have the exit code and the JSON of a straight verification") {
    const std::vector<std::uint8_t> whole = test::record_yard({.keyframe_every = 60});
    const auto like_straight = [](const std::vector<std::uint8_t>& recording) {
        const Night night(recording);
        night.all_segments({"--threads", "1"});
        const Printed straight = verify({night.file, "--json"}), merged = night.merge({"--json"});
        CHECK(merged.code == straight.code);
        CHECK(verdict(merged) == verdict(straight));
        CHECK(night.merge({"--require-complete"}).code == verify({night.file, "--require-complete"}).code);
        return merged;
    };
    CHECK(has(like_straight(whole).out, "\"ticks\": 240, \"result\": \"same\", \"complete\": true"));
    CHECK(like_straight(test::record_yard({.keyframe_every = 60, .ticks_per_chunk = 30})).code == 0);
    CHECK(like_straight(test::record_yard({.keyframe_every = 60, .cut_before = 60})).code == 0);
    CHECK(has(like_straight(test::record_yard({.keyframe_every = 60, .closed = false})).out, "was not closed"));
    std::vector<std::uint8_t> torn = whole;
    torn.resize(torn.size() - 70);
    CHECK(has(like_straight(torn).out, "\"complete\": false"));
    const Printed diverged = like_straight(test::rewritten(
        whole, {.header = {},
                .tick = [](protocol::replay::TickRecord& r) { r.hash.leaves[1] ^= r.tick == 130 || r.tick == 200; },
                .keyframe = {}}));
    CHECK(diverged.code == 1);
    CHECK(has(diverged.out, "\"ticks\": 129, \"result\": \"diverged\""));
}

TEST_CASE("plan: a segment ends with the exit code of its own verdict, and its result replaces the one before") {
    const std::vector<std::uint8_t> whole = test::record_yard({.keyframe_every = 60});
    const Night night(
        test::rewritten(whole, {.header = {},
                                .tick = [](protocol::replay::TickRecord& r) { r.hash.leaves[1] ^= r.tick == 130; },
                                .keyframe = {}}));
    CHECK(night.segments == 3);
    for (int run = 0; run < 2; ++run) {
        CHECK(night.segment(0).code == 0);
        const Printed second = night.segment(1, {"--parallel", "2"});
        CHECK(second.code == 1);
        CHECK(has(second.out, "segment 1 of 3: diverged at tick 130"));
    }
    CHECK(has(night.segment(2, {"--json"}).out, "\"ticks\": 60, \"result\": \"same\""));
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(night.results))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"segment-000.json", "segment-001.json", "segment-002.json"});

    // Damage is a verdict, too: exit 2, and a result that says it. The others do not see it.
    std::vector<std::uint8_t> damaged = test::read_file(night.file);
    damaged[damaged.size() - 2000] ^= 1;
    test::write_file(night.file, damaged);
    CHECK(night.segment(0).code == 0);
    const Printed last = night.segment(2);
    CHECK(last.code == 2);
    CHECK(has(last.err, "unreadable: byte "));
    const Printed straight = verify({night.file, "--json"}), merged = night.merge({"--json"});
    CHECK(merged.code == 2);
    CHECK(verdict(merged).substr(0, verdict(merged).find("\"ancillary\"")) ==
          verdict(straight).substr(0, verdict(straight).find("\"ancillary\"")));
}

TEST_CASE("plan: without the file of the plan there is no result, and exit 2") {
    const Night night(test::record_yard({.keyframe_every = 60}));
    const std::string elsewhere = night.folder / "elsewhere.orr";
    std::filesystem::rename(night.file, elsewhere);
    CHECK(night.segment(0).code == 2);
    CHECK(night.segment(0, {"--file", elsewhere}).code == 0);
    test::write_file(elsewhere, test::record_yard({.keyframe_every = 60, .closed = false}));
    const Printed other = night.segment(1, {"--file", elsewhere});
    CHECK(other.code == 2);
    CHECK(has(other.err, "make the plan again"));
    CHECK_FALSE(std::filesystem::exists(night.result(1)));
    const Printed merged = verify({"--merge", night.plan, night.result(0)});
    CHECK(merged.code == 2);
    CHECK(has(merged.err, "segment 1 of 3 is missing"));
}

TEST_CASE("plan: workers sign by a key file of mode 0600, and a merge trusts those whose keys it is given") {
    const Night night(test::record_yard({.keyframe_every = 60}));
    const std::string key = night.folder / "worker.key", trust = night.folder / "trust";
    write_text(key, std::string(64, 'a') + "\n");
    CHECK(::chmod(key.c_str(), 0644) == 0);
    CHECK(night.segment(0, {"--worker-key", key}).code == 2);
    CHECK(::chmod(key.c_str(), 0600) == 0);
    night.all_segments({"--worker-key", key});
    CHECK(night.merge().code == 0);
    std::array<std::uint8_t, 32> seed;
    seed.fill(0xaa);
    const std::string of_key = protocol::replay::to_hex(public_key(protocol::replay::make_signing_key(seed)));
    write_text(trust, "# workers\n\nnode_7 " + of_key + "  # in the cellar\n");
    CHECK(night.merge({"--trust-workers", trust}).code == 0);
    write_text(trust, std::string(64, '0') + "\n");
    const Printed stranger = night.merge({"--trust-workers", trust, "--json"});
    CHECK(stranger.code == 2);
    CHECK(has(stranger.out, "\"result\": \"unreadable\""));
    CHECK(has(stranger.out, "not trusted"));
    write_text(trust, "node_7 " + of_key.substr(1) + "\n");
    CHECK(has(night.merge({"--trust-workers", trust}).err, "trust:1"));
    write_text(trust, "# none\n");
    CHECK(has(night.merge({"--trust-workers", trust}).err, "has no key"));
    CHECK(night.segment(1).code == 0);  // without a key
    write_text(trust, of_key + "\n");
    CHECK(has(night.merge({"--trust-workers", trust}).err, "not signed"));
}

TEST_CASE("plan: what makes no plan and what is no command line") {
    const test::TempFolder folder;
    const std::string file = folder / "yard.orr";
    std::vector<std::uint8_t> recording = test::record_yard({.ticks = 60});
    test::write_file(file, recording);
    CHECK(verify({"--plan", "2", folder / "none.orr"}).code == 2);
    const Printed plan = verify({"--plan=2", file});
    CHECK(plan.code == 0);
    CHECK(has(plan.err, "segments 0 to 0"));
    CHECK(has(plan.out, "\"size\": " + std::to_string(recording.size())));
    write_text(folder / "plan.json", plan.out);
    CHECK(verify({"--plan", "0", file}).code == 64);
    CHECK(verify({"--plan", "1001", file}).code == 64);
    CHECK(verify({"--plan", "2", file, file}).code == 64);
    CHECK(verify({"--segment", "0"}).code == 64);
    CHECK(verify({"--segment", "1", folder / "plan.json"}).code == 64);
    CHECK(verify({"--segment", "0", folder / "none.json"}).code == 2);
    CHECK(verify({"--segment", "0", file}).code == 2);  // no JSON
    CHECK(verify({"--segment", "0", folder / "plan.json", "--target", "abacus"}).code == 64);
    CHECK(verify({"--merge"}).code == 64);
    CHECK(has(verify({"--merge", folder / "plan.json"}).err, "segment 0 of 1 is missing"));
    CHECK(verify({"--merge", folder / "plan.json", folder / "plan.json"}).code == 2);  // no result
    CHECK(verify({"--segment", "0", folder / "plan.json", "--out", file}).code == 3);
    CHECK(has(verify({"--help"}).out, "--segment"));
    recording[recording.size() / 2] ^= 1;
    test::write_file(file, recording);
    const Printed damaged = verify({"--plan", "2", file});
    CHECK(damaged.code == 2);
    CHECK(damaged.out.empty());
    CHECK(has(damaged.err, "byte "));
    const Printed verdict_on_it = verify({"--plan", "2", file, "--json"});
    CHECK(verdict_on_it.code == 2);
    CHECK(verdict(verdict_on_it) == verdict(verify({file, "--json"})));
}
