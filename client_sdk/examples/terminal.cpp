#include "client_sdk/examples/terminal.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace orrery::drive {

namespace {

volatile std::sig_atomic_t g_stop = 0;
volatile std::sig_atomic_t g_raw = 0;
termios g_saved;

constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr char kLeave[] = "\x1b[0m\x1b[?25h\x1b[?1049l";

void write_all(const char* text, std::size_t size) {
    while (size > 0) {
        const ssize_t written = ::write(STDOUT_FILENO, text, size);
        if (written <= 0) return;
        text += written;
        size -= static_cast<std::size_t>(written);
    }
}

// Only calls that a signal handler may make.
void restore() {
    if (!g_raw) return;
    g_raw = 0;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &g_saved);
    write_all(kLeave, sizeof kLeave - 1);
}

// "" if it is not set.
std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

void on_stop(int) { g_stop = 1; }

void on_crash(int signal) {
    restore();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

bool Terminal::available() { return ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO); }

bool Terminal::colours() {
    const std::string_view term = variable("TERM");
    return ::isatty(STDOUT_FILENO) && term != "dumb" && variable("NO_COLOR").empty();
}

bool Terminal::utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view locale = variable(name);
        if (locale.empty()) continue;
        for (const std::string_view ending : {"UTF-8", "utf8", "utf-8", "UTF8"}) {
            if (locale.find(ending) != locale.npos) return true;
        }
        return false;
    }
    return false;
}

bool Terminal::stop_requested() { return g_stop != 0; }

void Terminal::watch_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, on_stop);
}

Terminal::Terminal() {
    watch_signals();
    if (::tcgetattr(STDIN_FILENO, &g_saved) != 0) return;
    g_raw = 1;
    std::atexit(restore);
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_crash);
    termios raw = g_saved;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    write_all(kEnter, sizeof kEnter - 1);
}

Terminal::~Terminal() { restore(); }

std::string Terminal::keys() {
    char buffer[64];
    const ssize_t size = ::read(STDIN_FILENO, buffer, sizeof buffer);
    std::string out;
    for (ssize_t i = 0; i < size; ++i) {
        if (buffer[i] == '\x1b' && i + 2 < size && buffer[i + 1] == '[') {
            switch (buffer[i + 2]) {
                case 'A':
                    out += 'w';
                    break;
                case 'B':
                    out += 's';
                    break;
                case 'C':
                    out += 'd';
                    break;
                case 'D':
                    out += 'a';
                    break;
                default:
                    break;
            }
            i += 2;
        } else {
            out += buffer[i];
        }
    }
    return out;
}

int Terminal::width() const {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int Terminal::height() const {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

void Terminal::show(const std::string& text) {
    const std::string all = "\x1b[H" + text;
    write_all(all.data(), all.size());
}

}  // namespace orrery::drive
