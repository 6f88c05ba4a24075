// A recording whose room goes on: read once, locked, and known to be whole up to a place behind its last record.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "protocol/replay/reader.h"
#include "server/room/record_files.h"
#include "server/room/replay_source.h"

namespace orrery::server {

class Resumption {
  public:
    // Errors: io: it cannot be read or written, or another process records to it; corrupt, version_mismatch: its bytes
    // are no recording of this engine, or a signature in it does not hold. A file that ends within a record is whole up
    // to there. So is one that has lost a page, as a machine that fails leaves it: where the first record that does not
    // hold lies, a page is all zeros.
    static Result<std::unique_ptr<Resumption>> open(RecordFiles& files, const std::string& path);

    const std::string& path() const { return path_; }
    const protocol::replay::Source& source() const { return *source_; }
    const protocol::replay::Survey& seen() const { return seen_; }
    bool ended() const { return seen_.status == protocol::replay::ReadStatus::closed; }  // it has an END
    std::uint64_t cut_bytes() const {
        return source_->size() - seen_.record_end.offset;
    }                                                                         // behind the last whole record
    std::uint64_t last_write_unix_ms() const { return last_write_unix_ms_; }  // of the file
    // The last record of each slot that is not free: who sits there.
    const std::map<std::uint16_t, protocol::replay::PlayerRecord>& seats() const { return seats_; }
    bool has_host() const { return host_tick_.has_value(); }  // a HOST record
    // Where the world is restored: the last keyframe. With a director an earlier one, which has its HOST record behind
    // it; or the start, if there is no HOST record.
    protocol::replay::Mark start(bool with_director) const;
    std::unique_ptr<RecordFile> take_file() { return std::move(file_); }

  private:
    Resumption() = default;
    void note(const protocol::replay::AncillaryRecord& record);
    bool lost_a_page() const;
    bool check_signs();

    std::string path_;
    std::unique_ptr<RecordFile> file_;
    std::unique_ptr<ReplaySource> source_;
    protocol::replay::Survey seen_;
    std::map<std::uint16_t, protocol::replay::PlayerRecord> seats_;
    std::optional<std::uint64_t> host_tick_;
    std::uint64_t last_write_unix_ms_ = 0;
};

}  // namespace orrery::server
