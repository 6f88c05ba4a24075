// What a function prints to stdout and stderr, for tests of subcommands.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace orrery::test {

struct Printed {
    int code = 0;
    std::string out, err;
};

class RedirectedStream {
  public:
    explicit RedirectedStream(std::FILE* stream) : stream_(stream), path_("/tmp/orrery-output-XXXXXX") {
        std::fflush(stream_);
        kept_ = ::dup(::fileno(stream_));
        const int file = ::mkstemp(path_.data());
        if (file < 0 || ::dup2(file, ::fileno(stream_)) < 0) std::abort();
        ::close(file);
    }
    std::string end() {
        std::fflush(stream_);
        if (::dup2(kept_, ::fileno(stream_)) < 0) std::abort();
        ::close(kept_);
        std::ifstream in(path_, std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(in), {}};
        ::unlink(path_.c_str());
        return text;
    }

  private:
    std::FILE* stream_;
    std::string path_;
    int kept_ = -1;
};

template <class Function>
Printed printed_by(const Function& function) {
    RedirectedStream out(stdout), err(stderr);
    Printed printed;
    printed.code = function();
    printed.err = err.end();
    printed.out = out.end();
    return printed;
}

}  // namespace orrery::test
