// Contract: `orrery replay key` makes keys, and `orrery verify --trust` passes what one of the trusted keys signed
// whole.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "server/base/hex.h"
#include "server/base/signing_key.h"
#include "server/base/trust_file.h"
#include "server/cli/replay.h"
#include "server/cli/verify.h"
#include "tests/support/captured_output.h"
#include "tests/support/replay_files.h"
#include "tests/support/temp_folder.h"

using namespace orrery;
using test::Printed;

namespace {

namespace rp = protocol::replay;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Printed replay(std::vector<std::string> arguments) {
    return test::printed_by([&] { return server::replay_command(arguments); });
}
Printed verify(std::vector<std::string> arguments) {
    return test::printed_by([&] { return server::verify_command(arguments); });
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

constexpr std::string_view kScene = R"({
  "scene_version": 1, "name": "drop", "shapes": [{"name": "ball", "sphere": {"radius": 0.5}}],
  "bodies": [{"name": "ball", "shape": "ball", "position": [0, 3, 0]}]
})";

struct Signature {
    std::uint64_t tick = 0;  // after it
    rp::SigningKey key;
    bool whole = true;  // of tick 20
};

// A recording of a ball that falls for 20 ticks, with these signatures; those of tick 20 are before END.
std::string recorded(const std::string& path, const std::vector<Signature>& signatures, bool closed = true) {
    const std::span text(reinterpret_cast<const std::uint8_t*>(kScene.data()), kScene.size());
    const auto scene = protocol::load_scene(text, "drop.json");
    REQUIRE(scene.ok());
    auto world = sim::World::create(scene->world);
    REQUIRE(world.ok());
    rp::ReplayWriter writer(4);
    rp::FileHeader header;
    header.scene_hash = scene->scene_hash, header.tick_rate_hz = scene->world.tick_rate_hz;
    header.scene = scene->binary, header.run[0] = 7;
    std::vector<std::uint8_t> file;
    test::append(file, writer.begin(header));
    for (std::uint64_t tick = 1; tick <= 20; ++tick) {
        REQUIRE((*world)->step() == sim::StepStatus::ok);
        test::append(file, writer.tick(tick, {}, (*world)->hash()));
        for (const Signature& signature : signatures)
            if (signature.tick == tick)
                test::append(file,
                             writer.sign(signature.key, tick == 20 && signature.whole ? rp::SignedExtent::whole
                                                                                      : rp::SignedExtent::so_far));
    }
    test::append(file, closed ? writer.end() : writer.flush());
    test::write_file(path, file);
    return path;
}

}  // namespace

TEST_CASE("a signing key is made once, in a file for its owner alone, and its public key can be trusted") {
    const test::TempFolder folder;
    const std::string secret = folder / "sign.key";
    const Printed made = replay({"key", "--out", secret, "--name", "north"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    CHECK(made.out.size() == 6 + 64 + 1);
    struct stat status {};
    REQUIRE(::stat(secret.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);

    const Printed again = replay({"key", "--out", secret});
    CHECK(again.code == 2);
    CHECK(has(again.err, "name a new file"));
    CHECK(replay({"key", "--of", secret, "--name", "north"}).out == made.out);
    const auto key = server::read_signing_key(secret);
    REQUIRE(key.ok());
    CHECK(made.out == "north " + server::to_hex(rp::public_key(*key)) + "\n");
    CHECK(replay({"key", "--out", folder / "other.key"}).out != replay({"key", "--of", secret}).out);

    write_text(folder / "trust", "# hosts\n\n" + made.out + replay({"key", "--of", folder / "other.key"}).out);
    const auto trust = server::TrustFile::read(folder / "trust");
    REQUIRE_MESSAGE(trust.ok(), trust.error().to_string());
    REQUIRE(trust->keys().size() == 2);
    CHECK(trust->find(rp::public_key(*key))->name == "north");
    CHECK(trust->keys()[1].name.size() == 64);

    CHECK(replay({"key"}).code == 64);
    CHECK(replay({"key", "--of", folder / "none.key"}).code == 2);
    CHECK(replay({"key", "--out", folder / "third.key", "--name", "two words"}).code == 64);
    ::chmod(secret.c_str(), 0644);
    CHECK(replay({"key", "--of", secret}).code == 2);
}

TEST_CASE("bad lines of a trust file are told with their number") {
    const test::TempFolder folder;
    const std::string good(64, 'a'), path = folder / "trust";
    const auto told = [&](const std::string& text) {
        write_text(path, text);
        const auto trust = server::TrustFile::read(path);
        return trust ? std::string() : trust.error().to_string();
    };
    CHECK(told("north " + good + " # the host\r\n" + std::string(64, 'b') + "\n").empty());
    CHECK(told(good).empty());
    CHECK(has(told("north " + good + "\n\nsouth " + good.substr(1) + "\n"), path + ":3: is not NAME KEY"));
    CHECK(has(told("north west " + good), path + ":1: "));
    CHECK(has(told("north " + good.substr(1) + "g"), path + ":1: "));
    CHECK(has(told("north " + good + "\nsouth " + good), path + ":2: has the key of north again"));
    CHECK(has(told("# nobody\n"), "has no key"));
    CHECK_FALSE(server::TrustFile::read(folder / "none").ok());
}

TEST_CASE("without a trust file verify tells who signed how much, and passes it") {
    const test::TempFolder folder;
    const rp::SigningKey north = test::made_up_key();
    const std::string digits = server::to_hex(rp::public_key(north));
    const Printed whole = verify({recorded(folder / "whole.orr", {{10, north}, {20, north}})});
    CHECK(whole.code == 0);
    CHECK(has(whole.out, "signed whole by the key " + digits));
    const Printed part = verify({recorded(folder / "part.orr", {{10, north}})});
    CHECK(part.code == 0);
    CHECK(has(part.out, "signed up to tick 10 by the key " + digits));
    const Printed json = verify({folder / "part.orr", "--json"});
    CHECK(has(json.out, "\"signed\": {\"whole\": false, \"up_to_tick\": 10, \"key\": \"" + digits + "\"}"));
    CHECK_FALSE(has(json.out, "trusted"));
    CHECK(has(verify({recorded(folder / "none.orr", {}), "--json"}).out, "\"signed\": null"));
}

TEST_CASE("with a trust file verify passes only what a trusted key signed whole") {
    const test::TempFolder folder;
    const rp::SigningKey north = test::made_up_key(), south = rp::make_signing_key(std::array<std::uint8_t, 32>{9});
    const std::string trust = folder / "trust";
    write_text(trust, "north " + server::to_hex(rp::public_key(north)) + "\n");
    const auto verified = [&](const std::vector<Signature>& signatures, bool closed = true) {
        return verify({recorded(folder / "a.orr", signatures, closed), "--trust", trust});
    };
    const Printed whole = verified({{10, north}, {20, north}});
    CHECK(whole.code == 0);
    CHECK(has(whole.out, "signed whole by north"));
    const Printed json = verify({folder / "a.orr", "--trust", trust, "--json"});
    CHECK(has(json.out, "\"trusted\": {\"whole\": true, \"up_to_tick\": 20, "));
    CHECK(has(json.out, "\"name\": \"north\"}"));

    const Printed part = verified({{10, north}});
    CHECK(part.code == 1);
    CHECK(has(part.out, "not signed whole by a trusted key: signed up to tick 10 by north"));
    const Printed other = verified({{10, north}, {20, south}});  // what came after tick 10 is the word of another
    CHECK(other.code == 1);
    CHECK(has(other.out, "signed up to tick 10 by north"));
    CHECK(verified({{20, south}, {20, north}}).code == 0);
    const Printed unknown = verified({{20, south}});
    CHECK(unknown.code == 1);
    CHECK(has(unknown.out,
              "not signed whole by a trusted key: signed by the key " + server::to_hex(rp::public_key(south))));
    // Cut behind a signature that more ticks followed, and closed by another.
    const Printed cut = verified({{20, north, false}});
    CHECK(cut.code == 1);
    CHECK(has(cut.out, "signed up to tick 20 by north"));
    const Printed nobody = verified({});
    CHECK(nobody.code == 1);
    CHECK(has(nobody.out, "not signed whole by a trusted key: not signed"));
    const Printed open = verified({{20, north}}, false);  // END could have been cut off, and ticks before it
    CHECK(open.code == 1);
    CHECK(has(open.out, "signed up to tick 20 by north"));

    CHECK(verify({folder / "a.orr", "--trust", folder / "none"}).code == 2);
}

TEST_CASE("a signature that does not hold makes a recording unreadable") {
    const test::TempFolder folder;
    const auto file = test::read_file(recorded(folder / "a.orr", {{20, test::made_up_key()}}));
    const auto survey = test::survey_bytes(file);
    REQUIRE(survey.signs.size() == 1);
    const std::vector<test::Piece> all = test::pieces(file);
    const auto before = test::joined(file, {all.begin(), all.end() - 2});
    rp::SignRecord lie = survey.signs[0].record;
    lie.signature[3] ^= 1;
    std::vector<std::uint8_t> payload;
    encode(lie, payload);
    const auto lying = test::with_forged(before, {.kind = rp::ChunkKind::sign}, payload);
    test::write_file(folder / "lying.orr", lying);
    const Printed told = verify({folder / "lying.orr"});
    CHECK(told.code == 2);
    CHECK(has(told.err, "a signature is not of this recording"));
}
