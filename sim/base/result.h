// Errors as values: sim and protocol are built without exceptions.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace orrery {

enum class ErrorCode : unsigned char {
    invalid_argument,    // a value is outside its range
    limit_reached,       // a named limit would be exceeded
    not_found,           // a name or id refers to nothing
    parse,               // text or bytes are not in the expected form
    corrupt,             // a checksum or an invariant of stored bytes is violated
    version_mismatch,    // made by another engine, schema or protocol version
    unsupported_target,  // this machine or build lacks the SIMD target
    io,                  // the operating system refused
};

// An error with its place and remedy. `place` is a file, a path inside it such as bodies[3].shape, or a byte offset.
// `message` says what is wrong and how to mend it.
struct Error {
    ErrorCode code = ErrorCode::invalid_argument;
    std::string place;
    std::string message;

    std::string to_string() const { return place.empty() ? message : place + ": " + message; }
};

struct Ok {};

// A value or an error. Reading the one that is not there aborts the program, because it is a bug of the caller.
template <class T = Ok>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return *checked(std::get_if<0>(&state_)); }
    const T& value() const& { return *checked(std::get_if<0>(&state_)); }
    T&& value() && { return std::move(*checked(std::get_if<0>(&state_))); }
    const Error& error() const { return *checked(std::get_if<1>(&state_)); }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

  private:
    template <class P>
    static P* checked(P* pointer) {
        if (!pointer) std::abort();
        return pointer;
    }
    std::variant<T, Error> state_;
};

}  // namespace orrery
