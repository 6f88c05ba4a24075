// Rooms on a virtual clock that go on from a recording.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/room/resumption.h"
#include "tests/support/sim_room.h"

namespace orrery::testing {

inline server::RecorderSettings recorder_settings(const std::string& folder) {
    return {.directory = folder, .start_unix_s = 1, .keyframe_interval_s = 1.0, .ticks_per_chunk = 8};
}

inline std::unique_ptr<server::Resumption> open_to_resume(const std::string& path) {
    auto resumption = server::Resumption::open(server::system_files(), path);
    REQUIRE_MESSAGE(resumption.ok(), (resumption.ok() ? "" : resumption.error().to_string()));
    return std::move(resumption).value();
}

inline Result<Ok> resume(SimRoom& sim, server::Resumption& from) {
    server::ResumeOptions how;
    how.unix_ms = sim.unix_now() * 1000;
    how.build = "a test";
    how.open_recorder = [](server::Resumption& of,
                           const sim::World& world) -> Result<std::unique_ptr<server::RoomRecorder>> {
        server::RecorderSettings settings = recorder_settings(std::filesystem::path(of.path()).parent_path().string());
        const protocol::replay::FileHeader& header = of.seen().header;
        auto file = of.ended()
                        ? server::Recorder::open(
                              settings, {header.scene_name, header.scene, header.scene_hash, header.tick_rate_hz},
                              {world.tick(), {header.run, of.seen().head}})
                        : server::Recorder::go_on(settings, of.path(), of.take_file(), of.seen());
        if (!file) return file.error();
        std::vector<std::uint8_t> state;
        world.save(state);
        if (of.ended()) REQUIRE((*file)->append_keyframe(state).ok());
        return std::make_unique<server::RoomRecorder>(std::move(file).value());
    };
    return sim.room->resume(from, how);
}

}  // namespace orrery::testing
