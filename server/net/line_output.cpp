#include "server/net/line_output.h"

#include <limits.h>
#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace orrery::server {

namespace {

std::atomic<std::uint64_t> log_dropped{0};

class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        if (!write_if_ready(STDERR_FILENO, {line.data(), line.size()})) ++log_dropped;
    }
    void flush_() override {}
};

}  // namespace

bool write_if_ready(int file, std::string_view text) {
    pollfd ready{file, POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return false;
    if (text.size() <= PIPE_BUF) return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    std::string cut(text.substr(0, PIPE_BUF - 1));
    cut += '\n';
    return ::write(file, cut.data(), cut.size()) == PIPE_BUF;
}

void log_without_waiting() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("orrery", std::make_shared<StderrSink>()));
}

std::uint64_t log_lines_dropped() { return log_dropped; }

}  // namespace orrery::server
