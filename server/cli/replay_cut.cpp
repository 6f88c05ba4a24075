#include "server/cli/replay_cut.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "protocol/netcode/crypto.h"
#include "protocol/replay/recorded.h"
#include "protocol/replay/writer.h"
#include "protocol/scene/scene.h"
#include "server/base/new_file.h"
#include "server/cli/command_line.h"
#include "server/cli/recording.h"

namespace orrery::server {

namespace {

namespace replay = protocol::replay;
using replay::ReplayReader;
using Bytes = Result<replay::ReplayWriter::Bytes>;

struct CutOptions {
    std::string replay, out;
    std::uint64_t from = 1, to = kMaxRunTicks, max_bodies = protocol::kDefaultMaxSceneBodies;
};

class Cutter {
  public:
    Cutter(Recording& recording, sim::World& world, NewFile& file)
        : recording_(recording), world_(world), file_(file) {}

    Result<Ok> begin() {
        replay::FileHeader header = recording_.survey().header;
        header.parent = {header.run, recording_.reader().position().chain};
        header.first_tick = start_ = world_.tick();
        protocol::SystemRandom().fill(header.run);
        if (auto begun = append(writer_.begin(header)); !begun) return begun;
        return world_.tick() > 0 ? keyframe() : Result<Ok>(Ok{});
    }

    // Up to `last`. Ticks are simulated and compared; the keyframes are the simulated world's.
    Result<Ok> follow(std::uint64_t last) {
        ReplayReader& reader = recording_.reader();
        for (;;) {
            const ReplayReader::Kind kind = reader.next_of_all();
            Result<Ok> done = Ok{};
            if (kind == ReplayReader::Kind::stop || (kind == ReplayReader::Kind::tick && world_.tick() == last)) break;
            if (kind == ReplayReader::Kind::tick) {
                done = tick(reader.tick());
            } else if (kind == ReplayReader::Kind::keyframe) {
                if (world_.tick() > start_) done = keyframe();
            } else {
                done = std::visit([this](const auto& record) { return ancillary(record); }, reader.ancillary());
            }
            if (!done) return done;
        }
        return append(writer_.end());
    }
    std::uint64_t left_out() const { return left_out_; }

  private:
    Result<Ok> append(const Bytes& bytes) { return bytes ? file_.append(*bytes) : Result<Ok>(bytes.error()); }
    Result<Ok> tick(const replay::TickRecord& record) {
        if (auto taken = replay::take(world_, record); !taken) return taken;
        return append(writer_.tick(record.tick, record.commands, world_.hash(), record.slip_ns));
    }
    Result<Ok> keyframe() {
        world_.save(saved_);
        return append(writer_.keyframe(saved_));
    }
    // A signature signs the whole of its own file.
    Result<Ok> ancillary(const replay::SignRecord&) { return leave_out(); }
    Result<Ok> ancillary(const replay::UnknownRecord&) { return leave_out(); }
    template <class Record>
    Result<Ok> ancillary(const Record& record) {
        return append(writer_.add(record));
    }
    Result<Ok> leave_out() {
        ++left_out_;
        return Ok{};
    }

    Recording& recording_;
    sim::World& world_;
    NewFile& file_;
    replay::ReplayWriter writer_;
    std::vector<std::uint8_t> saved_;
    std::uint64_t left_out_ = 0, start_ = 0;
};

int cut(const CutOptions& options) {
    const auto fail = [&](const Error& error) {
        return complain(options.replay + ": " + error.to_string(), exit_code_of_replaying(error));
    };
    const auto recording = Recording::open(options.replay);
    if (!recording) return complain(options.replay + ": " + recording.error().to_string(), kExitInput);
    const std::uint64_t last = std::min(options.to, (*recording)->survey().ticks);
    const std::uint64_t from = std::max(options.from, (*recording)->survey().header.first_tick + 1);
    if (from > last)
        return complain(
            options.replay + ": it ends at tick " + std::to_string(last) + ", before --from " + std::to_string(from),
            kExitInput);
    const auto world = (*recording)->new_world(options.max_bodies, sim::Target::automatic);
    if (!world) return fail(world.error());
    if (const Result<Ok> there = (*recording)->go_to(from - 1, **world); !there) return fail(there.error());
    NewFile file(options.out);
    if (!file.is_open()) return complain(file.error("open"), kExitInput);
    Cutter cutter(**recording, **world, file);
    Result<Ok> done = cutter.begin();
    if (done) done = cutter.follow(last);
    if (done) done = file.keep();
    if (!done) return fail(done.error());
    std::printf("%s: ticks %llu to %llu of %s, %llu bytes\n", options.out.c_str(),
                static_cast<unsigned long long>(from), static_cast<unsigned long long>(last), options.replay.c_str(),
                static_cast<unsigned long long>(file.size()));
    if (cutter.left_out() > 0)
        std::printf("%s: without %llu signatures and chunks of unknown kinds\n", options.out.c_str(),
                    static_cast<unsigned long long>(cutter.left_out()));
    return kExitGood;
}

}  // namespace

int cut_command(const std::vector<std::string>& arguments) {
    CutOptions options;
    CLI::App app(
        "Writes a part of a recording as a recording of its own, which names the one that it was cut from. It is "
        "simulated on the way and compared: what is written is equal, and verifies by itself.",
        "orrery replay cut");
    app.add_option("REPLAY", options.replay, "replay file")->required();
    app.add_option("--out", options.out, "the new file; one that exists is not overwritten")->required();
    app.add_option("--from", options.from, "first tick of the part")
        ->check(whole_number(1, kMaxRunTicks))
        ->capture_default_str();
    app.add_option("--to", options.to, "last tick of the part; without it, the end of the recording")
        ->check(whole_number(1, kMaxRunTicks));
    add_max_bodies_option(app, options.max_bodies);
    if (const std::optional<int> exit = parse_arguments(app, arguments)) return *exit;
    if (options.from > options.to) return complain("--from is beyond --to", kExitUsage);
    return cut(options);
}

}  // namespace orrery::server
