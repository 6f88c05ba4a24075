#include "server/cli/settings.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "server/base/json_line.h"
#include "server/base/near_name.h"
#include "server/cli/command_line.h"
#include "server/cli/settings_file.h"

namespace orrery::server {

namespace {

constexpr std::string_view kPrefix = "ORRERY_";
constexpr const char* kConfig = "config";
constexpr const char* kPrintConfig = "print-config";
constexpr std::size_t kNearEnvironment = 2;  // letters by which a variable may miss its name to be warned of
constexpr int kFlagLayer = 0, kEnvironmentLayer = 1, kFileLayer = 2;

std::string key_of(std::string_view long_name) {
    std::string key(long_name);
    for (char& c : key) c = c == '-' ? '_' : CLI::detail::to_lower(std::string(1, c))[0];
    return key;
}

// --http-port is http-port, the positional SCENE is scene.
std::string long_name(const CLI::Option* option) {
    const std::string name = option->get_lnames().empty() ? option->get_name(true) : option->get_lnames().front();
    return CLI::detail::to_lower(name);
}

bool is_flag(const CLI::Option* option) { return option->get_items_expected_max() == 0; }
bool repeats(const CLI::Option* option) { return option->get_items_expected_max() > 1; }

SettingType type_of(const CLI::Option* option) {
    if (is_flag(option)) return SettingType::boolean;
    const std::string type = option->get_type_name();  // with its checks behind a colon
    if (type.starts_with("UINT") || type.starts_with("INT")) return SettingType::integer;
    return type.starts_with("FLOAT") ? SettingType::number : SettingType::text;
}

bool fits(SettingType wanted, SettingType given) {
    return wanted == given || (wanted == SettingType::number && given == SettingType::integer);
}

// What the option itself says against a text; empty: nothing. Its variable gets the text. The final pass over all
// arguments sets it again.
std::string objection(CLI::Option* option, const std::string& text) {
    const SettingType type = type_of(option);
    const std::string no_such = "\"" + text + "\" is not " + std::string(name_of(type));
    if (type == SettingType::boolean) return text == "true" || text == "false" ? "" : no_such;
    if (type == SettingType::number && !std::isfinite(std::strtod(text.c_str(), nullptr))) return no_such;
    if (option->get_positional() && text.starts_with('-')) return "begins with a hyphen: write ./" + text;
    std::string message;
    try {
        option->clear();
        option->add_result(text);
        option->run_callback();
    } catch (const CLI::ConversionError&) {
        message = no_such;
    } catch (const CLI::ParseError& error) {
        message = error.what();
        const std::string name = option->get_name() + ": ";
        if (message.starts_with(name)) message.erase(0, name.size());
    }
    option->clear();
    return message;
}

std::optional<std::string> flag_text(const std::string& text) {
    if (text == "1" || text == "true") return "true";
    if (text == "0" || text == "false") return "false";
    return std::nullopt;
}

std::string toml_text(const std::string& text) {
    std::string quoted = JsonLine::quote(text);  // an escape of JSON is one of TOML
    for (std::size_t at = 0; (at = quoted.find('\x7f', at)) != std::string::npos;) quoted.replace(at, 1, "\\u007f");
    return quoted;
}

std::string toml_value(SettingType type, const std::string& text) {
    if (type == SettingType::integer) {
        if (text.starts_with('-')) return std::to_string(std::strtoll(text.c_str(), nullptr, 0));
        return std::to_string(std::strtoull(text.c_str(), nullptr, 0));
    }
    if (type == SettingType::number) return digits_of(std::strtod(text.c_str(), nullptr));
    return type == SettingType::boolean ? text : toml_text(text);
}

bool is_default(const CLI::Option* option, const std::vector<std::string>& texts) {
    const std::string wanted = option->get_default_str();
    if (repeats(option) || wanted.empty()) return false;
    return toml_value(type_of(option), texts.back()) == toml_value(type_of(option), wanted);
}

std::string one_line(std::string text) {  // for a comment
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    return text;
}

bool is_service_link(std::string_view value) {
    return value.starts_with("tcp://") || value.starts_with("udp://") || value.starts_with("sctp://");
}

void print_room(const RoomWish& wish, const std::string& place) {
    std::printf("\n[[rooms]]  # %s\n", one_line(place).c_str());
    if (!wish.name.empty()) std::printf("name = %s\n", toml_text(wish.name).c_str());
    std::printf("scene = %s\n", toml_text(wish.scene).c_str());
    if (wish.tick_rate_hz) std::printf("tick_rate = %s\n", digits_of(*wish.tick_rate_hz).c_str());
    if (wish.max_clients) std::printf("max_clients = %u\n", *wish.max_clients);
    if (wish.allow_mirror) std::printf("allow_mirror = %s\n", *wish.allow_mirror ? "true" : "false");
    if (wish.record) std::printf("record = %s\n", *wish.record ? "true" : "false");
    std::printf("end_when_empty_s = %s\n", digits_of(wish.end_when_empty_s).c_str());
}

}  // namespace

Environment environment_of_process() {
    Environment environment;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos)
            environment.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
    }
    return environment;
}

std::string environment_name(std::string_view long_name) {
    std::string name(kPrefix);
    for (const char c : long_name) name += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return name;
}

std::optional<std::string> setting_in(const Environment& environment, std::string_view long_name) {
    const auto found = environment.find(environment_name(long_name));
    if (found == environment.end() || found->second.empty()) return std::nullopt;
    if (long_name.ends_with("port") && is_service_link(found->second)) return std::nullopt;
    return found->second;
}

Settings::Settings(CLI::App& app, Environment environment) : app_(app), environment_(std::move(environment)) {
    app_.add_option("--config", file_,
                    "file with settings in TOML: http_port = 7780 is --http-port 7780 [ORRERY_CONFIG]");
    app_.add_flag("--print-config", print_, "print each setting with its source, as TOML, and end");
    const std::string own = app_.get_footer();
    app_.footer((own.empty() ? own : own + "\n\n") +
                "Each option may be set by the environment, too (--http-port as ORRERY_HTTP_PORT), or in the file of "
                "--config (http_port). A flag comes before the environment, and that before the file.");
}

std::vector<CLI::Option*> Settings::options() const {
    std::vector<CLI::Option*> all;
    for (CLI::Option* option : app_.get_options())
        if (option != app_.get_help_ptr() && !option->check_lname(kConfig) && !option->check_lname(kPrintConfig))
            all.push_back(option);
    return all;
}

std::vector<std::string> Settings::keys() const {
    std::vector<std::string> keys;
    for (const CLI::Option* option : options()) keys.push_back(key_of(long_name(option)));
    return keys;
}

// An option takes the value of the highest layer that has one. Layers come from the highest to the lowest.
Result<Ok> Settings::use(CLI::Option* option, Value value, const std::string& place) {
    const std::string key = key_of(long_name(option));
    if (used_.contains(key)) return Ok{};
    if (!is_flag(option) || value.texts == std::vector<std::string>{"true"}) {
        for (const CLI::Option* other : option->get_excludes()) {
            const auto found = used_.find(key_of(long_name(other)));
            if (found == used_.end() || (is_flag(other) && found->second.texts.front() == "false")) continue;
            if (found->second.layer < value.layer) return Ok{};
            return Error{ErrorCode::invalid_argument, place,
                         key + " and " + found->first + " (" + found->second.source +
                             ") exclude each other: leave one of them out"};
        }
    }
    used_.emplace(key, std::move(value));
    return Ok{};
}

void Settings::take_flags() {
    for (const CLI::Option* option : options()) {
        if (option->count() == 0) continue;
        // Of a flag that CLI11 inverts ("!--no-http") it keeps the inverse.
        std::vector<std::string> texts = option->results();
        if (is_flag(option)) {
            const bool inverse = option->check_fname(long_name(option));
            texts = {(CLI::detail::to_flag_value(texts.back()) > 0) != inverse ? "true" : "false"};
        }
        used_.emplace(key_of(long_name(option)), Value{std::move(texts), "flag", kFlagLayer});
    }
}

Result<Ok> Settings::take_environment() {
    for (CLI::Option* option : options()) {
        const std::optional<std::string> text = setting_in(environment_, long_name(option));
        if (!text) continue;
        const std::string name = environment_name(long_name(option));
        Value value{{*text}, "env " + name, kEnvironmentLayer};
        if (is_flag(option)) value.texts = {flag_text(*text).value_or(*text)};
        if (repeats(option)) value.texts = CLI::detail::split(*text, ',');
        for (const std::string& each : value.texts)
            if (const std::string wrong = objection(option, each); !wrong.empty())
                return Error{ErrorCode::invalid_argument, name, wrong};
        if (const Result<Ok> used = use(option, std::move(value), name); !used) return used.error();
    }
    return Ok{};
}

Result<Ok> Settings::take_file(const SettingsFile& file) {
    const std::vector<CLI::Option*> all = options();
    for (const FileSetting& setting : file.settings) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const CLI::Option* option) {
            return key_of(long_name(option)) == setting.key;
        });
        if (found == all.end()) {
            std::vector<std::string> known = keys();
            known.emplace_back(kRoomsKey);
            return Error{ErrorCode::parse, setting.place, unknown_key(setting.key, known)};
        }
        CLI::Option* const option = *found;
        const SettingType type = type_of(option);
        const bool array = repeats(option);
        if (array != (setting.value.type == SettingType::array))
            return Error{
                ErrorCode::parse, setting.value.place,
                setting.key + " is " +
                    (array ? "an array: write [" + std::string(type == SettingType::text ? "\"...\"" : "...") + "]"
                           : std::string(name_of(type)) + ", not an array")};
        Value value{{}, setting.line, kFileLayer};
        for (const FileItem& item : array ? setting.items : std::vector<FileItem>{setting.value}) {
            if (!fits(type, item.type))
                return Error{
                    ErrorCode::parse, item.place,
                    setting.key + " is " + std::string(name_of(type)) + ", not " + std::string(name_of(item.type))};
            if (item.text.empty()) continue;
            if (const std::string wrong = objection(option, item.text); !wrong.empty())
                return Error{ErrorCode::invalid_argument, item.place, setting.key + ": " + wrong};
            value.texts.push_back(item.text);
        }
        if (value.texts.empty()) continue;
        if (const Result<Ok> used = use(option, std::move(value), setting.place); !used) return used.error();
    }
    // Who writes tables of rooms wants many rooms.
    CLI::Option* const many = app_.get_option_no_throw("--" + std::string(kRoomsKey));
    if (file.rooms.empty() || many == nullptr) return Ok{};
    return use(many, Value{{"true"}, file.room_places.front(), kFileLayer}, file.room_places.front());
}

// CLI11 would say it without the place. What is as by default asks for nothing: --print-config writes it, too.
Result<Ok> Settings::check_needs() {
    for (const CLI::Option* option : options()) {
        const auto found = used_.find(key_of(long_name(option)));
        if (found == used_.end() || found->second.layer == kFlagLayer || found->second.texts.front() == "false")
            continue;
        for (const CLI::Option* needed : option->get_needs()) {
            const auto other = used_.find(key_of(long_name(needed)));
            if (other != used_.end() && !(is_flag(needed) && other->second.texts.front() == "false")) continue;
            if (!is_default(option, found->second.texts))
                return Error{
                    ErrorCode::invalid_argument, found->second.source,
                    found->first + " has no effect without " + key_of(long_name(needed)) + ": set both or neither"};
            used_.erase(found);
            break;
        }
    }
    return Ok{};
}

// Other programs have variables of this prefix, and tests do: only what is near to a setting is probably meant as one.
void Settings::warn_of_environment() const {
    std::vector<std::string> known{environment_name(kConfig)};
    for (const CLI::Option* option : options()) known.push_back(environment_name(long_name(option)));
    for (const auto& [name, value] : environment_) {
        if (!name.starts_with(kPrefix)) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) {
            if (is_service_link(value) && name.ends_with("PORT"))
                std::fprintf(stderr,
                             "%s: %s=%s is Kubernetes' word on a service, and no setting (enableServiceLinks: false "
                             "ends that)\n",
                             app_.get_name().c_str(), name.c_str(), one_line(value).c_str());
            continue;
        }
        const std::string near = nearest_name(name, known);
        if (!near.empty() && edit_distance(name, near) <= kNearEnvironment)
            std::fprintf(stderr, "%s: the variable %s is no setting and has no effect; did you mean %s\n",
                         app_.get_name().c_str(), name.c_str(), near.c_str());
    }
}

// What the flags say, and what the lower layers add to that. A positional argument comes first, and what may take
// several words is followed by an option or by nothing: else it would take what follows.
std::vector<std::string> Settings::all_arguments(const std::vector<std::string>& arguments) const {
    const auto end_of_options = std::find(arguments.begin(), arguments.end(), "--");
    std::vector<std::string> positional, all(arguments.begin(), end_of_options);
    for (const CLI::Option* option : options()) {
        const auto found = used_.find(key_of(long_name(option)));
        if (found == used_.end() || found->second.layer == kFlagLayer) continue;
        for (const std::string& text : found->second.texts) {
            if (option->get_lnames().empty())
                positional.push_back(text);
            else if (!is_flag(option))
                all.push_back("--" + option->get_lnames().front() + "=" + text);
            else if (text == "true")
                all.push_back("--" + option->get_lnames().front());
        }
    }
    all.insert(all.begin(), positional.begin(), positional.end());
    all.insert(all.end(), end_of_options, arguments.end());
    return all;
}

std::optional<int> Settings::parse(const std::vector<std::string>& arguments) {
    try {
        app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::RequiredError&) {  // a lower layer may have it
    } catch (const CLI::RequiresError&) {
    } catch (const CLI::Error&) {  // help, too
        return parse_arguments(app_, arguments);
    }
    const auto wrong = [&](const Error& error, int code) {
        std::fprintf(stderr, "%s: %s\n", app_.get_name().c_str(), error.to_string().c_str());
        return code;
    };
    take_flags();
    std::string file_name = file_;
    if (file_name.empty()) file_name = setting_in(environment_, kConfig).value_or("");
    warn_of_environment();
    if (const Result<Ok> taken = take_environment(); !taken) return wrong(taken.error(), kExitUsage);
    if (!file_name.empty()) {
        Result<SettingsFile> file = read_settings_file(file_name);
        if (!file) return wrong(file.error(), kExitInput);
        if (const Result<Ok> taken = take_file(*file); !taken) return wrong(taken.error(), kExitInput);
        rooms_ = std::move(file->rooms);
        room_places_ = std::move(file->room_places);
    }
    if (const Result<Ok> whole = check_needs(); !whole) return wrong(whole.error(), kExitUsage);
    if (const auto exit = parse_arguments(app_, all_arguments(arguments))) return exit;
    if (!print_) return std::nullopt;
    print();
    return std::fflush(stdout) == 0 ? kExitGood : kExitMachine;
}

std::string Settings::source_of(std::string_view long_name) const {
    const auto found = used_.find(key_of(long_name));
    return found == used_.end() ? "default" : found->second.source;
}

void Settings::print() const {
    std::printf("# %s: each setting and where it comes from. A file for --config.\n", app_.get_name().c_str());
    bool with_rooms = true;  // not if a higher layer says --rooms=false: a file has either tables or that
    for (const CLI::Option* option : options()) {
        const std::string key = key_of(long_name(option));
        const SettingType type = type_of(option);
        const auto found = used_.find(key);
        std::vector<std::string> texts;
        if (found != used_.end())
            texts = found->second.texts;
        else if (is_flag(option))
            texts = {"false"};
        else if (!option->get_default_str().empty() && !repeats(option))
            texts = {option->get_default_str()};
        std::string value;
        for (const std::string& text : texts) value += (value.empty() ? "" : ", ") + toml_value(type, text);
        if (repeats(option)) value = "[" + value + "]";
        const bool in_tables = key == kRoomsKey && value == "true" && !rooms_.empty();
        if (key == kRoomsKey && value == "false") with_rooms = false;
        if (value.empty())
            std::printf("# %s =  # default: not set\n", key.c_str());
        else
            std::printf("%s%s = %s  # %s\n", in_tables ? "# " : "", key.c_str(), value.c_str(),
                        found == used_.end() ? "default" : one_line(found->second.source).c_str());
    }
    if (!with_rooms) return;
    for (std::size_t i = 0; i < rooms_.size(); ++i) print_room(rooms_[i], room_places_[i]);
}

}  // namespace orrery::server
