#include <bit>
#include <cinttypes>
#include <cstdio>

#include "server/base/json_line.h"
#include "server/cli/bisect.h"
#include "server/cli/command_line.h"

namespace orrery::server {

namespace {

namespace rp = protocol::replay;

std::string bits_of(std::uint64_t bits) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%08" PRIx64, bits);
    return text;
}

// Digits that tell one value from the next; of a float its bits, too.
std::string value_text(const rp::StateDifference& where, const std::optional<std::uint64_t>& bits) {
    if (!bits) return "nothing: its bytes end before";
    if (where.type != sim::FieldType::f32) return std::to_string(*bits);
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g",
                  static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits))));
    return std::string(digits) + " (" + bits_of(*bits) + ")";
}

std::string place_text(const NamedDifference& found) {
    const rp::StateDifference& where = found.where;
    std::string text = where.list == "world" ? "" : where.list + "[" + std::to_string(where.index) + "]";
    if (!found.called.empty()) text += " " + found.called;
    if (where.list != "bodies") {
        for (const auto& [index, name] : found.bodies)
            text.append(&found.bodies.front().first == &index ? " of bodies[" : " and bodies[")
                .append(std::to_string(index) + (name.empty() ? "]" : "] " + name));
    }
    return text + (text.empty() ? "world " : ", ") + where.name();
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text.append(text.empty() ? "" : ", ").append(part);
    return text;
}

JsonLine difference_json(const NamedDifference& found) {
    const rp::StateDifference& where = found.where;
    JsonLine line, bodies;
    line.number("tick", found.tick).boolean("keyframe", found.keyframe);
    line.text("subsystem", sim::subsystem_name(where.subsystem)).text("list", where.list).number("index", where.index);
    if (!found.called.empty()) line.text("called", found.called);
    for (const auto& [index, name] : found.bodies) bodies.text(std::to_string(index), name);
    line.object("bodies", bodies).text("field", where.field).number("number", where.number);
    line.text("name", where.name());
    const auto value = [&](const char* name, const std::optional<std::uint64_t>& bits) {
        const std::optional<double> null;
        if (!bits)
            line.number(name, null);
        else if (where.type == sim::FieldType::f32)
            line.number(name,
                        std::optional(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)))));
        else
            line.number(name, *bits);
        bits ? line.text(std::string(name) + "_bits", bits_of(*bits)) : line.number(std::string(name) + "_bits", null);
    };
    value("here", where.here);
    value("there", where.there);
    const std::optional<std::uint64_t> ulps = where.ulps();
    ulps ? line.number("ulps", *ulps) : line.number("ulps", std::optional<double>());
    return line;
}

}  // namespace

int bisect_exit_code(const BisectReport& report) {
    if (report.error) return exit_code_of(*report.error);
    return report.first_divergent_tick ? kExitFalse : kExitGood;
}

std::string bisect_text(const std::string& replay, const BisectReport& report) {
    if (report.error) {
        std::string text = replay + ": " + report.error->to_string();
        if (report.keyframe_at_byte)
            text += "; it is in the keyframe of tick " + std::to_string(*report.keyframe_at_byte);
        return text + "\n";
    }
    const std::string who = report.here + " and " + report.there;
    const std::string equal = std::to_string(report.ticks) + " ticks re-simulated and equal";
    std::string text = replay + ": ";
    if (!report.first_divergent_tick) {
        text += "same: " + who + ", " + equal + "\n";
    } else {
        const std::uint64_t tick = *report.first_divergent_tick;
        text += "differs at tick " + std::to_string(tick) + " in " + joined(report.subsystems);
        if (report.subsystem_tick && *report.subsystem_tick != tick)
            text += " (by tick " + std::to_string(*report.subsystem_tick) + ", the next with a hash of each subsystem)";
        text += ": " + who + ", " + equal + "\n";
    }
    if (report.difference) {
        const NamedDifference& found = *report.difference;
        const std::string second = found.keyframe ? "the keyframe of tick " + std::to_string(found.tick) : report.there;
        text += "  first difference after tick " + std::to_string(found.tick) + ": " + place_text(found) + "\n";
        text += "    " + value_text(found.where, found.where.here) + " by " + report.here + "\n";
        text += "    " + value_text(found.where, found.where.there) + " by " + second + "\n";
        if (const std::optional<std::uint64_t> ulps = found.where.ulps())
            text += "    " + std::to_string(*ulps) + " ulp apart\n";
    }
    if (!report.note.empty()) text += "  " + report.note + "\n";
    return text;
}

std::string bisect_json(const std::string& replay, const BisectReport& report) {
    const std::optional<double> null;
    JsonLine line;
    const auto count = [&](std::string_view name, const std::optional<std::uint64_t>& value) {
        value ? line.number(name, *value) : line.number(name, null);
    };
    line.text("replay", replay);
    line.text("result", report.error ? "unreadable" : report.first_divergent_tick ? "differs" : "same");
    line.text("here", report.here).text("there", report.there).number("ticks", report.ticks);
    count("first_divergent_tick", report.first_divergent_tick);
    line.texts("subsystems", report.subsystems);
    count("subsystem_tick", report.subsystem_tick);
    report.difference ? line.object("difference", difference_json(*report.difference))
                      : line.number("difference", null);
    count("corrupt_at_byte", report.corrupt_at_byte);
    count("corrupt_keyframe_tick", report.keyframe_at_byte);
    if (!report.note.empty()) line.text("note", report.note);
    if (report.error) line.text("error", report.error->to_string());
    return line.str() + "\n";
}

}  // namespace orrery::server
