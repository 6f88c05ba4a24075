// Files in memory for recordings, on a disk that fills up, fails, writes in pieces, or stands still.
#pragma once

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/room/record_files.h"

namespace orrery::test {

class FaultyFiles final : public server::RecordFiles {
  public:
    struct Content {
        std::vector<std::uint8_t> bytes;
        std::size_t durable = 0;  // bytes that a sync() has reached
        bool named = true;
    };

    // Set by the test, at any time.
    struct Faults {
        std::uint64_t capacity = std::numeric_limits<std::uint64_t>::max();  // bytes of all files; then ENOSPC
        std::size_t longest_write = std::numeric_limits<std::size_t>::max();
        int write_code = 0, sync_code = 0, create_code = 0;  // errno of each such call
    };

    void set(const Faults& faults) {
        const std::lock_guard lock(mutex_);
        faults_ = faults;
    }
    void stall(bool stalls) {  // writes and syncs wait
        const std::lock_guard lock(mutex_);
        stalls_ = stalls;
        moved_.notify_all();
    }
    // Copies; the paths that were created, in order.
    std::vector<std::string> created() const {
        const std::lock_guard lock(mutex_);
        return created_;
    }
    std::vector<std::uint8_t> bytes(const std::string& path) const {
        const std::lock_guard lock(mutex_);
        const auto found = files_.find(path);
        return found == files_.end() ? std::vector<std::uint8_t>() : found->second->bytes;
    }
    std::size_t durable(const std::string& path) const {
        const std::lock_guard lock(mutex_);
        return files_.at(path)->durable;
    }
    bool exists(const std::string& path) const {
        const std::lock_guard lock(mutex_);
        return files_.count(path) > 0;
    }
    int syncs() const {
        const std::lock_guard lock(mutex_);
        return syncs_;
    }
    void put(const std::string& path, std::vector<std::uint8_t> bytes) {
        const std::lock_guard lock(mutex_);
        files_[path] = std::make_shared<Content>(Content{std::move(bytes), 0, true});
    }

    int make_folder(const std::string&) override { return 0; }
    int create(const std::string& path, std::unique_ptr<server::RecordFile>& file) override {
        const std::lock_guard lock(mutex_);
        if (faults_.create_code != 0) return faults_.create_code;
        if (files_.count(path) > 0) return EEXIST;
        created_.push_back(path);
        files_[path] = std::make_shared<Content>();
        file = std::make_unique<File>(*this, files_[path]);
        return 0;
    }
    int open(const std::string& path, std::unique_ptr<server::RecordFile>& file) override {
        const std::lock_guard lock(mutex_);
        const auto found = files_.find(path);
        if (found == files_.end()) return ENOENT;
        file = std::make_unique<File>(*this, found->second);
        return 0;
    }
    int remove(const std::string& path) override {
        const std::lock_guard lock(mutex_);
        const auto found = files_.find(path);
        if (found == files_.end()) return ENOENT;
        found->second->named = false;
        files_.erase(found);
        return 0;
    }
    int sync_folder(const std::string&) override { return 0; }
    std::uint64_t free_bytes(const std::string&) override {
        const std::lock_guard lock(mutex_);
        return faults_.capacity - std::min(faults_.capacity, used());
    }

  private:
    class File final : public server::RecordFile {
      public:
        File(FaultyFiles& disk, std::shared_ptr<Content> content) : disk_(disk), content_(std::move(content)) {}
        int write(std::span<const std::uint8_t> bytes, std::size_t& written) override {
            std::unique_lock lock(disk_.mutex_);
            disk_.moved_.wait(lock, [&] { return !disk_.stalls_; });
            if (disk_.faults_.write_code != 0) return disk_.faults_.write_code;
            const std::uint64_t room = disk_.faults_.capacity - std::min(disk_.faults_.capacity, disk_.used());
            const auto count = static_cast<std::size_t>(
                std::min<std::uint64_t>(room, std::min(bytes.size(), disk_.faults_.longest_write)));
            if (count == 0) return ENOSPC;
            content_->bytes.insert(content_->bytes.end(), bytes.begin(),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(count));
            written = count;
            return 0;
        }
        int sync() override {
            std::unique_lock lock(disk_.mutex_);
            disk_.moved_.wait(lock, [&] { return !disk_.stalls_; });
            ++disk_.syncs_;
            if (disk_.faults_.sync_code != 0) return disk_.faults_.sync_code;
            content_->durable = content_->bytes.size();
            return 0;
        }
        int truncate(std::uint64_t size) override {
            const std::lock_guard lock(disk_.mutex_);
            content_->bytes.resize(static_cast<std::size_t>(size));
            return 0;
        }
        int reserve(std::uint64_t, std::uint64_t) override { return 0; }
        bool has_name() const override {
            const std::lock_guard lock(disk_.mutex_);
            return content_->named;
        }

      private:
        FaultyFiles& disk_;
        std::shared_ptr<Content> content_;
    };

    std::uint64_t used() const {
        std::uint64_t bytes = 0;
        for (const auto& [path, content] : files_) bytes += content->bytes.size();
        return bytes;
    }

    mutable std::mutex mutex_;
    std::condition_variable moved_;
    std::map<std::string, std::shared_ptr<Content>> files_;
    std::vector<std::string> created_;
    Faults faults_;
    bool stalls_ = false;
    int syncs_ = 0;
};

}  // namespace orrery::test
