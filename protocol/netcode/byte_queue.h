// A bounded queue of byte strings, each with a header of type M, in one buffer that is reused. Once it has grown to the
// size that its load needs, it allocates no more.
#pragma once

#include <cstring>
#include <vector>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

template <class M>
class ByteQueue {
  public:
    ByteQueue(std::size_t max_records, std::size_t max_bytes) : max_records_(max_records), max_bytes_(max_bytes) {}

    std::size_t size() const { return records_.size() - record_head_; }
    std::size_t bytes() const { return data_.size() - data_head_; }
    bool empty() const { return size() == 0; }

    // False for every size: the queue is full.
    bool fits(std::size_t size_in) const {
        return size() < max_records_ && bytes() <= max_bytes_ && size_in <= max_bytes_ - bytes();
    }

    // False: the queue is full and nothing was added.
    bool push(const M& header, Bytes bytes_in) {
        if (!fits(bytes_in.size())) return false;
        push_always(header, bytes_in);
        return true;
    }

    // For a few records that must not be lost and whose number the caller limits by other means.
    void push_always(const M& header, Bytes bytes_in) {
        compact();
        records_.push_back({header, bytes_in.size()});
        data_.insert(data_.end(), bytes_in.begin(), bytes_in.end());
    }

    // The bytes stay valid until the next push.
    bool pop(M& header, Bytes& out) {
        if (!peek(header, out)) return false;
        ++record_head_;
        data_head_ += out.size();
        return true;
    }

    bool peek(M& header, Bytes& out) const {
        if (empty()) return false;
        const Record& record = records_[record_head_];
        header = record.header;
        out = Bytes(data_).subspan(data_head_, record.size);
        return true;
    }

    void clear() {
        records_.clear();
        data_.clear();
        record_head_ = data_head_ = 0;
    }

  private:
    struct Record {
        M header;
        std::size_t size;
    };

    // Moves the rest to the front after more than half of the buffer was read, which takes constant time for each byte
    // on average.
    void compact() {
        if (empty()) return clear();
        if (record_head_ * 2 < records_.size()) return;
        records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(record_head_));
        data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(data_head_));
        record_head_ = data_head_ = 0;
    }

    std::size_t max_records_, max_bytes_;
    std::vector<Record> records_;
    std::vector<std::uint8_t> data_;
    std::size_t record_head_ = 0, data_head_ = 0;
};

}  // namespace orrery::protocol
