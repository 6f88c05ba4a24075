// Bytes that several streams send, kept once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/netcode/crypto.h"

namespace orrery::protocol {

struct SharedBytes {
    std::shared_ptr<const std::vector<std::uint8_t>> owner;
    Bytes bytes;  // of *owner, whole or a part
};

}  // namespace orrery::protocol
