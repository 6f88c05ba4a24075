// Verification of one recording on several machines, in three steps that share files alone:
//
//   plan      surveys the file once and cuts it at keyframes into segments of about as many ticks each
//   segment   verifies one segment: reads the file header and the segment's own bytes alone, checks their checksums,
//             chain and signatures, simulates, and compares the keyframe that the next segment begins with
//   merge     demands the result of every segment, and that each ends where the next begins: at the same chain hash,
//             with the same keyframe
//
// A segment proves that the state at its end follows from the state at its begin, and that the chain hash there does.
// So, by induction, the results of all segments prove what one straight verification does. The plan names the recording
// and divides the work; all else in it is found again by the segments, and a result that does not fit is refused. The
// results are believed: whoever wrote one without simulating makes the merge false, which is why they can be signed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/replay/sign.h"
#include "protocol/replay/verify.h"

namespace orrery::protocol::replay {

inline constexpr std::uint32_t kMaxSegments = 1000;  // Slurm's arrays have as many tasks, where nothing is configured

// The recording that a plan or a result is of. The chain hash of its first chunk covers all that the file header says.
struct RecordingId {
    std::uint32_t engine_version = 0;  // that recorded it
    RunId run{};
    Chain header{};  // chain hash of the first chunk
    std::uint64_t scene_hash = 0;
    float tick_rate_hz = 0.0f;
    std::uint64_t first_tick = 0;
    bool operator==(const RecordingId&) const = default;
};

// Where a segment begins or ends: behind the file header, before the chunk of a keyframe, or behind the last chunk.
struct Border {
    std::uint64_t tick = 0;      // the last before it
    std::uint64_t offset = 0;    // bytes
    std::uint64_t sequence = 0;  // of the chunk behind it
    Chain chain{};               // of the chunk before it
    Chain keyframe{};            // BLAKE2b-256 of the keyframe's state; zeros: no keyframe that a segment begins with
    bool operator==(const Border&) const = default;
};

struct Plan {
    std::string file;  // as it was named
    RecordingId recording;
    std::uint16_t format = kFormatVersion;
    std::uint64_t size = 0;       // bytes of the file
    std::vector<Border> borders;  // one more than segments; the last has the file's chain head

    std::uint32_t segments() const { return static_cast<std::uint32_t>(borders.size()) - 1; }
};

// At most `segments` of them: no more than there are keyframes to cut at. `seen`: the survey, which is good.
// An error if this engine cannot verify the recording.
Result<Plan> make_plan(const Source& source, const Survey& seen, std::string file, std::uint32_t segments);

// A signature in a recording, which is valid.
struct SegmentSign {
    std::uint64_t tick = 0;    // up to which it signs
    std::uint64_t offset = 0;  // bytes
    PublicKey key{};
    bool whole = false;  // directly before END: it signs the whole recording
};

// What one segment proves.
struct SegmentResult {
    RecordingId recording;
    std::uint32_t engine_version = sim::kEngineVersion;  // that simulated it
    std::uint32_t segment = 0, segments = 1;             // this one, and how many the plan has
    Border begin, end;                                   // as they were found in the file
    ReadStatus ending = ReadStatus::chunk;               // of the last segment: closed, open or torn
    bool checked = false;                                // its bytes, chain and signatures are good
    std::uint64_t equal_until = 0;                       // the last tick that agreed; `begin.tick`: none
    // Of the segment alone: verdict, corrupt_at_byte, first_divergent_tick, subsystem, subsystem_tick, ancillary,
    // target, and the error, in which all that is not ASCII is a "?".
    VerifyReport report;
    std::vector<SegmentSign> signs;  // in order, the last of each key
    std::uint64_t microseconds = 0;  // of wall time
    std::optional<PublicKey> worker;
    Signature signature{};
};

// Leaves the last signature of each key.
void keep_last_of_each_key(std::vector<SegmentSign>& signs);

// An error: there is no result, since the source is not the recording of the plan.
Result<SegmentResult> verify_segment(const Source& source, const Plan& plan, std::uint32_t segment,
                                     const VerifyOptions& options);

// Ed25519 over "orrery segment v1" and all that the result says.
void sign(SegmentResult& result, const SigningKey& key);
bool is_valid(const SegmentResult& result);  // false of one without a signature, too

struct NamedResult {
    std::string name;  // for messages
    SegmentResult result;
};
struct Merged {
    VerifyReport report;             // as verify() of the file has it. The header has what a RecordingId says
    std::vector<SegmentSign> signs;  // of the recording, in order, the last of each key
    double seconds = 0.0;            // of wall time, of all segments
};
// Results that do not prove the recording are `unreadable`, with an error that names the result. `trusted`: the keys of
// workers, by one of which each result must be signed.
Merged merge(const Plan& plan, const std::vector<NamedResult>& results,
             const std::optional<std::vector<PublicKey>>& trusted = std::nullopt);

}  // namespace orrery::protocol::replay
