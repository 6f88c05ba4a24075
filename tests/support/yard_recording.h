// A recording of the yard with two drivers, made without a server.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <vector>

#include "protocol/scene/scene.h"
#include "tests/support/replay_files.h"

namespace orrery::test {

struct YardRecording {
    std::uint64_t ticks = 240;
    std::uint64_t keyframe_every = 90;
    bool closed = true;
    std::uint32_t ticks_per_chunk = 1;
    std::uint64_t cut_before = 0;  // a tick of a keyframe: the recording begins there
};

inline std::vector<sim::Command> yard_commands(std::uint64_t tick) {
    std::vector<sim::Command> commands;
    for (const std::uint16_t slot : {0, 1}) {
        if (tick == 5u + slot * 20u) {
            sim::Command& join = commands.emplace_back();
            join.kind = sim::CommandKind::join;
            join.slot = slot;
        }
        if (tick > 30 && tick % 12 == slot) {
            sim::Command& control = commands.emplace_back();
            control.kind = sim::CommandKind::control;
            control.slot = slot;
            control.channels = {1.0f, static_cast<float>(tick % 5) * 0.2f - 0.4f};
        }
    }
    return commands;
}

inline std::vector<std::uint8_t> record_yard(const YardRecording& want = {}) {
    using namespace protocol::replay;
    std::ifstream in(ORRERY_SOURCE_DIR "/deploy/scenes/yard.json", std::ios::binary);
    const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(in), {}};
    const auto scene = protocol::load_scene(text, "yard");
    REQUIRE_MESSAGE(scene.ok(), scene.error().to_string());
    auto made = sim::World::create(scene->world);
    REQUIRE(made.ok());
    sim::World& world = **made;

    std::vector<std::uint8_t> file, state;
    ReplayWriter writer(want.ticks_per_chunk);
    FileHeader header;
    header.scene_hash = scene->scene_hash;
    header.tick_rate_hz = scene->world.tick_rate_hz;
    header.scene_name = scene->name;
    header.room = "test";
    header.scene = scene->binary;
    header.first_tick = want.cut_before;
    append(file, writer.begin(header));
    for (std::uint64_t tick = 1; tick <= want.ticks; ++tick) {
        const auto commands = yard_commands(tick);
        REQUIRE(world.step(commands) == sim::StepStatus::ok);
        if (tick > want.cut_before) append(file, writer.tick(tick, commands, world.hash()));
        if (tick % want.keyframe_every || tick < want.cut_before) continue;
        world.save(state);
        append(file, writer.keyframe(state));
    }
    if (want.closed) append(file, writer.end());
    return file;
}

}  // namespace orrery::test
