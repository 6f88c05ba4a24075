// Contract: `orrery replay info`, `state` and `cut` say what a recording holds, and end with the documented exit codes.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "protocol/replay/writer.h"
#include "server/cli/replay.h"
#include "server/cli/verify.h"
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

std::string write_file(const test::TempFolder& folder, const char* name, const std::vector<std::uint8_t>& bytes) {
    const std::string path = folder / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
}
std::vector<std::uint8_t> read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

server::VerifiedReplay verified(const std::string& path) {
    server::VerifySettings settings;
    settings.require_complete = true;
    server::VerifiedReplay result = server::verify_replay(path, settings);
    REQUIRE_MESSAGE(server::verify_exit_code(result, settings) == 0, server::verify_text(result, settings));
    return result;
}

}  // namespace

TEST_CASE("info says what a recording is, of any way in which it ended") {
    const test::TempFolder folder;
    std::vector<std::uint8_t> bytes = test::record_yard({.ticks = 240, .keyframe_every = 90, .ticks_per_chunk = 30});
    const std::string path = write_file(folder, "yard.orr", bytes);
    const Printed text = replay({"info", path});
    CHECK(text.code == 0);
    CHECK(has(text.out, "complete"));
    CHECK(has(text.out, "ticks        1 to 240, 4.0 s at 60 Hz"));
    CHECK(has(text.out, "keyframes    2"));
    const Printed json = replay({"info", path, "--json"});
    CHECK(json.code == 0);
    CHECK(has(json.out, "\"first_tick\": 0, \"last_tick\": 240, \"keyframes\": 2"));
    CHECK(has(json.out, "\"file_header\": {\"chunks\": 1"));
    CHECK(has(json.out, "\"ticks\": {\"chunks\": 8"));

    bytes.resize(bytes.size() - 60);  // within the end record
    CHECK(has(replay({"info", write_file(folder, "cut_off.orr", bytes)}).out, "cut off"));
    bytes[bytes.size() / 2] ^= 1;
    const Printed damaged = replay({"info", write_file(folder, "damaged.orr", bytes)});
    CHECK(damaged.code == 2);
    CHECK(has(damaged.err, "byte "));
    CHECK(replay({"info", folder / "none.orr"}).code == 2);
}

TEST_CASE("info shows players, notes and signatures") {
    namespace rp = protocol::replay;
    const test::TempFolder folder;
    std::vector<std::uint8_t> file;
    rp::ReplayWriter writer;
    rp::FileHeader header;
    header.scene_name = "yard", header.room = "test", header.about = {{"build", "0.1.0"}};
    header.run[0] = 0xab;
    const auto add = [&](const Result<rp::ReplayWriter::Bytes>& bytes) { test::append(file, bytes); };
    add(writer.begin(header));
    add(writer.tick(1, {}, {}));
    add(writer.add(
        rp::PlayerRecord{.slot = 3, .change = rp::PlayerChange::came, .id_form = rp::IdForm::plain, .client_id = 77}));
    add(writer.add(rp::NoteRecord{.text = "goal"}));
    add(writer.sign(rp::make_signing_key(std::array<std::uint8_t, 32>{1})));
    add(writer.end());
    const Printed text = replay({"info", write_file(folder, "notes.orr", file)});
    CHECK(text.code == 0);
    CHECK(has(text.out, "run          ab00"));
    CHECK(has(text.out, "build = 0.1.0"));
    CHECK(has(text.out, "tick 1 player: slot 3 came, client 77"));
    CHECK(has(text.out, "tick 1 note: goal"));
    CHECK(has(text.out, "tick 1 sign: by "));
}

TEST_CASE("state prints every field of a tick, the same from a keyframe as from the start") {
    const test::TempFolder folder;
    const std::string path = write_file(folder, "yard.orr", test::record_yard());
    const std::string early = write_file(folder, "no_keyframe.orr", test::record_yard({.keyframe_every = 1000}));
    const Printed state = replay({"state", path, "--tick", "200"});
    CHECK(state.code == 0);
    CHECK(has(state.out, "world[0]\n  tick = 200\n"));
    CHECK(has(state.out, " player_1/chassis\n"));
    CHECK(has(state.out, "  linear_velocity = "));
    CHECK(state.out == replay({"state", early, "--tick", "200"}).out);
    CHECK(state.out != replay({"state", path, "--tick", "201"}).out);

    const Printed one = replay({"state", path, "--tick", "200", "--list", "bodies", "--index", "1", "--json"});
    CHECK(one.code == 0);
    CHECK(one.out.starts_with("{\"list\": \"bodies\", \"index\": 1, \"called\": "));
    CHECK(has(one.out, "\"position\": ["));
    CHECK(std::count(one.out.begin(), one.out.end(), '\n') == 1);

    const Printed beyond = replay({"state", path, "--tick", "241"});
    CHECK(beyond.code == 2);
    CHECK(has(beyond.err, "the recording has the states of ticks 0 to 240"));
    CHECK(replay({"state", path, "--tick", "3", "--list", "wheels"}).code == 64);
    CHECK(replay({"state", path}).code == 64);
}

TEST_CASE("a cut verifies by itself, names its parent, and can be cut again") {
    const test::TempFolder folder;
    for (const std::uint32_t per_chunk : {1u, 25u}) {
        CAPTURE(per_chunk);
        const std::string path =
            write_file(folder, per_chunk == 1 ? "a.orr" : "b.orr", test::record_yard({.ticks_per_chunk = per_chunk}));
        const std::string part = path + ".part", again = path + ".again", start = path + ".start";
        const Printed cut = replay({"cut", path, "--from", "100", "--to", "200", "--out", part});
        REQUIRE_MESSAGE(cut.code == 0, cut.err);
        CHECK(has(cut.out, "ticks 100 to 200 of "));
        const server::VerifiedReplay whole = verified(part);
        CHECK(whole.report.ticks == 101);
        CHECK(whole.report.header.first_tick == 99);
        CHECK(replay({"state", part, "--tick", "180"}).out == replay({"state", path, "--tick", "180"}).out);

        REQUIRE(replay({"cut", part, "--from", "150", "--out", again}).code == 0);
        CHECK(verified(again).report.ticks == 51);
        CHECK(verified(again).report.header.parent.run == whole.report.header.run);
        CHECK(has(replay({"info", again}).out, "parent "));
        const Printed trace = replay({"trace", part, "--bodies", "seesaw"});  // from its own start
        CHECK(trace.code == 0);
        CHECK(trace.out.starts_with("tick 100 body seesaw"));
        REQUIRE(replay({"cut", part, "--out", again + ".whole"}).code == 0);
        CHECK(verified(again + ".whole").report.ticks == 101);

        REQUIRE(replay({"cut", path, "--to", "50", "--out", start}).code == 0);
        CHECK(verified(start).report.header.first_tick == 0);
        CHECK(verified(start).report.ticks == 50);
    }
}

TEST_CASE("a cut that cannot be made says why, and leaves no file") {
    const test::TempFolder folder;
    const std::string path = write_file(folder, "yard.orr", test::record_yard());
    const std::string out = folder / "part.orr";
    CHECK(replay({"cut", path, "--from", "241", "--out", out}).code == 2);
    CHECK(replay({"cut", path, "--from", "9", "--to", "8", "--out", out}).code == 64);
    CHECK(replay({"cut", path}).code == 64);
    CHECK(read_file(out).empty());
    const std::vector<std::uint8_t> before = read_file(path);
    const Printed same = replay({"cut", path, "--out", path});
    CHECK(same.code == 2);
    CHECK(has(same.err, "exists"));
    CHECK(read_file(path) == before);
}
