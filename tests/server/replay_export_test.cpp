// Contract: `orrery replay export` writes the recorded motion so that other programs read it back, and `seek` goes to
// any tick.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <sstream>

#include "server/cli/motion_sink.h"
#include "server/cli/motion_track.h"
#include "server/cli/replay.h"
#include "tests/support/captured_output.h"
#include "tests/support/temp_folder.h"
#include "tests/support/yard_recording.h"

using namespace orrery;
using test::Printed;

namespace {

Printed replay(std::vector<std::string> arguments) {
    return test::printed_by([&] { return server::replay_command(arguments); });
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string text_of(const std::string& path) {
    const auto bytes = test::read_file(path);
    return {bytes.begin(), bytes.end()};
}
std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, at);) parts.push_back(part);
    return parts;
}

}  // namespace

TEST_CASE("CSV has a line for each body and tick, with numbers that read back to the same bits") {
    const test::TempFolder folder;
    test::write_file(folder / "yard.orr", test::record_yard({.ticks = 60, .keyframe_every = 25, .ticks_per_chunk = 9}));
    const Printed made = replay(
        {"export", folder / "yard.orr", "--csv", folder / "a.csv", "--from", "20", "--to", "50", "--every", "10"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    const std::vector<std::string> lines = split(text_of(folder / "a.csv"), '\n');
    CHECK(lines[0] == server::kCsvColumns);

    // The world of the recording, simulated here.
    std::ifstream in(ORRERY_SOURCE_DIR "/deploy/scenes/yard.json", std::ios::binary);
    const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(in), {}};
    auto world = sim::World::create(protocol::load_scene(text, "yard")->world);
    REQUIRE(world.ok());
    std::vector<sim::BodyState> bodies;
    std::size_t line = 1;
    for (std::uint64_t tick = 1; tick <= 50; ++tick) {
        REQUIRE((*world)->step(test::yard_commands(tick)) == sim::StepStatus::ok);
        if (tick < 20 || tick % 10 != 0) continue;
        (*world)->read_bodies(bodies);
        for (const sim::BodyState& body : bodies) {
            REQUIRE(line < lines.size());
            const std::vector<std::string> fields = split(lines[line++], ',');
            REQUIRE(fields.size() == 17);
            CHECK(fields[0] == std::to_string(tick));
            CHECK(std::strtod(fields[1].c_str(), nullptr) == doctest::Approx(static_cast<double>(tick) / 60.0));
            CHECK(fields[2] == std::to_string(body.id.index) + ":" + std::to_string(body.id.generation));
            const sim::Vec3 p = body.pose.position, v = body.linear_velocity, w = body.angular_velocity;
            const sim::Quat q = body.pose.orientation;
            const float numbers[] = {p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z};
            bool same = true;
            for (std::size_t i = 0; i < 13; ++i) {
                const float read = std::strtof(fields[4 + i].c_str(), nullptr);
                same = same && std::memcmp(&read, &numbers[i], sizeof read) == 0;
            }
            CHECK(same);
        }
    }
    CHECK(line == lines.size());

    const Printed one = replay({"export", folder / "yard.orr", "--csv", "-", "--bodies", "player_1/chassis,seesaw"});
    CHECK(one.code == 0);
    const std::vector<std::string> few = split(one.out, '\n');
    CHECK(few.size() == 1 + 61 + 56);  // the player comes in tick 5
    CHECK(has(few.back(), "60,1,"));
    CHECK(server::csv_field("a \"b\", c") == "\"a \"\"b\"\", c\"");
}

TEST_CASE("an export that cannot be made says why, and leaves no file and no other file changed") {
    const test::TempFolder folder;
    const std::string path = folder / "yard.orr", out = folder / "out";
    test::write_file(path, test::rewritten(test::record_yard({.ticks = 30}),
                                           {.tick = [](auto& record) { record.hash.root ^= record.tick == 20; }}));
    for (const char* form : {"--csv", "--gltf"}) {
        CHECK(replay({"export", path, form, out}).code == 1);
        CHECK_FALSE(std::filesystem::exists(out));
        CHECK(replay({"export", path, form, out, "--to", "19"}).code == 0);
        const auto before = test::read_file(out);
        const Printed again = replay({"export", path, form, out, "--to", "19"});
        CHECK(again.code == 2);
        CHECK(has(again.err, "name a new file"));
        CHECK(test::read_file(out) == before);
        std::filesystem::remove(out);
        CHECK(replay({"export", path, form, out, "--from", "31"}).code == 2);
    }
    CHECK(replay({"export", path}).code == 64);
    CHECK(replay({"export", path, "--csv", out, "--gltf", out}).code == 64);
    CHECK(replay({"export", path, "--gltf", out, "--every", "2"}).code == 64);
    CHECK(replay({"export", path, "--gltf", out, "--tolerance", "0"}).code == 64);
}

TEST_CASE("few keys keep a path within the tolerance of every sample") {
    server::MotionTrack<sim::Vec3> path(0.01);
    server::MotionTrack<sim::Quat> turn(0.02);
    std::vector<sim::Vec3> positions;
    std::vector<sim::Quat> turns;
    for (int i = 0; i <= 600; ++i) {
        const double t = i / 60.0, angle = 0.3 * t * t;
        positions.push_back({static_cast<float>(std::sin(t)), static_cast<float>(2.0 * t), i < 300 ? 0.0f : 1.0f});
        turns.push_back({static_cast<float>(0.6 * std::sin(angle)), static_cast<float>(0.8 * std::sin(angle)), 0.0f,
                         static_cast<float>(std::cos(angle))});
        path.add(t, positions.back());
        turn.add(t, turns.back());
    }
    path.end();
    turn.end();
    CHECK(path.keys().size() < 60);
    CHECK(turn.keys().size() < 120);
    CHECK(path.moves());
    const auto key_before = [](const auto& keys, double t) {
        std::size_t at = 0;
        while (at + 2 < keys.size() && keys[at + 1].time_s <= t) ++at;
        return at;
    };
    double worst = 0.0, worst_turn = 0.0;
    for (std::size_t i = 0; i <= 600; ++i) {
        const double t = static_cast<double>(i) / 60.0;
        const auto& a = path.keys()[key_before(path.keys(), t)];
        const auto& b = path.keys()[key_before(path.keys(), t) + 1];
        const double part = (t - a.time_s) / (b.time_s - a.time_s);
        const auto off = [&](float from, float to, float want) {
            return static_cast<double>(from) + part * static_cast<double>(to - from) - static_cast<double>(want);
        };
        worst = std::max(
            worst, std::hypot(off(a.value.x, b.value.x, positions[i].x), off(a.value.y, b.value.y, positions[i].y),
                              off(a.value.z, b.value.z, positions[i].z)));

        // As players do it: the shortest way at a constant speed.
        const auto& c = turn.keys()[key_before(turn.keys(), t)];
        const auto& d = turn.keys()[key_before(turn.keys(), t) + 1];
        const double share = (t - c.time_s) / (d.time_s - c.time_s);
        const auto four = [](const sim::Quat& q) {
            return std::array<double, 4>{static_cast<double>(q.x), static_cast<double>(q.y), static_cast<double>(q.z),
                                         static_cast<double>(q.w)};
        };
        const auto from = four(c.value), to = four(d.value), want = four(turns[i]);
        double cosine = 0.0, found = 0.0;
        for (std::size_t k = 0; k < 4; ++k) cosine += from[k] * to[k];
        const double sign = cosine < 0.0 ? -1.0 : 1.0, half = std::acos(std::min(1.0, sign * cosine));
        for (std::size_t k = 0; k < 4; ++k) {
            const double value =
                half < 1e-9 ? from[k]
                            : (std::sin((1.0 - share) * half) * from[k] + std::sin(share * half) * sign * to[k]) /
                                  std::sin(half);
            found += value * want[k];
        }
        worst_turn = std::max(worst_turn, 2.0 * std::acos(std::min(1.0, std::abs(found))));
    }
    CHECK(worst <= 0.01 + 1e-6);
    CHECK(worst > 0.001);
    CHECK(worst_turn <= 0.02 + 1e-3);  // acos of single precision near 1
    CHECK(worst_turn > 0.002);

    server::MotionTrack<sim::Vec3> still(0.01);
    for (int i = 0; i < 100; ++i) still.add(i, {1.0f, 2.0f, 3.0f});
    still.end();
    CHECK(still.keys().size() == 2);
    CHECK_FALSE(still.moves());
}

TEST_CASE("seek answers ticks from stdin and at random") {
    const test::TempFolder folder;
    const std::string path = folder / "yard.orr";
    test::write_file(path, test::record_yard({.ticks = 120, .keyframe_every = 50}));
    std::istringstream ticks("100\n\n7\r\n121\n120\n");
    std::streambuf* const stdin_before = std::cin.rdbuf(ticks.rdbuf());
    const Printed asked = replay({"seek", path});
    std::cin.rdbuf(stdin_before);
    std::cin.clear();
    CHECK(asked.code == 2);
    const std::vector<std::string> lines = split(asked.out, '\n');
    REQUIRE(lines.size() == 3);
    CHECK(has(lines[0], "tick 100 hash "));
    CHECK(has(lines[0], " ms cold, 0 ticks simulated"));
    CHECK(has(lines[1], "tick 7 hash "));
    CHECK(has(lines[2], "tick 120 hash "));
    CHECK(has(asked.err, "stdin:2: "));
    CHECK(has(asked.err, "the recording has the states of ticks 0 to 120"));
    CHECK(has(asked.err, "cold: 3 seeks"));

    const Printed random = replay({"seek", path, "--random", "20", "--from", "60", "--to", "90", "--cover", "--json"});
    CHECK(random.code == 0);
    CHECK(std::count(random.out.begin(), random.out.end(), '\n') == 21);
    CHECK(has(random.out, "{\"cold\": {\"seeks\": 1, "));
    CHECK(has(random.out, "\"warm\": {\"seeks\": 19, "));
    const Printed again = replay({"seek", path, "--random", "20", "--from", "60", "--to", "90", "--json"});
    CHECK(again.out.substr(0, 40) == random.out.substr(0, 40));  // the same ticks and hashes
    CHECK(replay({"seek", path, "--random", "2", "--from", "121"}).code == 2);
    CHECK(replay({"seek", path, "--from", "3"}).code == 64);
}
