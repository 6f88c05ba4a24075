// Packets for one peer, in order, in one buffer that is reused. Once it has grown, it needs no allocation for a packet.
// A packet is made in one place, perhaps on another thread, and handed to the transport in another.
#pragma once

#include <vector>

#include "protocol/netcode/packet.h"

namespace orrery::protocol {

class PacketBatch {
  public:
    // `write` puts a packet into the scratch and returns its size.
    template <class Write>
    void add_written(Write write) {
        const std::size_t begin = bytes_.size();
        bytes_.resize(begin + kMaxSealedBytes);
        const std::size_t size =
            write(std::span<std::uint8_t, kMaxSealedBytes>(bytes_.data() + begin, kMaxSealedBytes));
        bytes_.resize(begin + size);
        sizes_.push_back(size);
    }
    void add(Bytes packet) {
        bytes_.insert(bytes_.end(), packet.begin(), packet.end());
        sizes_.push_back(packet.size());
    }

    // Gives each packet to `take`, and is empty afterwards.
    template <class Take>
    void hand_over(Take take) {
        std::size_t begin = 0;
        for (const std::size_t size : sizes_) {
            take(Bytes(bytes_).subspan(begin, size));
            begin += size;
        }
        clear();
    }
    void clear() {
        bytes_.clear();
        sizes_.clear();
    }

    std::size_t packets() const { return sizes_.size(); }
    std::size_t bytes() const { return bytes_.size(); }

  private:
    std::vector<std::uint8_t> bytes_;
    std::vector<std::size_t> sizes_;
};

}  // namespace orrery::protocol
