// A replay file on disk, as a source for protocol/replay. Its size (bytes) is the size at the moment of opening.
#pragma once

#include <memory>
#include <string>

#include "protocol/replay/chunk.h"

namespace orrery::server {

class ReplaySource final : public protocol::replay::Source {
  public:
    // Opens regular files only, because other files have no size. Errors have the code io.
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
