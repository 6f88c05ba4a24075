#include "server/control/download.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "server/control/operations.h"

namespace orrery::server {

namespace {

constexpr const char* kFileType = "application/octet-stream";

// An open file, and its place among the downloads.
struct Download {
    int file = -1;
    const std::shared_ptr<std::atomic<int>> downloads;
    explicit Download(std::shared_ptr<std::atomic<int>> all) : downloads(std::move(all)) {}
    Download(const Download&) = delete;
    Download& operator=(const Download&) = delete;
    ~Download() {
        if (file >= 0) ::close(file);
        --*downloads;
    }
};

std::string attachment(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);  // of npos: all
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                           c == '-' || c == '_';
        if (!plain) c = '_';
    }
    return "attachment; filename=\"" + name + "\"";
}

}  // namespace

RangeKind range_of(std::string_view field, std::uint64_t size, ByteRange& out) {
    constexpr std::string_view kBytes = "bytes=";
    if (!field.starts_with(kBytes)) return RangeKind::whole;
    field.remove_prefix(kBytes.size());
    const auto take = [&](std::uint64_t& number) {
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
        const bool good = error == std::errc{};
        if (good) field.remove_prefix(static_cast<std::size_t>(end - field.data()));
        return good;
    };
    std::uint64_t first = 0, last = size - 1;
    const bool has_first = take(first);
    if (!field.starts_with('-')) return RangeKind::whole;
    field.remove_prefix(1);
    const bool has_last = take(last);
    if (!field.empty() || (!has_first && !has_last) || (has_first && has_last && last < first)) return RangeKind::whole;
    if (!has_first) {  // the last bytes
        if (last == 0 || size == 0) return RangeKind::outside;
        out = {size - std::min(last, size), size - 1};
        return RangeKind::part;
    }
    if (first >= size) return RangeKind::outside;
    out = {first, std::min(last, size - 1)};
    return RangeKind::part;
}

std::optional<Problem> answer_file(const std::string& path, const httplib::Request& request,
                                   const std::shared_ptr<std::atomic<int>>& downloads, httplib::Response& answer) {
    const bool many = ++*downloads > kMaxDownloads;
    const auto download = std::make_shared<Download>(downloads);
    if (many) {
        Problem problem = problem_of_status(503);
        problem.detail = "Other downloads run, " + std::to_string(kMaxDownloads) + " (kMaxDownloads); try again later.";
        return problem;
    }
    download->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (download->file < 0 || ::fstat(download->file, &status) != 0 || !S_ISREG(status.st_mode)) {
        spdlog::warn("control: {} cannot be sent: {}", path, std::strerror(errno));
        Problem problem = problem_of_status(errno == ENOENT ? 404 : 503);
        problem.detail = "The recording cannot be read.";
        return problem;
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    ByteRange range{0, size - 1};
    const RangeKind kind = range_of(request.get_header_value("Range"), size, range);
    if (kind == RangeKind::outside) {
        answer.set_header("Content-Range", "bytes */" + std::to_string(size));
        return problem_of_status(416);
    }
    answer.status = kind == RangeKind::part ? 206 : 200;
    answer.set_header("Accept-Ranges", "bytes");
    answer.set_header("Content-Disposition", attachment(path));
    if (kind == RangeKind::part)
        answer.set_header("Content-Range", "bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) +
                                               "/" + std::to_string(size));
    if (size == 0) {
        answer.set_header("Content-Type", kFileType);
        return std::nullopt;
    }
    answer.set_content_provider(
        static_cast<std::size_t>(range.last - range.first + 1), kFileType,
        [download, first = range.first](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
            std::array<char, std::size_t{64} << 10> bytes;
            const ssize_t count = ::pread(download->file, bytes.data(), std::min(length, bytes.size()),
                                          static_cast<off_t>(first + offset));
            return count > 0 && sink.write(bytes.data(), static_cast<std::size_t>(count));
        });
    return std::nullopt;
}

}  // namespace orrery::server
