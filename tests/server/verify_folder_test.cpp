// Contract: `orrery verify DIR` verifies every recording in a folder, and tells what became of each and of all.
#include <doctest/doctest.h>

#include <filesystem>

#include "protocol/replay/reader.h"
#include "server/cli/verify.h"
#include "server/cli/verify_folder.h"
#include "tests/support/captured_output.h"
#include "tests/support/temp_folder.h"
#include "tests/support/yard_recording.h"

using namespace orrery;
using test::Printed;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Printed verify(std::vector<std::string> arguments) {
    return test::printed_by([&] { return server::verify_command(arguments); });
}

const std::vector<std::uint8_t>& yard() {
    static const std::vector<std::uint8_t> file = test::record_yard({.ticks = 60, .keyframe_every = 25});
    return file;
}

}  // namespace

TEST_CASE("a folder with a good, an open, a cut-off, a false, a damaged and an old recording") {
    const test::TempFolder folder;
    const std::vector<std::uint8_t>& good = yard();
    std::filesystem::create_directories(folder / "rooms/b");
    test::write_file(folder / "rooms/a.orr", good);
    test::write_file(folder / "rooms/notes.txt", good);
    CHECK(verify({folder.path()}).code == 0);

    const std::vector<test::Piece> pieces = test::pieces(good);
    test::write_file(folder / "rooms/b/open.orr", test::joined(good, {pieces.begin(), pieces.end() - 1}));
    test::write_file(folder / "rooms/b/torn.orr", {good.begin(), good.end() - 5});
    CHECK(verify({folder.path()}).code == 0);
    CHECK(verify({folder.path(), "--require-complete"}).code == 1);

    test::write_file(folder / "lie.orr",
                     test::rewritten(good, {.tick = [](auto& record) { record.hash.root ^= record.tick == 40; }}));
    CHECK(verify({folder.path()}).code == 1);
    std::vector<std::uint8_t> damaged = good;
    damaged[damaged.size() / 2] ^= 1;
    test::write_file(folder / "damaged.orr", damaged);
    test::write_file(folder / "old.orr",
                     test::rewritten(good, {.header = [](auto& header) { header.engine_version = 3; }}));

    const Printed text = verify({folder.path(), "--parallel", "2"});
    CHECK(text.code == 2);
    CHECK(
        has(text.out, "6 recordings: 3 same, 1 diverged, 1 unreadable, 1 of other engine versions; 1 open, 1 cut off"));
    CHECK(has(text.out, "engine version 3, which the image orrery:3 verifies:\n  " + (folder / "old.orr") + "\n"));
    CHECK(text.out.find("damaged.orr") < text.out.find("lie.orr"));
    CHECK(text.out.find("old.orr") < text.out.find("lie.orr"));  // the worst first
    CHECK(text.out.find("lie.orr") < text.out.find("rooms/a.orr"));
    CHECK(text.out.find("rooms/a.orr") < text.out.find("rooms/b/open.orr"));
    CHECK_FALSE(has(text.out, "notes.txt"));
    CHECK(has(text.err, "lie.orr: diverged at tick 40 in "));
    CHECK(has(text.err, "damaged.orr: unreadable: byte "));

    const Printed json = verify({folder.path(), "--json"});
    CHECK(json.code == 2);
    CHECK(std::count(json.out.begin(), json.out.end(), '\n') == 7);
    CHECK(has(json.out, "\"end\": \"open\""));
    CHECK(has(json.out, "\"end\": \"cut off\""));
    CHECK(has(json.out, "\"image\": \"orrery:3\""));
    CHECK(has(json.out,
              "{\"summary\": {\"replays\": 6, \"same\": 3, \"diverged\": 1, \"unreadable\": 1, "
              "\"other_versions\": {\"orrery:3\": [\"" +
                  (folder / "old.orr") + "\"]}, \"open\": 1, \"cut_off\": 1"));
    CHECK(has(json.out, "\"exit_code\": 2}}"));
}

TEST_CASE("a folder without recordings proves nothing, and files beside a folder are verified too") {
    const test::TempFolder folder, second;
    const Printed none = verify({folder.path()});
    CHECK(none.code == 2);
    CHECK(has(none.err, "has no recordings"));
    test::write_file(folder / "a.orr", yard());
    test::write_file(second / "b.replay", yard());
    const Printed both = verify({folder.path(), second / "b.replay"});
    CHECK(both.code == 0);
    CHECK(has(both.out, "2 recordings: 2 same"));
    CHECK(verify({folder.path(), second / "none.orr"}).code == 2);
}

TEST_CASE("folders are gone through in order of names, and links to folders are not followed") {
    const test::TempFolder folder;
    std::filesystem::create_directories(folder / "b/deep");
    std::filesystem::create_directory_symlink(folder.path(), folder / "b/loop");
    for (const char* name : {"c.orr", "a.orr", "b/deep/z.orr", "b/y.orr"}) test::write_file(folder / name, {1, 2, 3});
    const auto list = server::list_replays({folder.path()});
    REQUIRE(list.ok());
    CHECK(list->has_folder);
    REQUIRE(list->replays.size() == 4);
    CHECK(list->replays[0].path == folder / "a.orr");
    CHECK(list->replays[1].path == folder / "b/deep/z.orr");
    CHECK(list->replays[2].path == folder / "b/y.orr");
    CHECK(list->replays[3].path == folder / "c.orr");
    CHECK(list->replays[3].bytes == 3);
}

TEST_CASE("the meter goes by bytes, and what is not simulated counts as none") {
    std::vector<server::ListedReplay> replays = {
        {.path = "a", .bytes = 100}, {.path = "b", .bytes = 300}, {.path = "c", .bytes = 600}};
    server::VerifyMeter meter(replays);
    CHECK(has(meter.text(), "0 of 3 recordings, 0.0 %"));
    meter.begin(replays[0]);
    meter.end(replays[0], true);
    CHECK(has(meter.text(), "1 of 3 recordings, 10.0 %"));
    meter.begin(replays[2]);
    meter.end(replays[2], false);
    CHECK(has(meter.text(), "2 of 3 recordings, 25.0 %"));
    meter.begin(replays[1]);
    meter.of_file().ticks = 100;
    meter.of_file().done = 50;
    CHECK(has(meter.text(), "2 of 3 recordings, 62.5 %"));
}

TEST_CASE("a recording that grows while it is verified is open") {
    server::VerifiedReplay replay;
    replay.report.status = protocol::replay::ReadStatus::torn;
    CHECK(server::end_name(replay) == "cut off");
    replay.grew = true;
    CHECK(server::end_name(replay) == "open");
}
