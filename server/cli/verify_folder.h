// `orrery verify` of many recordings: which these are, how far it is, and a table of the results.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "server/cli/verify.h"

namespace orrery::server {

struct ListedReplay {
    std::string path;
    std::uint64_t bytes = 0;
    std::string fault{};  // why nothing of the folder `path` could be listed
};
struct ReplayList {
    std::vector<ListedReplay> replays;
    bool has_folder = false;  // among what was named
};
// What was named on the command line: files, and of folders all files *.orr in them and in their folders, in order of
// names. Links to folders are not followed. Error (not_found): a folder without recordings.
Result<ReplayList> list_replays(const std::vector<std::string>& named);

// How much of all recordings is done, by bytes. Those that are not simulated count as none.
class VerifyMeter {
  public:
    explicit VerifyMeter(const std::vector<ListedReplay>& replays);
    protocol::replay::VerifyProgress& of_file() { return of_file_; }
    void begin(const ListedReplay& replay);
    void end(const ListedReplay& replay, bool simulated);
    std::string text() const;  // by any thread

  private:
    const std::size_t count_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    protocol::replay::VerifyProgress of_file_;
    std::atomic<std::size_t> done_{0};
    std::atomic<std::uint64_t> bytes_{0}, bytes_done_{0}, bytes_of_file_{0};
};

// Rows and sums of the results.
class VerifyTable {
  public:
    explicit VerifyTable(const VerifySettings& settings) : settings_(settings) {}
    void add(const VerifiedReplay& replay);
    std::string text() const;                              // several lines, the largest exit code first
    std::string json(int exit_code, double wall_s) const;  // an object, a line

  private:
    const VerifySettings& settings_;
    struct Row {
        int exit_code = 0;
        std::vector<std::string> cells;
    };
    std::vector<Row> rows_;
    std::size_t same_ = 0, open_ = 0, cut_off_ = 0, diverged_ = 0, unreadable_ = 0, untrusted_ = 0;
    std::map<std::uint32_t, std::vector<std::string>> of_version_;  // that this build cannot verify
    std::uint64_t ticks_ = 0;
    double simulated_s_ = 0.0;
};

}  // namespace orrery::server
