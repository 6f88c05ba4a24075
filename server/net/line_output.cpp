#include "server/net/line_output.h"

#include <limits.h>
#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "server/base/json_line.h"

namespace orrery::server {

namespace {

std::atomic<std::uint64_t> log_dropped{0};
std::atomic<LogFormat> log_format{LogFormat::text};

constexpr const char* kJsonPattern = R"({"ts": "%Y-%m-%dT%H:%M:%S.%eZ", "level": "%l", "msg": %*})";
constexpr std::size_t kMaxJsonMessage = PIPE_BUF - 128;  // bytes in quotes; the rest of the pattern takes less than 128

// The message as a string of JSON.
class QuotedMessage final : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
        std::string_view text(message.payload.data(), message.payload.size());
        std::string quoted = JsonLine::quote(text);
        while (quoted.size() > kMaxJsonMessage) {
            // A byte takes up to 6 in quotes. A character that is cut in two becomes U+FFFD.
            const std::size_t excess = quoted.size() - kMaxJsonMessage;
            text = text.substr(0, std::min(kMaxJsonMessage, text.size() - std::min(text.size(), (excess + 5) / 6)));
            quoted = JsonLine::quote(text);
        }
        to.append(quoted.data(), quoted.data() + quoted.size());
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<QuotedMessage>(); }
};

std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format) {
    if (format == LogFormat::text) return std::make_unique<spdlog::pattern_formatter>();
    auto json = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    json->add_flag<QuotedMessage>('*').set_pattern(kJsonPattern);
    return json;
}

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

void set_log_format(LogFormat format) {
    log_format = format;
    spdlog::set_formatter(make_formatter(format));
}

void log_without_waiting() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("orrery", std::make_shared<StderrSink>()));
    spdlog::default_logger()->set_formatter(make_formatter(log_format));
}

std::uint64_t log_lines_dropped() { return log_dropped; }

}  // namespace orrery::server
