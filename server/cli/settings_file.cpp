#include "server/cli/settings_file.h"

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "server/base/near_name.h"
#include "server/cli/settings.h"

namespace orrery::server {

namespace {

// Names places of one file.
class Places {
  public:
    explicit Places(const std::string& name) : name_(name) {}
    std::string line(const toml::source_region& at) const { return name_ + ":" + std::to_string(at.begin.line); }
    std::string column(const toml::source_region& at) const { return line(at) + ":" + std::to_string(at.begin.column); }
    Error error(const toml::source_region& at, const std::string& message) const {
        return Error{ErrorCode::invalid_argument, column(at), message};
    }

  private:
    std::string name_;
};

FileItem item_of(const toml::node& node, const Places& places) {
    FileItem item;
    item.place = places.column(node.source());
    if (const auto* value = node.as_boolean()) {
        item.type = SettingType::boolean;
        item.text = value->get() ? "true" : "false";
    } else if (const auto* whole = node.as_integer()) {
        item.type = SettingType::integer;
        item.text = std::to_string(whole->get());
    } else if (const auto* number = node.as_floating_point()) {
        item.type = SettingType::number;
        item.text = digits_of(number->get());
    } else if (const auto* text = node.as_string()) {
        item.type = SettingType::text;
        item.text = text->get();
    } else if (node.is_array()) {
        item.type = SettingType::array;
    }
    return item;
}

bool comes_before(const toml::source_region& a, const toml::source_region& b) {
    return std::pair(a.begin.line, a.begin.column) < std::pair(b.begin.line, b.begin.column);
}

// The keys of a table in the order of the file.
std::vector<std::pair<const toml::key*, const toml::node*>> in_order(const toml::table& table) {
    std::vector<std::pair<const toml::key*, const toml::node*>> all;
    for (const auto& [key, node] : table) all.emplace_back(&key, &node);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return comes_before(a.first->source(), b.first->source()); });
    return all;
}

// Each field of RoomWish takes a node of its type, or says which one it is.
struct RoomField {
    const char* key;
    const char* field;  // of RoomWish
    SettingType type;
    std::function<bool(RoomWish& wish, const toml::node& node)> take;
};

template <class T, class To>
bool take_exact(const toml::node& node, To& to) {
    const std::optional<T> value = node.value_exact<T>();
    if (value) to = *value;
    return value.has_value();
}

std::optional<double> number_in(const toml::node& node) {
    return node.is_number() ? node.value<double>() : std::nullopt;
}

const std::vector<RoomField>& room_fields() {
    static const std::vector<RoomField> fields = {
        {"name", "name", SettingType::text,
         [](RoomWish& wish, const toml::node& node) { return take_exact<std::string>(node, wish.name); }},
        {"scene", "scene", SettingType::text,
         [](RoomWish& wish, const toml::node& node) { return take_exact<std::string>(node, wish.scene); }},
        {"tick_rate", "tick_rate_hz", SettingType::number,
         [](RoomWish& wish, const toml::node& node) {
             if (const auto value = number_in(node)) wish.tick_rate_hz = static_cast<float>(*value);
             return wish.tick_rate_hz.has_value();
         }},
        {"max_clients", "max_clients", SettingType::integer,
         [](RoomWish& wish, const toml::node& node) {
             if (const auto value = node.value_exact<std::int64_t>())  // what does not fit is outside the range, too
                 wish.max_clients = *value > 0 && *value < UINT32_MAX ? static_cast<std::uint32_t>(*value) : 0;
             return wish.max_clients.has_value();
         }},
        {"allow_mirror", "allow_mirror", SettingType::boolean,
         [](RoomWish& wish, const toml::node& node) { return take_exact<bool>(node, wish.allow_mirror); }},
        {"record", "record", SettingType::boolean,
         [](RoomWish& wish, const toml::node& node) { return take_exact<bool>(node, wish.record); }},
        {"end_when_empty_s", "end_when_empty_s", SettingType::number,
         [](RoomWish& wish, const toml::node& node) {
             const auto value = number_in(node);
             wish.end_when_empty_s = value.value_or(0.0);
             return value.has_value();
         }},
    };
    return fields;
}

Result<RoomWish> room_of(const toml::table& table, const Places& places) {
    RoomWish wish;
    for (const auto& [key, node] : in_order(table)) {
        const auto field = std::find_if(room_fields().begin(), room_fields().end(),
                                        [&, name = key->str()](const RoomField& f) { return f.key == name; });
        if (field == room_fields().end()) {
            std::vector<std::string> known;
            for (const RoomField& each : room_fields()) known.emplace_back(each.key);
            return places.error(key->source(), unknown_key(key->str(), known, " in [[rooms]]"));
        }
        if (!field->take(wish, *node))
            return places.error(node->source(),
                                std::string(field->key) + " is not " + std::string(name_of(field->type)));
    }
    const Result<Ok> good = check(wish);
    if (good) return wish;
    for (const RoomField& field : room_fields()) {
        const toml::node* const node = good.error().place == field.field ? table.get(field.key) : nullptr;
        if (node) return places.error(node->source(), std::string(field.key) + " " + good.error().message);
    }
    return places.error(table.source(), "a room whose " + good.error().place + " " + good.error().message);
}

Result<Ok> take_rooms(const toml::node& node, const Places& places, SettingsFile& file) {
    const toml::array* const tables = node.as_array();
    if (!tables || !std::all_of(tables->begin(), tables->end(), [](const toml::node& each) { return each.is_table(); }))
        return places.error(node.source(), "rooms are tables: write [[rooms]], and the settings of a room below it");
    if (tables->size() > kMaxRooms)
        return places.error((*tables)[kMaxRooms].source(), "too many rooms: at most " + std::to_string(kMaxRooms));
    for (const toml::node& each : *tables) {
        Result<RoomWish> wish = room_of(*each.as_table(), places);
        if (!wish) return wish.error();
        file.rooms.push_back(std::move(*wish));
        file.room_places.push_back(places.line(each.source()));
    }
    return Ok{};
}

}  // namespace

std::string_view name_of(SettingType type) {
    switch (type) {
        case SettingType::boolean:
            return "true or false";
        case SettingType::integer:
            return "a whole number";
        case SettingType::number:
            return "a number";
        case SettingType::text:
            return "a text in quotes";
        case SettingType::array:
            return "an array";
        case SettingType::other:
            break;
    }
    return "a table or a date";
}

std::string digits_of(double value) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), end.ptr};
}

std::string unknown_key(std::string_view key, const std::vector<std::string>& known, const std::string& where) {
    std::string text = "unknown key \"" + std::string(key) + "\"" + where;
    std::string wanted(key);
    std::replace(wanted.begin(), wanted.end(), '-', '_');
    if (const std::string near = nearest_name(wanted, known); !near.empty()) text += "; did you mean \"" + near + "\"";
    return text;
}

Result<SettingsFile> parse_settings_file(std::string_view text, const std::string& name) {
    const Places places(name);
    const toml::parse_result parsed = toml::parse(text, std::string_view(name));
    if (!parsed)
        return Error{ErrorCode::parse, places.column(parsed.error().source()),
                     "not TOML: " + std::string(parsed.error().description())};
    SettingsFile file;
    for (const auto& [key, node] : in_order(parsed.table())) {
        if (key->str() == kRoomsKey && !node->is_boolean()) {
            if (const Result<Ok> taken = take_rooms(*node, places, file); !taken) return taken.error();
            continue;
        }
        FileSetting setting{std::string(key->str()),
                            places.column(key->source()),
                            places.line(key->source()),
                            item_of(*node, places),
                            {}};
        if (const toml::array* array = node->as_array())
            for (const toml::node& each : *array) setting.items.push_back(item_of(each, places));
        file.settings.push_back(std::move(setting));
    }
    return file;
}

Result<SettingsFile> read_settings_file(const std::string& path) {
    std::string text(kMaxSettingsBytes + 1, '\0');
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in.eof() && (in.bad() || !in.is_open() || in.gcount() == 0))
        return Error{ErrorCode::io, path,
                     "cannot be read" + (errno != 0 ? std::string(": ") + std::strerror(errno) : std::string()) +
                         "; --config and ORRERY_CONFIG name a file in TOML"};
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxSettingsBytes)
        return Error{ErrorCode::limit_reached, path,
                     "larger than " + std::to_string(kMaxSettingsBytes) + " bytes, the limit of settings"};
    return parse_settings_file(text, path);
}

}  // namespace orrery::server
