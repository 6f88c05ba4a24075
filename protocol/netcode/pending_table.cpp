#include "protocol/netcode/pending_table.h"

#include <sodium.h>

#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

std::size_t keyed_hash(Bytes text, const std::array<std::uint8_t, 16>& key) {
    static_assert(crypto_shorthash_KEYBYTES == 16);
    std::array<std::uint8_t, crypto_shorthash_BYTES> raw;
    crypto_shorthash(raw.data(), text.data(), text.size(), key.data());
    return static_cast<std::size_t>(load_le(raw.data(), 8));
}

}  // namespace

std::size_t KeyedHash::operator()(const Address& address) const {
    const auto text = address_bytes(address);
    return keyed_hash(text, key);
}

std::size_t KeyedHash::operator()(std::uint64_t client_id) const {
    std::array<std::uint8_t, 8> text;
    store_le(text.data(), client_id, text.size());
    return keyed_hash(text, key);
}

PendingTable::PendingTable(std::uint32_t max_entries, std::uint32_t max_per_prefix, RandomSource& random)
    : max_entries_(max_entries), max_per_prefix_(max_per_prefix) {
    KeyedHash hash;
    random.fill(hash.key);
    by_address_ = decltype(by_address_)(0, hash);
    by_id_ = decltype(by_id_)(0, hash);
    by_prefix_ = decltype(by_prefix_)(0, hash);
}

PendingTable::~PendingTable() { clear(); }

PendingClient* PendingTable::find(const Address& address) {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : &entries_[found->second].client;
}

PendingClient* PendingTable::admit(const Address& address, std::uint64_t client_id, TimeNs now) {
    if (const auto found = by_address_.find(address); found != by_address_.end()) {
        Entry& entry = entries_[found->second];
        const bool young = now < entry.since + kPendingLife;
        if (young) return entry.client.client_id == client_id ? &entry.client : nullptr;
        remove(found->second);
    }
    if (const auto found = by_id_.find(client_id); found != by_id_.end()) remove(found->second);
    const Address prefix = address.prefix();
    const auto neighbours = by_prefix_.find(prefix);
    if (neighbours != by_prefix_.end() && neighbours->second.count >= max_per_prefix_)
        remove(neighbours->second.oldest);
    if (all_.count >= max_entries_) remove(all_.oldest);

    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(entries_.size()));
        entries_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Entry& entry = entries_[index];
    entry.client.address = address;
    entry.client.client_id = client_id;
    entry.since = now;
    by_address_.emplace(address, index);
    by_id_.emplace(client_id, index);
    append(all_, kAll, index);
    append(by_prefix_[prefix], kPrefix, index);
    return &entry.client;
}

void PendingTable::drop(const Address& address) {
    const auto found = by_address_.find(address);
    if (found != by_address_.end()) remove(found->second);
}

void PendingTable::clear() {
    while (all_.count > 0) remove(all_.oldest);
}

void PendingTable::remove(std::uint32_t index) {
    Entry& entry = entries_[index];
    by_address_.erase(entry.client.address);
    by_id_.erase(entry.client.client_id);
    unlink(all_, kAll, index);
    const auto prefix = by_prefix_.find(entry.client.address.prefix());
    unlink(prefix->second, kPrefix, index);
    if (prefix->second.count == 0) by_prefix_.erase(prefix);
    wipe(entry.client.send_key);
    wipe(entry.client.receive_key);
    entry = Entry{};
    free_.push_back(index);
}

void PendingTable::append(Queue& queue, Order order, std::uint32_t index) {
    entries_[index].links[order] = {queue.newest, kNobody};
    (queue.count == 0 ? queue.oldest : entries_[queue.newest].links[order].newer) = index;
    queue.newest = index;
    ++queue.count;
}

void PendingTable::unlink(Queue& queue, Order order, std::uint32_t index) {
    const Links links = entries_[index].links[order];
    (links.older == kNobody ? queue.oldest : entries_[links.older].links[order].newer) = links.newer;
    (links.newer == kNobody ? queue.newest : entries_[links.newer].links[order].older) = links.older;
    --queue.count;
}

}  // namespace orrery::protocol
