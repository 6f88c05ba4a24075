#include "protocol/replay/plan_file.h"

#include <flatbuffers/idl.h>
#include <sodium.h>

#include <cstdlib>
#include <memory>

#include "protocol/replay/plan_file_generated.h"
#include "protocol/replay/plan_schema.h"
#include "protocol/scene/json.h"

namespace orrery::protocol::replay {

namespace {

constexpr std::uint32_t kPlanVersion = 1, kResultVersion = 1;

static_assert(static_cast<int>(plan_file::Fault::unsupported_target) ==
              static_cast<int>(ErrorCode::unsupported_target));
static_assert(static_cast<int>(plan_file::Fault::MAX) == static_cast<int>(ErrorCode::io));

std::string hex_u64(std::uint64_t value) {
    std::array<std::uint8_t, 8> bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
    return to_hex(bytes);
}

// Absent is what has zeros alone.
std::string hex_or_absent(const Chain& chain) { return chain == Chain{} ? std::string() : to_hex(chain); }

plan_file::RecordingT written(const RecordingId& id) {
    plan_file::RecordingT out;
    out.engine_version = id.engine_version;
    out.run = to_hex(id.run);
    out.header = to_hex(id.header);
    out.scene_hash = hex_u64(id.scene_hash);
    out.tick_rate_hz = static_cast<double>(id.tick_rate_hz);
    out.first_tick = id.first_tick;
    return out;
}

std::unique_ptr<plan_file::BorderT> written(const Border& border) {
    auto out = std::make_unique<plan_file::BorderT>();
    out->tick = border.tick;
    out->offset = border.offset;
    out->sequence = border.sequence;
    out->chain = to_hex(border.chain);
    out->keyframe = hex_or_absent(border.keyframe);
    return out;
}

// The table as JSON; empty if a text in it is not UTF-8.
template <class Table>
std::string json_of(const typename Table::NativeTableType& tree, const char* schema) {
    flatbuffers::IDLOptions options;
    options.strict_json = true;
    options.output_default_scalars_in_json = true;
    flatbuffers::Parser parser(options);
    if (!parser.Parse(schema)) std::abort();
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(Table::Pack(builder, &tree));
    std::string text;
    if (!flatbuffers::GenerateText(parser, builder.GetBufferPointer(), &text)) return {};
    return text;
}

// Reads what was parsed; the first fault remains.
class Fields {
  public:
    explicit Fields(std::string_view file_name) : file_name_(file_name) {}

    void fail(std::string_view field, std::string message) {
        if (!error_) error_ = Error{ErrorCode::parse, file_name_ + ": " + std::string(field), std::move(message)};
    }
    void hex(const std::string& digits, std::span<std::uint8_t> out, std::string_view field) {
        if (!from_hex(digits, out))
            fail(field, "is not " + std::to_string(2 * out.size()) + " hex digits; use the file as it was written");
    }
    void u64(const std::string& digits, std::uint64_t& out, std::string_view field) {
        std::array<std::uint8_t, 8> bytes{};
        hex(digits, bytes, field);
        out = 0;
        for (const std::uint8_t byte : bytes) out = out << 8 | byte;
    }
    void version(std::uint32_t found, std::uint32_t known, std::string_view field) {
        if (found != known)
            fail(field, "is " + std::to_string(found) + ", this program reads version " + std::to_string(known) +
                            "; use the program that wrote it");
    }
    void recording(const std::unique_ptr<plan_file::RecordingT>& from, RecordingId& to) {
        if (!from) return fail("recording", "is missing; use the file as it was written");
        to.engine_version = from->engine_version;
        hex(from->run, to.run, "recording.run");
        hex(from->header, to.header, "recording.header");
        u64(from->scene_hash, to.scene_hash, "recording.scene_hash");
        to.tick_rate_hz = static_cast<float>(from->tick_rate_hz);
        to.first_tick = from->first_tick;
        if (!(to.tick_rate_hz > 0.0f)) fail("recording.tick_rate_hz", "is not above 0; use the file as it was written");
    }
    void border(const std::unique_ptr<plan_file::BorderT>& from, Border& to, std::string_view field) {
        if (!from) return fail(field, "is missing; use the file as it was written");
        to.tick = from->tick;
        to.offset = from->offset;
        to.sequence = from->sequence;
        hex(from->chain, to.chain, std::string(field) + ".chain");
        if (!from->keyframe.empty()) hex(from->keyframe, to.keyframe, std::string(field) + ".keyframe");
    }
    const std::optional<Error>& error() const { return error_; }

  private:
    std::string file_name_;
    std::optional<Error> error_;
};

template <class Table>
Result<std::unique_ptr<typename Table::NativeTableType>> parsed(std::string_view text, std::string_view file_name,
                                                                const char* schema, std::size_t most,
                                                                const char* limit) {
    if (text.size() > most)
        return Error{ErrorCode::limit_reached, std::string(file_name),
                     "is longer than the " + std::to_string(most) + " bytes accepted (" + limit + ")"};
    flatbuffers::Parser parser;
    if (const Result<Ok> good = scene::parse_json_text(parser, schema, text, file_name); !good) return good.error();
    return std::unique_ptr<typename Table::NativeTableType>(
        flatbuffers::GetRoot<Table>(parser.builder_.GetBufferPointer())->UnPack());
}

// Borders go forward, and a segment has a tick and a byte.
void check_order(const Plan& plan, Fields& fields) {
    const auto field = [](std::size_t i) { return "borders[" + std::to_string(i) + "]"; };
    const Chain none{};
    for (std::size_t i = 1; i < plan.borders.size(); ++i) {
        const Border &before = plan.borders[i - 1], &here = plan.borders[i];
        const bool last = i + 1 == plan.borders.size();
        const bool alone = last && i == 1;  // a recording without a tick is one segment
        if (here.offset < before.offset || here.sequence < before.sequence || here.tick < before.tick ||
            (!alone && (here.tick == before.tick || here.offset == before.offset)))
            fields.fail(field(i), "is not behind the one before it; make the plan again");
        if ((here.keyframe == none) != last)
            fields.fail(field(i) + ".keyframe", "is not where a segment begins; make the plan again");
    }
    if (plan.borders.front().tick != plan.recording.first_tick || plan.borders.front().keyframe != none)
        fields.fail(field(0), "is not the start of the recording; make the plan again");
    if (plan.borders.back().offset > plan.size)
        fields.fail(field(plan.borders.size() - 1), "is behind the end of the file; make the plan again");
}

}  // namespace

std::string to_hex(std::span<const std::uint8_t> bytes) {
    std::string out(2 * bytes.size() + 1, '\0');
    sodium_bin2hex(out.data(), out.size(), bytes.data(), bytes.size());
    out.pop_back();
    return out;
}

bool from_hex(std::string_view digits, std::span<std::uint8_t> out) {
    std::size_t bytes = 0;
    const char* end = nullptr;
    return digits.size() == 2 * out.size() &&
           sodium_hex2bin(out.data(), out.size(), digits.data(), digits.size(), nullptr, &bytes, &end) == 0 &&
           bytes == out.size() && end == digits.data() + digits.size();
}

Result<std::string> plan_text(const Plan& plan) {
    plan_file::PlanT out;
    out.plan_version = kPlanVersion;
    out.file = plan.file;
    out.size = plan.size;
    out.format = plan.format;
    out.segments = plan.segments();
    out.recording = std::make_unique<plan_file::RecordingT>(written(plan.recording));
    for (const Border& border : plan.borders) out.borders.push_back(written(border));
    std::string text = json_of<plan_file::Plan>(out, plan_schema_text());
    if (text.empty())
        return Error{ErrorCode::invalid_argument, plan.file,
                     "the name of the replay is not UTF-8, which a plan is written in; give it another name"};
    return text;
}

Result<Plan> read_plan(std::string_view text, std::string_view file_name) {
    const auto from = parsed<plan_file::Plan>(text, file_name, plan_schema_text(), kMaxPlanBytes, "kMaxPlanBytes");
    if (!from) return from.error();
    const plan_file::PlanT& tree = **from;
    Fields fields(file_name);
    Plan plan;
    fields.version(tree.plan_version, kPlanVersion, "plan_version");
    if (fields.error()) return *fields.error();
    plan.file = tree.file;
    plan.size = tree.size;
    plan.format = tree.format;
    fields.recording(tree.recording, plan.recording);
    if (plan.format < kOldestFormat || plan.format > kFormatVersion)
        fields.fail("format", "is not one that this program reads; use the program that wrote the plan");
    if (tree.borders.size() < 2 || tree.borders.size() > kMaxSegments + 1 || tree.segments != tree.borders.size() - 1)
        fields.fail("borders", "are not one more than segments, or more than " + std::to_string(kMaxSegments) +
                                   " segments (kMaxSegments); make the plan again");
    for (std::size_t i = 0; i < tree.borders.size() && !fields.error(); ++i)
        fields.border(tree.borders[i], plan.borders.emplace_back(), "borders[" + std::to_string(i) + "]");
    if (!fields.error()) check_order(plan, fields);
    if (fields.error()) return *fields.error();
    return plan;
}

std::string result_text(const SegmentResult& result) {
    const VerifyReport& report = result.report;
    const auto maybe = [](const std::optional<std::uint64_t>& value) {
        return value ? flatbuffers::Optional<std::uint64_t>(*value) : flatbuffers::nullopt;
    };
    plan_file::SegmentResultT out;
    out.result_version = kResultVersion;
    out.segment = result.segment;
    out.segments = result.segments;
    out.engine_version = result.engine_version;
    out.result = report.verdict == Verdict::same       ? plan_file::Verdict::same
                 : report.verdict == Verdict::diverged ? plan_file::Verdict::diverged
                                                       : plan_file::Verdict::unreadable;
    out.ticks = result.equal_until - result.begin.tick;
    out.checked = result.checked;
    out.corrupt_at_byte = maybe(report.corrupt_at_byte);
    out.first_divergent_tick = maybe(report.first_divergent_tick);
    out.subsystem = report.subsystem;
    out.subsystem_tick = maybe(report.subsystem_tick);
    out.ending = result.ending == ReadStatus::closed ? plan_file::Ending::closed
                 : result.ending == ReadStatus::open ? plan_file::Ending::open
                 : result.ending == ReadStatus::torn ? plan_file::Ending::torn
                                                     : plan_file::Ending::next;
    if (!report.error.message.empty()) {
        out.error = std::make_unique<plan_file::ErrorT>();
        out.error->fault = static_cast<plan_file::Fault>(report.error.code);
        out.error->place = report.error.place;
        out.error->message = report.error.message;
    }
    out.begin = written(result.begin);
    out.end = written(result.end);
    const AncillaryCounts& counts = report.ancillary;
    out.ancillary = std::make_unique<plan_file::AncillaryT>();
    out.ancillary->players = counts.players;
    out.ancillary->resumes = counts.resumes;
    out.ancillary->hosts = counts.hosts;
    out.ancillary->notes = counts.notes;
    out.ancillary->signs = counts.signs;
    out.ancillary->unknown = counts.unknown;
    for (const SegmentSign& sign : result.signs) {
        plan_file::SignT& to = *out.signs.emplace_back(std::make_unique<plan_file::SignT>());
        to.tick = sign.tick;
        to.offset = sign.offset;
        to.key = to_hex(sign.key);
        to.whole = sign.whole;
    }
    out.recording = std::make_unique<plan_file::RecordingT>(written(result.recording));
    out.target = sim::target_name(report.target);
    out.microseconds = result.microseconds;
    if (result.worker) {
        out.worker = to_hex(*result.worker);
        out.signature = to_hex(result.signature);
    }
    return json_of<plan_file::SegmentResult>(out, result_schema_text());
}

Result<SegmentResult> read_result(std::string_view text, std::string_view file_name) {
    const auto from =
        parsed<plan_file::SegmentResult>(text, file_name, result_schema_text(), kMaxResultBytes, "kMaxResultBytes");
    if (!from) return from.error();
    const plan_file::SegmentResultT& tree = **from;
    Fields fields(file_name);
    SegmentResult result;
    VerifyReport& report = result.report;
    const auto maybe = [](const flatbuffers::Optional<std::uint64_t>& value) {
        return value ? std::optional<std::uint64_t>(*value) : std::nullopt;
    };
    fields.version(tree.result_version, kResultVersion, "result_version");
    if (fields.error()) return *fields.error();
    result.segment = tree.segment;
    result.segments = tree.segments;
    result.engine_version = tree.engine_version;
    report.verdict = tree.result == plan_file::Verdict::same       ? Verdict::same
                     : tree.result == plan_file::Verdict::diverged ? Verdict::diverged
                                                                   : Verdict::unreadable;
    result.checked = tree.checked;
    report.corrupt_at_byte = maybe(tree.corrupt_at_byte);
    report.first_divergent_tick = maybe(tree.first_divergent_tick);
    report.subsystem = tree.subsystem;
    report.subsystem_tick = maybe(tree.subsystem_tick);
    result.ending = tree.ending == plan_file::Ending::closed ? ReadStatus::closed
                    : tree.ending == plan_file::Ending::open ? ReadStatus::open
                    : tree.ending == plan_file::Ending::torn ? ReadStatus::torn
                                                             : ReadStatus::chunk;
    if (tree.error) report.error = {static_cast<ErrorCode>(tree.error->fault), tree.error->place, tree.error->message};
    fields.border(tree.begin, result.begin, "begin");
    fields.border(tree.end, result.end, "end");
    result.equal_until = result.begin.tick + tree.ticks;
    report.ticks = tree.ticks;
    if (tree.ancillary) {
        const plan_file::AncillaryT& counts = *tree.ancillary;
        report.ancillary = {counts.players, counts.resumes, counts.hosts, counts.notes, counts.signs, counts.unknown};
    }
    for (const auto& sign : tree.signs) {
        SegmentSign& to = result.signs.emplace_back();
        to.tick = sign->tick;
        to.offset = sign->offset;
        fields.hex(sign->key, to.key, "signs");
        to.whole = sign->whole;
    }
    fields.recording(tree.recording, result.recording);
    for (int i = 0; i <= static_cast<int>(sim::Target::wasm); ++i) {
        if (const auto target = static_cast<sim::Target>(i); tree.target == sim::target_name(target))
            report.target = target;
    }
    result.microseconds = tree.microseconds;
    if (!tree.worker.empty()) {
        fields.hex(tree.worker, result.worker.emplace(), "worker");
        fields.hex(tree.signature, result.signature, "signature");
    }
    if (fields.error()) return *fields.error();
    return result;
}

}  // namespace orrery::protocol::replay
