// A file that a tool makes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace orrery::server {

// A new file, which is removed again unless it is kept. A file that exists is never overwritten.
class NewFile {
  public:
    explicit NewFile(const std::string& path, unsigned mode = 0644);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    bool is_open() const { return file_ >= 0; }
    Error error(const char* call) const;  // of the call that failed last, by errno
    Result<Ok> append(std::span<const std::uint8_t> bytes);
    Result<Ok> append(std::string_view text) {
        return append(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
    }
    Result<Ok> keep();  // durable from here on
    std::uint64_t size() const { return size_; }

  private:
    std::string path_;
    int file_;
    std::uint64_t size_ = 0;
};

}  // namespace orrery::server
