// A replay file on disk, for protocol/replay to read. Its size is that of the moment when it was opened.
#pragma once

#include <memory>
#include <string>

#include "protocol/replay/chunk.h"

namespace orrery::server {

class ReplaySource final : public protocol::replay::Source {
  public:
    // Only regular files: anything else has no size to read up to.
    static Result<std::unique_ptr<ReplaySource>> open(const std::string& path);
    ~ReplaySource() override;
    ReplaySource(const ReplaySource&) = delete;
    ReplaySource& operator=(const ReplaySource&) = delete;

    std::uint64_t size() const override { return size_; }
    bool read(std::uint64_t offset, std::span<std::uint8_t> out) const override;

  private:
    ReplaySource(int file, std::uint64_t size) : file_(file), size_(size) {}
    int file_;
    std::uint64_t size_;
};

}  // namespace orrery::server
