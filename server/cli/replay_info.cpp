#include "server/cli/replay_info.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <map>

#include "server/base/hex.h"
#include "server/base/json_line.h"
#include "server/cli/command_line.h"
#include "server/cli/recording.h"

namespace orrery::server {

namespace {

namespace replay = protocol::replay;
using replay::ChunkKind;
using replay::ReplayReader;

constexpr std::array<std::string_view, 4> kChanges = {"came", "returned", "lost", "left"};

struct SizeOfKind {
    std::uint64_t chunks = 0, bytes = 0;
};

// What a walk over all records finds.
struct Contents {
    struct Moment {
        std::uint64_t tick = 0;
        std::string kind, text;  // "player", "note", ...
    };
    std::vector<Moment> moments;
    std::uint64_t commands = 0, slips = 0, slip_ns = 0;
    std::map<ChunkKind, SizeOfKind> sizes;
};

std::string_view kind_name(ChunkKind kind) {
    switch (kind) {
        case ChunkKind::file_header:
            return "file_header";
        case ChunkKind::tick:
            return "tick";
        case ChunkKind::keyframe:
            return "keyframe";
        case ChunkKind::end:
            return "end";
        case ChunkKind::ticks:
            return "ticks";
        case ChunkKind::player:
            return "player";
        case ChunkKind::resume:
            return "resume";
        case ChunkKind::host:
            return "host";
        case ChunkKind::note:
            return "note";
        case ChunkKind::sign:
            return "sign";
    }
    return "unknown";
}

std::string utc(std::uint64_t unix_s) {
    const auto time = static_cast<std::time_t>(unix_s);
    std::tm parts{};
    char text[40] = "";
    if (gmtime_r(&time, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

// One line each.
struct Describe {
    std::string kind, text;
    void operator()(const replay::PlayerRecord& r) {
        kind = "player";
        text = "slot " + std::to_string(r.slot) + " " + std::string(kChanges[static_cast<std::size_t>(r.change)]);
        if (r.id_form == replay::IdForm::plain) text += ", client " + std::to_string(r.client_id);
        if (r.id_form == replay::IdForm::hashed) text += ", client #" + hex16(r.client_id);
        constexpr std::string_view kReasons[] = {"left", "lost", "kicked", "ended", "stopped"};
        if (r.change == replay::PlayerChange::left && r.reason < std::size(kReasons))
            text.append(" (").append(kReasons[r.reason]).append(")");
    }
    void operator()(const replay::ResumeRecord& r) {
        kind = "resume";
        text = "at " + utc(r.unix_ms / 1000) + ", after " + std::to_string(r.downtime_ms) + " ms, by " + r.build;
    }
    void operator()(const replay::HostRecord& r) {
        kind = "host";
        text = std::to_string(r.state.size()) + " bytes";
    }
    void operator()(const replay::NoteRecord& r) {
        kind = "note";
        text = r.text;
    }
    void operator()(const replay::SignRecord& r) {
        kind = "sign";
        text = "by " + to_hex(r.key);
    }
    void operator()(const replay::UnknownRecord&) {
        kind = "unknown";
        text = "a chunk of a kind that this version does not know";
    }
};

Contents read_contents(const Recording& recording) {
    Contents found;
    ReplayReader reader(recording.source());
    if (!reader.begin()) return found;
    std::uint64_t offset = 0, end = reader.position().offset;
    found.sizes[ChunkKind::file_header] = {1, end};
    for (;;) {
        const ReplayReader::Kind kind = reader.next_of_all();
        if (reader.position().offset > end) {
            offset = end, end = reader.position().offset;
            SizeOfKind& size = found.sizes[kind == ReplayReader::Kind::stop ? ChunkKind::end : reader.chunk().kind];
            ++size.chunks, size.bytes += end - offset;
        }
        if (kind == ReplayReader::Kind::stop) return found;
        if (kind == ReplayReader::Kind::ancillary) {
            Describe describe;
            std::visit(describe, reader.ancillary());
            found.moments.push_back({reader.ticks(), describe.kind, describe.text});
        } else if (kind == ReplayReader::Kind::tick) {
            found.commands += reader.tick().commands.size();
            found.slips += reader.tick().slip_ns > 0 ? 1 : 0;
            found.slip_ns += reader.tick().slip_ns;
        }
    }
}

std::string_view state_of(const replay::Survey& survey) {
    if (survey.status == replay::ReadStatus::closed) return "complete";
    return survey.status == replay::ReadStatus::open ? "not closed" : "cut off";
}

bool has_parent(const replay::Parent& parent) {
    return std::ranges::any_of(parent.run, [](std::uint8_t byte) { return byte != 0; });
}

void print_text(const std::string& path, const Recording& recording, const Contents& found) {
    const replay::Survey& survey = recording.survey();
    const replay::FileHeader& header = survey.header;
    const auto line = [](const char* name, const std::string& value) {
        std::printf("%-12s %s\n", name, value.c_str());
    };
    const auto number = [](auto value) { return std::to_string(value); };
    const std::uint64_t ticks = survey.ticks - header.first_tick;
    char seconds[64];
    std::snprintf(seconds, sizeof seconds, "%.1f s at %.6g Hz",
                  static_cast<double>(ticks) / static_cast<double>(header.tick_rate_hz),
                  static_cast<double>(header.tick_rate_hz));
    line("replay", path + ", " + number(recording.source().size()) + " bytes, format " + number(survey.format));
    line("state",
         std::string(state_of(survey)) + (survey.error.message.empty() ? "" : ": " + survey.error.to_string()));
    line("scene", header.scene_name + ", room " + header.room + ", hash " + hex16(header.scene_hash));
    line("engine",
         "version " + number(header.engine_version) +
             (header.engine_version == sim::kEngineVersion ? ""
                                                           : ": verified by orrery:" + number(header.engine_version) +
                                                                 ", this is " + number(sim::kEngineVersion)));
    line("start", utc(header.start_unix_s));
    line("ticks", number(header.first_tick + 1) + " to " + number(survey.ticks) + ", " + seconds);
    line("keyframes", number(survey.marks.size() - (survey.marks.front().keyframe ? 0 : 1)));
    line("commands", number(found.commands));
    line("slips", number(found.slips) + " of the time grid, " + number(found.slip_ns / 1'000'000) + " ms in all");
    if (survey.format > 1) line("run", to_hex(header.run));
    if (has_parent(header.parent))
        line("parent", to_hex(header.parent.run) + " up to chain " + to_hex(header.parent.chain));
    for (const replay::KeyValue& pair : header.about) std::printf("  %s = %s\n", pair.key.c_str(), pair.value.c_str());
    for (const auto& [kind, size] : found.sizes)
        std::printf("  %-11s %8llu chunks, %llu bytes\n", std::string(kind_name(kind)).c_str(),
                    static_cast<unsigned long long>(size.chunks), static_cast<unsigned long long>(size.bytes));
    for (const Contents::Moment& moment : found.moments)
        std::printf("tick %llu %s: %s\n", static_cast<unsigned long long>(moment.tick), moment.kind.c_str(),
                    moment.text.c_str());
}

void print_json(const std::string& path, const Recording& recording, const Contents& found) {
    const replay::Survey& survey = recording.survey();
    const replay::FileHeader& header = survey.header;
    JsonLine line, about, sizes;
    for (const replay::KeyValue& pair : header.about) about.text(pair.key, pair.value);
    for (const auto& [kind, size] : found.sizes)
        sizes.object(kind_name(kind), JsonLine().number("chunks", size.chunks).number("bytes", size.bytes));
    line.text("replay", path).number("bytes", recording.source().size()).number("format", survey.format);
    line.text("state", state_of(survey)).boolean("complete", survey.status == replay::ReadStatus::closed);
    line.text("scene", header.scene_name).text("room", header.room).text("scene_hash", hex16(header.scene_hash));
    line.number("engine_version", header.engine_version).text("start", utc(header.start_unix_s));
    line.number("tick_rate_hz", std::optional(static_cast<double>(header.tick_rate_hz)));
    line.number("first_tick", header.first_tick).number("last_tick", survey.ticks);
    line.number("keyframes", survey.marks.size() - (survey.marks.front().keyframe ? 0u : 1u));
    line.number("commands", found.commands).number("slips", found.slips);
    line.number("slip_s", std::optional(static_cast<double>(found.slip_ns) * 1e-9));
    line.text("run", to_hex(header.run));
    line.text("parent", has_parent(header.parent) ? to_hex(header.parent.run) : "");
    line.text("parent_chain", has_parent(header.parent) ? to_hex(header.parent.chain) : "");
    line.object("about", about).object("chunks", sizes);
    if (!survey.error.message.empty()) line.text("error", survey.error.to_string());
    std::printf("%s\n", line.str().c_str());
    for (const Contents::Moment& moment : found.moments)
        std::printf(
            "%s\n",
            JsonLine().number("tick", moment.tick).text("kind", moment.kind).text("text", moment.text).str().c_str());
}

}  // namespace

int info_command(const std::vector<std::string>& arguments) {
    std::string path;
    bool json = false;
    CLI::App app(
        "Prints what a recording is: scene, engine version, ticks, who played, notes, sizes. All bytes are checked, "
        "nothing "
        "is simulated, so that recordings of any engine version can be read. A corrupt one: exit code 2.",
        "orrery replay info");
    app.add_option("REPLAY", path, "replay file")->required();
    app.add_flag("--json", json, "print a JSON object, and one for each player, note and signature, a line each");
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    const auto recording = Recording::open(path);
    if (!recording) return complain(path + ": " + recording.error().to_string(), kExitInput);
    const Contents found = read_contents(**recording);
    json ? print_json(path, **recording, found) : print_text(path, **recording, found);
    return kExitGood;
}

}  // namespace orrery::server
