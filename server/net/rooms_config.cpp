#include "server/net/rooms_config.h"

#include <filesystem>

#include "server/net/game_config.h"

namespace orrery::server {

Result<Ok> check(const RoomWish& wish, const GameServerConfig& process) {
    if (const Result<Ok> good = check(wish); !good) return good;
    if (wish.max_clients && *wish.max_clients > process.max_clients)
        return config_error("max_clients", "is more than the " + std::to_string(process.max_clients) +
                                               " of the process (max_clients, --max-clients)");
    if (wish.allow_mirror.value_or(false) && !process.serve_scene)
        return config_error("allow_mirror", "needs serve_scene of the process (--serve-scene)");
    if (wish.record.value_or(false) && process.record.empty())
        return config_error("record", "needs record of the process (--record)");
    return Ok{};
}

Result<Ok> check(const RoomsServerConfig& config) {
    const GameServerConfig& process = config.process;
    const GameServerConfig usual;
    const auto of_one_room = [](const char* field) {
        return config_error(field, "is for a server of one room: leave it as it is by default");
    };
    if (!process.scene.empty() || process.shared_scene) return of_one_room("scene (SCENE)");
    if (!process.resume.empty()) return of_one_room("resume (--resume)");
    if (process.tick_rate_hz) return of_one_room("tick_rate_hz (--tick-rate)");
    if (process.room != usual.room) return of_one_room("room");
    if (process.insecure || process.insecure_public) return of_one_room("insecure (--insecure)");
    if (process.threads != usual.threads) return of_one_room("threads");
    if (process.clock != GameClock::wall) return of_one_room("clock");
    if (process.stop_at_tick != 0) return of_one_room("stop_at_tick");
    if (config.scenes.empty()) return config_error("scenes (--scenes)", "name the folder of the rooms' scenes");
    std::error_code error;
    if (!std::filesystem::is_directory(config.scenes, error))
        return config_error("scenes (--scenes)", config.scenes + " is no folder: name that of the rooms' scenes");
    if (config.resume_rooms && process.record.empty())
        return config_error("resume_rooms (--resume-rooms)", "needs the folder of the recordings: name it in record");
    if (config.max_rooms < 1 || config.max_rooms > kMaxRooms)
        return config_error("max_rooms (--max-rooms)", "is not from 1 to 1024 (kMaxRooms)");
    if (config.rooms.size() > config.max_rooms) return config_error("rooms", "are more than max_rooms (--max-rooms)");
    if (config.threads > kMaxRoomThreads)
        return config_error("threads (--threads)", "is not from 0 to 64 (kMaxRoomThreads)");
    for (std::size_t i = 0; i < config.rooms.size(); ++i) {
        const Result<Ok> good = check(config.rooms[i], process);
        if (!good) return config_error("rooms[" + std::to_string(i) + "]." + good.error().place, good.error().message);
    }
    GameServerConfig of_a_room = process;
    of_a_room.scene = "of each room";
    return check(of_a_room);
}

}  // namespace orrery::server
