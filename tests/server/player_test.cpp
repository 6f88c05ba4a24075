// Contract: a player of a recording shows what was recorded, compares each tick once and each keyframe, says what
// `orrery verify` says of a recording that is not whole, and shows the same world at a tick on any way to it.
#include "client_sdk/src/player.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "client_sdk/src/body_difference.h"
#include "orrery/client.h"
#include "protocol/replay/verify.h"
#include "tests/support/yard_recording.h"

using namespace orrery;
using Bytes = std::vector<std::uint8_t>;
using protocol::replay::ChunkKind;

namespace {

// The yard, recorded once.
const Bytes& yard() {
    static const Bytes file = test::record_yard();
    return file;
}

protocol::replay::VerifyReport verified(const Bytes& file) {
    protocol::replay::VerifyOptions options;
    options.load_scene = [](const protocol::replay::FileHeader& header) {
        return protocol::replay::load_recorded_scene(header, protocol::kDefaultMaxSceneBodies);
    };
    return protocol::replay::verify(protocol::replay::MemorySource(file), options);
}

// At the start of the recording.
std::unique_ptr<sim::World> world_of(const Bytes& file) {
    const protocol::replay::MemorySource source(file);
    protocol::replay::ReplayReader reader(source);
    auto scene = protocol::replay::load_recorded_scene(reader.begin().value(), 1000);
    return std::move(sim::World::create(scene.value()).value());
}

struct Picture {
    double tick = 0.0;
    std::vector<orrery_body_id> ids;
    std::vector<float> numbers;  // positions, orientations, velocities
    bool operator==(const Picture&) const = default;
};

// Owns an orrery_player.
class Opened {
  public:
    explicit Opened(const Bytes& file)
        : status(orrery_player_open(file.data(), file.size(), &player, text, sizeof text)) {}
    ~Opened() { orrery_player_close(player); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

    orrery_player_info info() const {
        orrery_player_info out{};
        out.struct_size = sizeof out;
        REQUIRE(orrery_player_get_info(player, &out) == ORRERY_OK);
        return out;
    }
    orrery_player_verdict verdict() const {
        orrery_player_verdict out{};
        out.struct_size = sizeof out;
        REQUIRE(orrery_player_get_verdict(player, &out) == ORRERY_OK);
        return out;
    }
    Picture picture(double part = 1.0) const {
        constexpr std::uint32_t kRoom = 512;
        Picture out;
        out.ids.resize(kRoom);
        std::array<float, kRoom * 3> positions, linear, angular;
        std::array<float, kRoom * 4> orientations;
        orrery_samples samples{
            sizeof samples, kRoom,         0, 0, 0.0, out.ids.data(), positions.data(), orientations.data(),
            linear.data(),  angular.data()};
        REQUIRE(orrery_player_sample(player, part, &samples) == ORRERY_OK);
        out.tick = samples.tick;
        out.ids.resize(samples.count);
        const auto add = [&](const auto& array, std::size_t each) {
            out.numbers.insert(out.numbers.end(), array.begin(),
                               array.begin() + static_cast<std::ptrdiff_t>(each * samples.count));
        };
        add(positions, 3);
        add(orientations, 4);
        add(linear, 3);
        add(angular, 3);
        return out;
    }
    void to_the_end() { orrery_player_step(player, 0xffffffffu); }

    orrery_player* player = nullptr;
    char text[300] = {};
    orrery_status status;
};

Picture whole_picture_at(std::uint32_t tick) {
    Opened opened(yard());
    orrery_player_step(opened.player, tick);
    return opened.picture();
}

// The place of the payload of the first chunk of a kind at or behind a tick.
std::size_t payload_of(const Bytes& file, ChunkKind kind, std::uint64_t from_tick) {
    for (const test::Piece& piece : test::pieces(file))
        if (piece.kind == kind && piece.ticks_before >= from_tick)
            return static_cast<std::size_t>(piece.position.offset) + protocol::replay::kHeaderBytes;
    FAIL("there is no such chunk");
    return 0;
}

Bytes flipped(Bytes file, std::size_t at) {
    file[at] ^= 0x10;
    return file;
}

void check_damage(const Bytes& file, bool by_reading_ahead) {
    const auto report = verified(file);
    REQUIRE(report.corrupt_at_byte);
    Opened opened(file);
    REQUIRE(opened.status == ORRERY_OK);
    if (by_reading_ahead) {
        while (orrery_player_check(opened.player, 1000) == ORRERY_OK) {
        }
    } else {
        opened.to_the_end();
    }
    const auto verdict = opened.verdict();
    CHECK(verdict.state == ORRERY_VERDICT_DAMAGED);
    CHECK(verdict.broken_at == *report.corrupt_at_byte);
    CHECK(std::string(verdict.text) == report.error.to_string());
    opened.to_the_end();
    CHECK(opened.info().tick == opened.info().last_tick);
    CHECK(opened.verdict().ticks_equal == opened.info().last_tick);
    CHECK(opened.verdict().differs_at == 0);
}

}  // namespace

TEST_CASE("a player steps the yard to its end, and finds all ticks and keyframes the same") {
    Opened opened(yard());
    REQUIRE_MESSAGE(opened.status == ORRERY_OK, opened.text);
    CHECK(opened.info().last_tick == 240);
    CHECK(opened.info().tick == 0);
    CHECK(opened.info().keyframes == 2);
    CHECK(opened.info().complete == 1);
    CHECK(opened.info().engine_version == opened.info().program_version);
    CHECK(std::string(opened.info().scene_name) == "yard");
    CHECK(opened.info().bytes == yard().size());
    CHECK(orrery_player_step(opened.player, 239) == ORRERY_OK);
    CHECK(opened.verdict().state == ORRERY_VERDICT_SAME_SO_FAR);
    CHECK(orrery_player_step(opened.player, 5) == ORRERY_EMPTY);
    const auto verdict = opened.verdict();
    CHECK(verdict.state == ORRERY_VERDICT_SAME);
    CHECK(verdict.ticks_compared == 240);
    CHECK(verdict.ticks_equal == 240);
    CHECK(verdict.keyframes_compared == 2);
    CHECK(std::string(verdict.text).empty());
    CHECK(verified(yard()).verdict == protocol::replay::Verdict::same);
}

TEST_CASE("a player shows the bodies as the recorded world had them, and names them") {
    Opened opened(yard());
    REQUIRE(opened.status == ORRERY_OK);
    const std::uint32_t at_start = opened.info().body_count;
    orrery_player_step(opened.player, 100);
    const Picture shown = opened.picture();
    CHECK(shown.tick == 100.0);
    CHECK(shown.ids.size() > at_start);  // the drivers' cars

    const std::unique_ptr<sim::World> world = world_of(yard());
    for (std::uint64_t tick = 1; tick <= 100; ++tick) world->step(test::yard_commands(tick));
    std::size_t vehicles = 0;
    for (std::size_t i = 0; i < shown.ids.size(); ++i) {
        const sim::BodyId id{static_cast<std::uint32_t>(shown.ids[i]), static_cast<std::uint32_t>(shown.ids[i] >> 32)};
        const sim::BodyState body = world->body(id);
        CHECK(shown.numbers[3 * i] == body.pose.position.x);
        CHECK(shown.numbers[3 * i + 1] == body.pose.position.y);
        CHECK(shown.numbers[3 * i + 2] == body.pose.position.z);
        const float* turned = &shown.numbers[3 * shown.ids.size() + 4 * i];
        const sim::Quat& q = body.pose.orientation;
        CHECK(std::array{turned[0], turned[1], turned[2], turned[3]} == std::array{q.x, q.y, q.z, q.w});
        orrery_body told{};
        told.struct_size = sizeof told;
        REQUIRE(orrery_player_get_body(opened.player, shown.ids[i], &told) == ORRERY_OK);
        CHECK(told.shape == body.shape);
        CHECK(told.slot == body.slot);
        if (std::strlen(told.template_name) > 0) ++vehicles;
        if (std::strlen(told.name) > 0) CHECK(world->find_body(told.name) == id);
    }
    CHECK(vehicles >= 2);
    orrery_shape shape{};
    shape.struct_size = sizeof shape;
    CHECK(orrery_player_get_shape(opened.player, opened.info().shape_count - 1, &shape) == ORRERY_OK);
    CHECK(orrery_player_get_shape(opened.player, opened.info().shape_count, &shape) == ORRERY_EMPTY);
    orrery_body none{};
    none.struct_size = sizeof none;
    CHECK(orrery_player_get_body(opened.player, ORRERY_NO_BODY, &none) == ORRERY_EMPTY);
    const uint8_t* scene = nullptr;
    size_t size = 0;
    CHECK(orrery_player_scene(opened.player, &scene, &size) == ORRERY_OK);
    CHECK(protocol::load_scene({scene, size}, "scene").ok());
}

TEST_CASE("between two ticks bodies are on their way") {
    Opened opened(yard());
    orrery_player_step(opened.player, 60);
    const Picture before = opened.picture();
    orrery_player_step(opened.player, 1);
    CHECK(opened.picture(0.0).numbers != opened.picture(1.0).numbers);
    CHECK(opened.picture(0.5).tick == 60.5);
    const Picture start = opened.picture(0.0);
    const std::size_t poses = 3 * start.ids.size();
    CHECK(std::equal(start.numbers.begin(), start.numbers.begin() + static_cast<std::ptrdiff_t>(poses),
                     before.numbers.begin()));
}

TEST_CASE("the world at a tick is the same on any way to it, and the verdict, too") {
    std::vector<Picture> stepped;
    Opened forward(yard());
    for (stepped.push_back(forward.picture()); orrery_player_step(forward.player, 1) == ORRERY_OK;)
        stepped.push_back(forward.picture());
    REQUIRE(stepped.size() == 241);

    // By a limit of 100 kB for own states, the yard's are further apart than at first.
    client::WorldPlayer small(yard(), 100'000);
    REQUIRE(small.open().ok());
    Opened opened(yard());
    for (const std::uint64_t tick : {240u, 3u, 181u, 90u, 89u, 200u, 0u, 1u, 240u, 95u, 180u}) {
        REQUIRE(orrery_player_seek(opened.player, tick, 0xffffffffu) == ORRERY_OK);
        CHECK(opened.picture() == stepped[tick]);
        REQUIRE(small.seek(tick, ~std::uint64_t{0}));
        CHECK(small.world().tick() == tick);
        CHECK(small.kept_bytes() <= 100'000);
        std::vector<client::ShownBody> bodies;
        small.picture(1.0, bodies);
        REQUIRE(bodies.size() == stepped[tick].ids.size());
        for (std::size_t i = 0; i < bodies.size(); ++i)
            CHECK(bodies[i].pose.position.x == stepped[tick].numbers[3 * i]);
    }
    CHECK(opened.verdict().state == ORRERY_VERDICT_SAME_SO_FAR);  // keyframes were jumped to
    CHECK(opened.verdict().ticks_compared < 240);
    orrery_player_seek(opened.player, 0, 0);
    opened.to_the_end();
    CHECK(opened.verdict().state == ORRERY_VERDICT_SAME);
    CHECK(opened.verdict().ticks_compared == 240);
}

TEST_CASE("a seek makes no more steps than it may") {
    Opened opened(yard());
    CHECK(orrery_player_seek(opened.player, 60, 25) == ORRERY_EMPTY);
    CHECK(opened.info().tick == 25);
    CHECK(orrery_player_seek(opened.player, 60, 25) == ORRERY_EMPTY);
    CHECK(orrery_player_seek(opened.player, 60, 25) == ORRERY_OK);
    CHECK(opened.info().tick == 60);
    CHECK(orrery_player_seek(opened.player, 100, 25) == ORRERY_OK);  // by the keyframe at 90
    CHECK(orrery_player_seek(opened.player, 10'000, 100) == ORRERY_OK);
    CHECK(opened.info().tick == 240);
}

TEST_CASE("a byte that was flipped is named with its place, as by orrery verify") {
    for (const bool ahead : {false, true}) {
        CAPTURE(ahead);
        check_damage(flipped(yard(), payload_of(yard(), ChunkKind::tick, 57) + 20), ahead);
        check_damage(flipped(yard(), payload_of(yard(), ChunkKind::tick, 120) - 10), ahead);  // of a chunk's header
        check_damage(flipped(yard(), payload_of(yard(), ChunkKind::keyframe, 0) + 100), ahead);
        check_damage(flipped(yard(), payload_of(yard(), ChunkKind::end, 0) + 3), ahead);
    }
    // Of a keyframe that a seek wants to go to: it goes to the damage by steps.
    const Bytes file = flipped(yard(), payload_of(yard(), ChunkKind::keyframe, 100) + 100);
    Opened opened(file);
    CHECK(orrery_player_seek(opened.player, 200, 0xffffffffu) == ORRERY_OK);
    CHECK(opened.info().tick == 180);
    CHECK(opened.verdict().state == ORRERY_VERDICT_DAMAGED);
}

TEST_CASE("a hash or a command that was changed gives the tick and the part that differs, as by orrery verify") {
    const auto leaf = static_cast<std::size_t>(sim::Subsystem::contacts);
    std::uint64_t recorded = 0;
    const Bytes other_hash = test::rewritten(yard(), {.tick = [&](protocol::replay::TickRecord& record) {
                                                 if (record.tick == 111) recorded = record.hash.leaves[leaf] ^= 1;
                                             }});
    Opened opened(other_hash);
    REQUIRE(opened.status == ORRERY_OK);
    opened.to_the_end();
    const auto verdict = opened.verdict();
    CHECK(verdict.state == ORRERY_VERDICT_DIFFERS);
    CHECK(verdict.differs_at == 111);
    CHECK(std::string(verdict.part) == "contacts");
    CHECK(verdict.recorded_hash == recorded);
    CHECK(verdict.found_hash == (recorded ^ 1));
    CHECK(verdict.ticks_compared == 240);
    CHECK(verdict.ticks_equal == 239);
    CHECK(std::string(verdict.text).find("tick 111") == 0);
    CHECK(verified(other_hash).subsystem == "contacts");

    const Bytes other_command = test::rewritten(yard(), {.tick = [](protocol::replay::TickRecord& record) {
                                                    if (record.tick == 60) record.commands.at(0).channels[0] = 0.5f;
                                                }});
    const auto report = verified(other_command);
    Opened changed(other_command);
    changed.to_the_end();
    CHECK(changed.verdict().state == ORRERY_VERDICT_DIFFERS);
    CHECK(changed.verdict().differs_at == report.first_divergent_tick.value());
    CHECK(std::string(changed.verdict().part) == report.subsystem);
    CHECK(changed.info().tick == 240);  // it goes on
    // The recorded state is known at the next keyframe: a body that the command drove is another there.
    const std::string text = changed.verdict().text;
    CHECK(text.find("; in the keyframe of tick 90, body ") != std::string::npos);
    CHECK(text.find(", recorded ") != std::string::npos);
    CHECK(std::string(opened.verdict().text).find("keyframe") == std::string::npos);  // a hash alone is another
}

TEST_CASE("the first body that differs from a recorded state is named, with its number") {
    const auto here = world_of(yard()), there = world_of(yard());
    Bytes recorded;
    there->save(recorded);
    CHECK_FALSE(client::first_body_difference(*here, recorded));
    CHECK_FALSE(client::first_body_difference(*here, Bytes(100)));  // no state
    here->step();
    const auto found = client::first_body_difference(*here, recorded);
    REQUIRE(found);
    std::vector<sim::BodyState> a, b;
    here->read_bodies(a);
    there->read_bodies(b);
    REQUIRE(a.size() == b.size());
    std::size_t first = 0;
    const auto alike = [](const sim::BodyMotion& x, const sim::BodyMotion& y) {
        return x.pose.position == y.pose.position && x.pose.orientation == y.pose.orientation &&
               x.linear_velocity == y.linear_velocity && x.angular_velocity == y.angular_velocity;
    };
    while (first < a.size() && alike(a[first], b[first])) ++first;
    REQUIRE(first < a.size());
    CHECK(found->body == a[first].id);
    CHECK(found->text.find(" is ") != std::string::npos);
    CHECK(found->text.find(", recorded ") != std::string::npos);

    const auto with_player = world_of(yard()), without = world_of(yard());
    with_player->step(test::yard_commands(5));
    without->step();
    for (const bool is_here : {true, false}) {
        (is_here ? without : with_player)->save(recorded);
        const auto alone = client::first_body_difference(is_here ? *with_player : *without, recorded);
        REQUIRE(alone);
        CHECK(alone->body.index == without->stats().bodies + 1);
        CHECK(alone->text == (is_here ? "is not in what was recorded" : "is recorded, and not here"));
    }
}

TEST_CASE("a keyframe that was changed differs, whether it is passed or gone to") {
    const Bytes other = test::rewritten(yard(), {.keyframe = [](std::uint64_t tick, Bytes& state) {
                                            if (tick == 90) state[state.size() / 2] ^= 1;
                                        }});
    Opened passed(other), gone_to(other);
    orrery_player_step(passed.player, 90);
    CHECK(passed.verdict().differs_at == 90);
    CHECK(std::string(passed.verdict().part) == "keyframe");
    CHECK(verified(other).first_divergent_tick == 90);
    CHECK(orrery_player_seek(gone_to.player, 100, 0xffffffffu) == ORRERY_OK);
    CHECK(gone_to.info().tick == 100);
    CHECK(gone_to.verdict().ticks_equal == 100);
    CHECK(gone_to.verdict().ticks_compared == 100);
    Opened to_the_end(other);
    CHECK(orrery_player_seek(to_the_end.player, 170, 40) == ORRERY_EMPTY);  // from the start: the keyframe is of no use
    for (int i = 0; i < 10 && orrery_player_seek(to_the_end.player, 170, 40) != ORRERY_OK; ++i) {
    }
    CHECK(to_the_end.info().tick == 170);
    CHECK(orrery_player_seek(to_the_end.player, 240, 0xffffffffu) == ORRERY_OK);
    CHECK(to_the_end.verdict().ticks_equal == to_the_end.verdict().ticks_compared);
    CHECK(to_the_end.verdict().differs_at == 90);
    CHECK(to_the_end.picture() == whole_picture_at(240));
}

TEST_CASE("of many keyframes that cannot be used a seek tries one, and keeps what it has stepped") {
    const Bytes file = test::rewritten(test::record_yard({.ticks = 120, .keyframe_every = 2}),
                                       {.keyframe = [](std::uint64_t, Bytes& state) { state[state.size() / 2] ^= 1; }});
    Opened opened(file);
    for (int i = 1; i < 12; ++i) {
        CHECK(orrery_player_seek(opened.player, 120, 10) == ORRERY_EMPTY);
        CHECK(opened.info().tick == 10u * static_cast<unsigned>(i));
    }
    CHECK(orrery_player_seek(opened.player, 120, 10) == ORRERY_OK);
    CHECK(opened.verdict().ticks_equal == 120);
}

TEST_CASE("bodies of the scene have the names by which the world finds them, and all bytes may be checked at once") {
    Opened opened(yard());
    orrery_player_check(opened.player, 100);
    CHECK(orrery_player_check(opened.player, std::numeric_limits<std::size_t>::max()) == ORRERY_EMPTY);
    CHECK(opened.verdict().bytes_checked == yard().size());
    client::WorldPlayer player(yard());
    REQUIRE(player.open());
    int named = 0;
    for (const sim::BodyDef& body : player.world().definition().bodies) {
        client::PlayerBody found;
        if (body.name.empty()) continue;
        REQUIRE(player.body(player.world().find_body(body.name), found));
        CHECK(found.name == body.name);
        ++named;
    }
    CHECK(named > 5);
}

TEST_CASE("of a recording that was cut off all whole ticks are the same, and the end is missing") {
    const Bytes open = test::record_yard({.ticks = 50, .closed = false});
    const Bytes torn(yard().begin(),
                     yard().begin() + static_cast<std::ptrdiff_t>(payload_of(yard(), ChunkKind::tick, 50) + 7));
    for (const Bytes* file : {&open, &torn}) {
        Opened opened(*file);
        REQUIRE(opened.status == ORRERY_OK);
        CHECK(opened.info().complete == 0);
        CHECK(opened.info().last_tick == 50);
        CHECK(opened.verdict().state == ORRERY_VERDICT_SAME_SO_FAR);
        opened.to_the_end();
        CHECK(opened.verdict().state == ORRERY_VERDICT_END_MISSING);
        CHECK(opened.verdict().ticks_equal == 50);
        const auto report = verified(*file);
        CHECK(report.verdict == protocol::replay::Verdict::same);
        CHECK("byte " + std::to_string(opened.verdict().broken_at) == report.error.place);
    }
}

TEST_CASE("what cannot be played is refused with a reason") {
    const Bytes older =
        test::rewritten(yard(), {.header = [](protocol::replay::FileHeader& header) { header.engine_version -= 1; }});
    CHECK(std::string(Opened(older).text).find("recorded by engine version") != std::string::npos);
    CHECK(Opened(older).status == ORRERY_UNREADABLE);
    const Bytes flipped_scene = flipped(yard(), 100);
    const Opened damaged(flipped_scene);
    CHECK(damaged.status == ORRERY_UNREADABLE);
    CHECK(damaged.player == nullptr);
    CHECK(std::string(damaged.text).find("byte 32") == 0);
    CHECK(std::string(Opened(Bytes{'{', '}'}).text).find("not a replay") != std::string::npos);
    CHECK(Opened(Bytes{}).status == ORRERY_UNREADABLE);
    CHECK(std::string(Opened(Bytes{}).text).find("empty") != std::string::npos);

    orrery_player* player = nullptr;
    char two[2] = {'x', 'x'};
    CHECK(orrery_player_open(older.data(), older.size(), &player, two, 2) == ORRERY_UNREADABLE);
    CHECK(two[1] == '\0');
    CHECK(orrery_player_open(older.data(), older.size(), &player, nullptr, 0) == ORRERY_UNREADABLE);
    CHECK(orrery_player_open(nullptr, 1, &player, nullptr, 0) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_open(older.data(), older.size(), nullptr, nullptr, 0) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_step(nullptr, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_seek(nullptr, 1, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_check(nullptr, 1) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_get_info(nullptr, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_get_verdict(nullptr, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_sample(nullptr, 1.0, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_get_body(nullptr, 0, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_get_shape(nullptr, 0, nullptr) == ORRERY_INVALID_ARGUMENT);
    CHECK(orrery_player_scene(nullptr, nullptr, nullptr) == ORRERY_INVALID_ARGUMENT);
    orrery_player_close(nullptr);
}
