#include "server/control/console_page.h"

#include <sodium.h>

#include <array>

namespace orrery::server {

namespace {

// 'sha256-...' of the text between <tag> and </tag>.
std::string hash_of(std::string_view page, const std::string& tag) {
    const std::string open = "<" + tag + ">", close = "</" + tag + ">";
    const std::size_t begin = page.find(open) + open.size(), end = page.find(close);
    std::array<unsigned char, crypto_hash_sha256_BYTES> hash;
    crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(page.data()) + begin, end - begin);
    std::array<char, sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES, sodium_base64_VARIANT_ORIGINAL)> text;
    sodium_bin2base64(text.data(), text.size(), hash.data(), hash.size(), sodium_base64_VARIANT_ORIGINAL);
    return std::string("'sha256-") + text.data() + "'";
}

}  // namespace

std::string console_policy(std::string_view page) {
    return "default-src 'none'; script-src " + hash_of(page, "script") + "; style-src " + hash_of(page, "style") +
           "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

}  // namespace orrery::server
