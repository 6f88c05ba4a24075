// A file of settings in TOML, with the place of everything in it. It knows rooms; what other keys mean is Settings'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/rooms.h"
#include "sim/base/result.h"

namespace orrery::server {

inline constexpr const char* kRoomsKey = "rooms";  // tables of rooms, or a setting with true or false

enum class SettingType : std::uint8_t { boolean, integer, number, text, array, other };
std::string_view name_of(SettingType type);  // with its article: "a whole number"

struct FileItem {
    SettingType type = SettingType::other;
    std::string text;   // as a flag has it; a boolean is "true" or "false"
    std::string place;  // FILE:LINE:COLUMN
};
struct FileSetting {
    std::string key, place;  // FILE:LINE:COLUMN of the key
    std::string line;        // FILE:LINE
    FileItem value;
    std::vector<FileItem> items;  // of an array
};
struct SettingsFile {
    std::vector<FileSetting> settings;     // in the order of the file, without rooms
    std::vector<RoomWish> rooms;           // of the tables [[rooms]], checked
    std::vector<std::string> room_places;  // FILE:LINE of each
};

// `name` is that of the file, for places. Errors: parse and invalid_argument, each with FILE:LINE:COLUMN.
Result<SettingsFile> parse_settings_file(std::string_view text, const std::string& name);
// The same of a file of at most kMaxSettingsBytes. Errors: io, and those of parse_settings_file().
Result<SettingsFile> read_settings_file(const std::string& path);

// "unknown key "x"WHERE; did you mean "y"".
std::string unknown_key(std::string_view key, const std::vector<std::string>& known, const std::string& where = "");

// As few digits as tell `value` from its neighbours.
std::string digits_of(double value);

}  // namespace orrery::server
