// The log as lines of text and as objects of JSON.
#include <doctest/doctest.h>
#include <limits.h>
#include <spdlog/spdlog.h>

#include <regex>
#include <thread>

#include "server/net/line_output.h"
#include "tests/support/captured_output.h"

using namespace orrery;

namespace {

class LogOf {  // the log as it is in serve(), for as long as this lives
  public:
    explicit LogOf(server::LogFormat format) : before_(spdlog::default_logger()) {
        server::set_log_format(format);
        server::log_without_waiting();
    }
    ~LogOf() {
        server::set_log_format(server::LogFormat::text);
        spdlog::set_default_logger(before_);
    }

  private:
    std::shared_ptr<spdlog::logger> before_;
};

template <class Function>
std::string logged(const Function& function) {
    return test::printed_by([&] {
               function();
               return 0;
           })
        .err;
}

}  // namespace

TEST_CASE("a line of the JSON log is one object with time, level and message") {
    const LogOf log(server::LogFormat::json);
    const std::string line = logged([] { spdlog::warn("a \"quoted\" \\ line\nwith {} and \xff", "braces {}"); });
    const std::regex form(
        R"(\{"ts": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "level": "warning", "msg": ("[^\n]*")\}\n)");
    std::smatch found;
    REQUIRE(std::regex_match(line, found, form));
    CHECK(found[1] == "\"a \\\"quoted\\\" \\\\ line\\u000awith braces {} and \xef\xbf\xbd\"");
}

TEST_CASE("a message that is too long for one write of the JSON log is cut, and its line is an object still") {
    const LogOf log(server::LogFormat::json);
    for (const std::string& letter : {std::string("x"), std::string("\x01"), std::string("\xc3\xa9")}) {
        std::string text;
        while (text.size() < 20'000) text += letter;
        const std::string line = logged([&] { spdlog::info("{}", text); });
        CHECK(line.size() <= PIPE_BUF);
        CHECK(line.size() > PIPE_BUF / 2);
        CHECK(line.ends_with("\"}\n"));
    }
}

TEST_CASE("several threads log whole lines of JSON") {
    const LogOf log(server::LogFormat::json);
    const std::string lines = logged([] {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([i] {
                for (int n = 0; n < 50; ++n) spdlog::info("thread {} line {}", i, n);
            });
        for (std::thread& thread : threads) thread.join();
    });
    const std::regex form(R"(\{"ts": "[^"]*", "level": "info", "msg": "thread \d line \d+"\})");
    std::size_t count = 0;
    for (std::size_t at = 0; at < lines.size(); ++count) {
        const std::size_t end = lines.find('\n', at);
        REQUIRE(end != std::string::npos);
        CHECK(std::regex_match(lines.substr(at, end - at), form));
        at = end + 1;
    }
    CHECK(count == 200);
}

TEST_CASE("the log of text is as before") {
    const LogOf log(server::LogFormat::text);
    const std::string line = logged([] { spdlog::info("hello"); });
    CHECK(line.find("] hello\n") != std::string::npos);
    CHECK(line.starts_with("["));
}
