// Canonical bytes: explicit little-endian fields, written to a buffer or straight into a hash, read back with every
// bound checked.
#pragma once

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "orrery/types.hpp"

namespace orrery::sim {

// Arrays are hashed and saved as they lie in memory, and fields by memcpy.
static_assert(std::endian::native == std::endian::little, "canonical bytes are little endian");

template <class T>
concept CanonicalScalar = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

// Fields on top of a Derived::bytes(data, size).
template <class Derived>
class CanonicalWriter {
  public:
    template <CanonicalScalar T>
    void put(T value) {
        self().bytes(&value, sizeof value);
    }
    void put(bool value) { put(static_cast<std::uint8_t>(value)); }
    void put(const Vec3& v) {
        const float f[3] = {v.x, v.y, v.z};
        self().bytes(f, sizeof f);
    }
    void put(const Quat& q) {
        const float f[4] = {q.x, q.y, q.z, q.w};
        self().bytes(f, sizeof f);
    }
    void put(const Pose& p) {
        put(p.position);
        put(p.orientation);
    }
    // Records without padding only: their memory is their canonical form.
    template <class List>
    void put_array(const List& values) {
        self().bytes(values.data(), values.size() * sizeof(*values.data()));
    }

  private:
    Derived& self() { return static_cast<Derived&>(*this); }
};

// Appends. The bytes are all there once the writer is gone: until then the buffer is longer, so that it seldom grows.
class ByteWriter : public CanonicalWriter<ByteWriter> {
  public:
    static constexpr bool kDigestsSuffice = false;  // what is written must be read back
    explicit ByteWriter(std::vector<std::uint8_t>& out) : out_(out), at_(out.size()) {}
    ~ByteWriter() { out_.resize(at_); }
    ByteWriter(const ByteWriter&) = delete;
    ByteWriter& operator=(const ByteWriter&) = delete;
    void bytes(const void* data, std::size_t size) {
        if (size == 0) return;
        if (out_.size() - at_ < size) out_.resize(std::max(at_ + size, std::max(out_.capacity(), 2 * out_.size())));
        std::memcpy(out_.data() + at_, data, size);
        at_ += size;
    }

  private:
    std::vector<std::uint8_t>& out_;
    std::size_t at_;
};

// XXH3-64 of the bytes written; allocates nothing.
class HashWriter : public CanonicalWriter<HashWriter> {
  public:
    static constexpr bool kDigestsSuffice = true;
    HashWriter() { XXH3_64bits_reset(&state_); }
    void bytes(const void* data, std::size_t size) {
        if (used_ + size > sizeof buffer_) flush();
        if (size > sizeof buffer_) {
            XXH3_64bits_update(&state_, data, size);
        } else if (size != 0) {
            std::memcpy(buffer_ + used_, data, size);
            used_ += size;
        }
    }
    std::uint64_t digest() {
        flush();
        return XXH3_64bits_digest(&state_);
    }

  private:
    void flush() {
        if (used_ != 0) XXH3_64bits_update(&state_, buffer_, used_);
        used_ = 0;
    }
    XXH3_state_t state_;
    std::size_t used_ = 0;
    std::uint8_t buffer_[2048];
};

// Reads hostile bytes: after the first read beyond the end everything reads as zero and ok() is false.
class CanonicalReader {
  public:
    explicit CanonicalReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    bool ok() const { return ok_; }
    std::size_t at() const { return at_; }
    std::size_t left() const { return bytes_.size() - at_; }

    void bytes(void* to, std::size_t size) {
        if (!ok_ || size > left()) {
            ok_ = false;
            if (size != 0) std::memset(to, 0, size);
            return;
        }
        if (size != 0) std::memcpy(to, bytes_.data() + at_, size);
        at_ += size;
    }
    template <CanonicalScalar T>
    void get(T& value) {
        bytes(&value, sizeof value);
    }
    void get(bool& value) {  // 0 or 1, else the bytes are not canonical
        std::uint8_t byte = 0;
        get(byte);
        if (byte > 1) ok_ = false;
        value = byte == 1;
    }
    void get(Vec3& v) {
        get(v.x);
        get(v.y);
        get(v.z);
    }
    void get(Quat& q) {
        get(q.x);
        get(q.y);
        get(q.z);
        get(q.w);
    }
    void get(Pose& p) {
        get(p.position);
        get(p.orientation);
    }
    template <class T>
    T take() {
        T value{};
        get(value);
        return value;
    }
    // Fills an array whose length is checked against what is left before anything is allocated.
    template <class T>
    void get_array(std::vector<T>& values, std::size_t count) {
        if (!ok_ || count > left() / sizeof(T)) {
            ok_ = false;
            return;
        }
        values.resize(count);
        bytes(values.data(), count * sizeof(T));
    }

  private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

}  // namespace orrery::sim
