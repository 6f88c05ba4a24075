#include "protocol/netcode/rate_limit.h"

#include <sodium.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace orrery::protocol {

BucketTable::BucketTable(const BucketRate& rate, std::uint32_t entries, RandomSource& random) : rate_(rate) {
    static_assert(crypto_shorthash_KEYBYTES == 16);
    random.fill(hash_key_);
    entries_.resize(std::bit_ceil(std::max<std::size_t>(entries, kWays)));
}

bool BucketTable::take(const Address& key, TimeNs now) {
    std::array<std::uint8_t, 17> text;
    text[0] = static_cast<std::uint8_t>(key.family);
    std::copy(key.bytes.begin(), key.bytes.end(), text.begin() + 1);
    std::array<std::uint8_t, crypto_shorthash_BYTES> raw;
    crypto_shorthash(raw.data(), text.data(), text.size(), hash_key_.data());
    std::uint64_t hash;
    std::memcpy(&hash, raw.data(), sizeof hash);

    Entry* set = &entries_[hash % (entries_.size() / kWays) * kWays];
    Entry* victim = set;
    for (Entry* entry = set; entry != set + kWays; ++entry) {
        if (entry->key == key) return entry->bucket.take(rate_, now);
        if (!entry->key.valid()) {
            if (victim->key.valid()) victim = entry;
            continue;
        }
        entry->bucket.fill(rate_, now);
        if (victim->key.valid() && entry->bucket.tokens > victim->bucket.tokens) victim = entry;
    }
    // Under eviction pressure the newcomer inherits what its victim had left, so that rotating keys through one set
    // gains nothing; in a free place it starts full.
    const bool was_free = !victim->key.valid();
    victim->key = key;
    if (was_free) victim->bucket = {rate_.burst, now};
    return victim->bucket.take(rate_, now);
}

RateLimiter::RateLimiter(const RateLimitConfig& config, RandomSource& random)
    : addresses_(config.per_address, config.table_entries, random),
      prefixes_(config.per_prefix, config.table_entries, random) {}

bool RateLimiter::admit(const Address& from, TimeNs now, Ignored& reason) {
    reason = Ignored::rate_address;
    if (!addresses_.take(from.without_port(), now)) return false;
    reason = Ignored::rate_prefix;
    return prefixes_.take(from.prefix(), now);
}

}  // namespace orrery::protocol
