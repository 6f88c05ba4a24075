#include "protocol/replay/verify.h"

#include "protocol/replay/stretch.h"

namespace orrery::protocol::replay {

std::string_view verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::same:
            return "same";
        case Verdict::diverged:
            return "diverged";
        case Verdict::unreadable:
            break;
    }
    return "unreadable";
}

bool check_bytes(const Source& source, Survey& seen, VerifyReport& report) {
    seen = survey(source);
    if (seen.has_header) report.header = seen.header;
    return check_survey(seen, source.size(), report);
}

VerifyReport verify(const Source& source, const VerifyOptions& options) {
    VerifyReport report;
    report.target = options.target == sim::Target::automatic ? sim::best_target() : options.target;
    Survey seen;
    if (!check_bytes(source, seen, report)) return report;
    const auto made = recorded_definition(seen.header, options.load_scene);
    if (!made) {
        report.error = made.error();
        return report;
    }
    StretchRun run{source, options, *made, options.stretches ? nullptr : options.executor,
                   stretches_of(seen.marks, options.stretches != nullptr)};
    if (options.progress) options.progress->ticks = seen.ticks - seen.header.first_tick;
    verify_stretches(run);
    report.ticks = seen.header.first_tick;
    conclude(run.stretches, report);
    report.ticks -= seen.header.first_tick;
    return report;
}

}  // namespace orrery::protocol::replay
