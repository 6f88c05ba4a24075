#include "server/cli/replay_state.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "orrery/state_fields.hpp"
#include "protocol/scene/scene.h"
#include "server/base/json_line.h"
#include "server/cli/body_lines.h"
#include "server/cli/command_line.h"
#include "server/cli/recording.h"

namespace orrery::server {

namespace {

using sim::FieldType;
using sim::StateField;

struct StateOptions {
    std::string replay, list;
    std::uint64_t tick = 0, index = 0, max_bodies = protocol::kDefaultMaxSceneBodies;
    std::optional<std::uint64_t> start;
    bool one = false, json = false, bytes = false, unchecked = false;
};

std::string text_of(const StateField& field) {
    std::string text;
    for (std::uint32_t i = 0; i < field.count; ++i) {
        char digits[40];
        if (field.type == FieldType::f32)
            std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(field.number(i)));
        text.append(i == 0 ? "" : " ")
            .append(field.type == FieldType::f32 ? std::string(digits) : std::to_string(field.integer(i)));
    }
    return text;
}

// Fields come list by list, of each list column by column: gathered here by element.
class Elements final : public sim::StateFieldVisitor {
  public:
    explicit Elements(const StateOptions& options) : options_(options) {}

    void field(const StateField& field) override {
        if (!options_.list.empty() && field.list != options_.list) return;
        if (options_.one && field.index != options_.index) return;
        const auto [place, is_new] = order_.try_emplace(std::string(field.list), order_.size());
        if (is_new) lists_.push_back(place->first);
        Element& element = elements_[{place->second, field.index}];
        if (!options_.json) {
            element.lines.emplace_back(std::string(field.name), text_of(field));
        } else if (field.type == FieldType::f32) {
            numbers_.resize(field.count);
            for (std::uint32_t i = 0; i < field.count; ++i) numbers_[i] = field.number(i);
            field.count == 1 ? element.json.number(field.name, std::optional(static_cast<double>(numbers_[0])))
                             : element.json.numbers(field.name, numbers_);
        } else if (field.count == 1) {
            element.json.number(field.name, field.integer(0));
        } else {
            std::vector<std::string> texts(field.count);
            for (std::uint32_t i = 0; i < field.count; ++i) texts[i] = std::to_string(field.integer(i));
            element.json.texts(field.name, texts);
        }
    }

    // `names`: of bodies, by index.
    void print(const std::map<std::uint32_t, std::string>& names) const {
        for (const auto& [place, element] : elements_) {
            const std::string& list = lists_[place.first];
            const auto name = list == "bodies" ? names.find(place.second) : names.end();
            const std::string called = name == names.end() ? std::string() : name->second;
            options_.json ? print_json(list, place.second, called, element)
                          : print_text(list, place.second, called, element);
        }
    }
    bool empty() const { return elements_.empty(); }

  private:
    struct Element {
        std::vector<std::pair<std::string, std::string>> lines;
        JsonLine json;
    };

    static void print_json(const std::string& list, std::uint32_t index, const std::string& called,
                           const Element& element) {
        JsonLine line;
        line.text("list", list).number("index", index);
        if (!called.empty()) line.text("called", called);
        std::printf("%s\n", line.object("fields", element.json).str().c_str());
    }
    static void print_text(const std::string& list, std::uint32_t index, const std::string& called,
                           const Element& element) {
        std::printf("%s[%u]%s%s\n", list.c_str(), index, called.empty() ? "" : " ", called.c_str());
        for (const auto& [name, text] : element.lines) std::printf("  %s = %s\n", name.c_str(), text.c_str());
    }

    const StateOptions& options_;
    std::map<std::string, std::size_t> order_;
    std::vector<std::string> lists_;
    std::map<std::pair<std::size_t, std::uint32_t>, Element> elements_;
    std::vector<float> numbers_;
};

// Brings the world to the tick, from where and with what checks the options say.
Result<Ok> go(const StateOptions& options, Recording& recording, sim::World& world) {
    if (!options.start && !options.unchecked) return recording.go_to(options.tick, world);
    const auto& marks = recording.survey().marks;
    const protocol::replay::Mark* from = nullptr;
    for (const protocol::replay::Mark& mark : marks) {
        if (options.start ? mark.tick == *options.start : mark.tick <= options.tick) from = &mark;
    }
    if (!from || from->tick > options.tick || options.tick > recording.survey().ticks)
        return Error{ErrorCode::not_found, "tick " + std::to_string(options.tick),
                     options.start ? "the recording has no way to it from a keyframe or start at tick " +
                                         std::to_string(*options.start)
                                   : "the recording has the states of ticks " + std::to_string(marks.front().tick) +
                                         " to " + std::to_string(recording.survey().ticks)};
    Result<Ok> there = recording.begin_at(*from, world);
    while (there && world.tick() < options.tick) {
        if (!recording.read_tick()) return recording.reader().error();
        const protocol::replay::TickRecord& record = recording.reader().tick();
        const sim::StepStatus status = options.unchecked ? world.step(record.commands) : sim::StepStatus::ok;
        if (status != sim::StepStatus::ok) return sim::step_error(status, record.tick);
        if (!options.unchecked) there = take(world, record);
    }
    return there;
}

int print_bytes(const sim::World& world) {
    std::vector<std::uint8_t> state;
    world.save(state);
    return std::fwrite(state.data(), 1, state.size(), stdout) == state.size() ? kExitGood : kExitMachine;
}

int print_state(const StateOptions& options, sim::Target target) {
    const auto recording = Recording::open(options.replay);
    if (!recording) return complain(options.replay + ": " + recording.error().to_string(), kExitInput);
    const auto fail = [&](const Error& error) {
        return complain(options.replay + ": " + error.to_string(), exit_code_of_replaying(error));
    };
    const auto world = (*recording)->new_world(options.max_bodies, target);
    if (!world) return fail(world.error());
    if (const Result<Ok> there = go(options, **recording, **world); !there) return fail(there.error());
    if (options.bytes) return print_bytes(**world);
    std::vector<sim::BodyState> bodies;
    (*world)->read_bodies(bodies);
    std::map<std::uint32_t, std::string> names;
    for (const sim::BodyState& body : bodies) names[body.id.index] = body_name((*world)->definition(), body);
    Elements elements(options);
    (*world)->visit_fields(elements);
    if (elements.empty())
        return complain("the state has no " + options.list +
                            (options.one ? " with index " + std::to_string(options.index) : "") +
                            "; without --list all are printed",
                        kExitInput);
    elements.print(names);
    return kExitGood;
}

}  // namespace

int state_command(const std::vector<std::string>& arguments) {
    StateOptions options;
    std::string target = "auto";
    CLI::App app(
        "Prints every field of a recorded world after a tick: what a save of it holds, by name, in SI units and world "
        "axes. Numbers have as many digits as tell one value from the next, so that two states can be compared as "
        "text.",
        "orrery replay state");
    app.add_option("REPLAY", options.replay, "replay file")->required();
    app.add_option("--tick", options.tick, "the tick; 0 is the start")
        ->required()
        ->check(whole_number(0, kMaxRunTicks));
    app.add_option("--list", options.list,
                   "only this list: world, bodies, changed, joints, rig_forces, contacts, sleeping_contacts, "
                   "sensor_overlaps, rolling, mean_motions, slots, actuators or events")
        ->check(CLI::IsMember({"world", "bodies", "changed", "joints", "rig_forces", "contacts", "sleeping_contacts",
                               "sensor_overlaps", "rolling", "mean_motions", "slots", "actuators", "events"}));
    auto* index =
        app.add_option("--index", options.index, "only this element of the lists")->check(whole_number(0, sim::kNone));
    app.add_option("--target", target,
                   "SIMD target: auto, scalar, ssse3, sse4, avx2, avx3, neon (no bit depends on it)");
    add_max_bodies_option(app, options.max_bodies);
    app.add_option("--start", options.start,
                   "simulate from the keyframe of this tick, or from the start at tick 0; without it, from the last "
                   "keyframe before")
        ->check(whole_number(0, kMaxRunTicks));
    app.add_flag("--unchecked", options.unchecked,
                 "go on where the simulation differs from the recording, and print the state of the simulation");
    auto* json = app.add_flag("--json", options.json, "print one JSON object for each element instead of text");
    app.add_flag("--bytes", options.bytes, "print the bytes of World::save() instead: the whole state, bit for bit")
        ->excludes(json)
        ->excludes(index)
        ->excludes("--list");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    options.one = index->count() > 0;
    int exit = kExitUsage;
    const std::optional<sim::Target> found = parse_target(target, exit);
    return found ? print_state(options, *found) : exit;
}

}  // namespace orrery::server
