#include "protocol/netcode/challenge_token.h"

#include <sodium.h>

#include "protocol/netcode/wire.h"

namespace orrery::protocol {
namespace {

constexpr std::size_t kLayoutBytes = kChallengeTokenBytes - kMacBytes;

static_assert(8 + kUserDataBytes + sizeof(AddressBinding) == kLayoutBytes);

}  // namespace

AddressBinding bind_address(const Address& address, const Key& key) {
    const auto text = address_bytes(address);
    AddressBinding binding;
    static_assert(binding.size() >= crypto_generichash_BYTES_MIN && kKeyBytes == crypto_generichash_KEYBYTES);
    crypto_generichash(binding.data(), binding.size(), text.data(), text.size(), key.data(), key.size());
    return binding;
}

void seal_challenge_token(const ChallengeToken& token, std::uint64_t sequence, const Key& key,
                          std::span<std::uint8_t, kChallengeTokenBytes> out) {
    WireWriter to(out);
    to.u64(token.client_id);
    to.bytes(token.user_data);
    to.bytes(token.binding);
    const auto nonce = nonce_of(sequence);
    crypto_aead_chacha20poly1305_ietf_encrypt(out.data(), nullptr, out.data(), kLayoutBytes, nullptr, 0, nullptr,
                                              nonce.data(), key.data());
}

bool open_challenge_token(std::span<const std::uint8_t, kChallengeTokenBytes> sealed, std::uint64_t sequence,
                          const Key& key, ChallengeToken& out) {
    std::array<std::uint8_t, kLayoutBytes> plain{};
    const auto nonce = nonce_of(sequence);
    if (crypto_aead_chacha20poly1305_ietf_decrypt(plain.data(), nullptr, nullptr, sealed.data(), sealed.size(), nullptr,
                                                  0, nonce.data(), key.data()) != 0) {
        return false;
    }
    WireReader in(plain);
    out.client_id = in.u64();
    in.array(out.user_data);
    in.array(out.binding);
    return in.ok();
}

}  // namespace orrery::protocol
