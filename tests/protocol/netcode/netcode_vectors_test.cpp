// The contract with other implementations of netcode 1.02: tokens and packets that the reference made are read, and
// the same bytes are written from their fields. It guards above all the byte order of nonces and sequences, in which
// ports have disagreed with one another.
#include <doctest/doctest.h>
#include <flatbuffers/flexbuffers.h>
#include <flatbuffers/idl.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/netcode/challenge_token.h"
#include "protocol/netcode/connect_token.h"
#include "protocol/netcode/packet.h"
#include "protocol/netcode/replay_protection.h"

using namespace orrery::protocol;

namespace {

std::vector<std::uint8_t> unhex(const std::string& text) {
    std::vector<std::uint8_t> out;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        out.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return out;
}

struct Vectors {
    std::vector<std::uint8_t> storage;
    flexbuffers::Map root = flexbuffers::Map::EmptyMap();

    Vectors() {
        std::ifstream file(ORRERY_SOURCE_DIR "/tests/data/netcode.json");
        std::stringstream text;
        text << file.rdbuf();
        flatbuffers::Parser parser;
        flexbuffers::Builder builder;
        REQUIRE_MESSAGE(parser.ParseFlexBuffer(text.str().c_str(), nullptr, &builder), parser.error_);
        storage = builder.GetBuffer();
        root = flexbuffers::GetRoot(storage).AsMap();
    }
};

std::string text_of(const flexbuffers::Map& map, const char* key) { return map[key].AsString().str(); }
std::uint64_t number_of(const flexbuffers::Map& map, const char* key) { return std::stoull(text_of(map, key)); }

template <std::size_t N>
std::array<std::uint8_t, N> array_of(const flexbuffers::Map& map, const char* key) {
    const auto bytes = unhex(text_of(map, key));
    REQUIRE(bytes.size() == N);
    std::array<std::uint8_t, N> out;
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
}

AddressList addresses_of(const flexbuffers::Map& map) {
    AddressList out;
    const auto list = map["server_addresses"].AsVector();
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto address = Address::parse(list[i].AsString().str());
        REQUIRE(address.ok());
        CHECK(address.value().to_string() == list[i].AsString().str());
        out.add(address.value());
    }
    return out;
}

}  // namespace

TEST_CASE("connect tokens of the reference are read, opened and written again to the same bytes") {
    const Vectors vectors;
    const auto list = vectors.root["connect_tokens"].AsVector();
    REQUIRE(list.size() == 3);
    for (std::size_t i = 0; i < list.size(); ++i) {
        CAPTURE(i);
        const auto fields = list[i].AsMap();
        const auto bytes = unhex(text_of(fields, "connect_token"));
        const auto read = read_connect_token(bytes);
        REQUIRE(read.ok());
        const ConnectToken& token = read.value();
        CHECK(token.protocol_id == number_of(fields, "protocol_id"));
        CHECK(token.create_timestamp == number_of(fields, "create_timestamp"));
        CHECK(token.expire_timestamp == number_of(fields, "expire_timestamp"));
        CHECK(token.timeout_seconds == fields["timeout_seconds"].AsInt32());
        CHECK(token.servers == addresses_of(fields));
        CHECK(token.client_to_server == array_of<32>(fields, "client_to_server_key"));
        CHECK(token.server_to_client == array_of<32>(fields, "server_to_client_key"));

        const Key private_key = array_of<32>(fields, "private_key");
        PrivateToken secret;
        REQUIRE(open_private_token(token.private_part, token.protocol_id, token.expire_timestamp, token.nonce,
                                   private_key, secret));
        CHECK(secret.client_id == number_of(fields, "client_id"));
        CHECK(secret.timeout_seconds == token.timeout_seconds);
        CHECK(secret.servers == token.servers);
        CHECK(secret.client_to_server == token.client_to_server);
        CHECK(secret.server_to_client == token.server_to_client);
        CHECK(secret.user_data == array_of<kUserDataBytes>(fields, "user_data"));

        // From the fields alone, with the reference's nonce.
        ConnectToken made = token;
        write_private_token(secret, made.private_part);
        seal_private_token(made.private_part, made.protocol_id, made.expire_timestamp, made.nonce, private_key);
        PublicTokenBytes written;
        write_connect_token(made, written);
        CHECK(std::equal(written.begin(), written.end(), bytes.begin(), bytes.end()));

        Key other_key = private_key;
        other_key[31] ^= 1;
        CHECK_FALSE(open_private_token(token.private_part, token.protocol_id, token.expire_timestamp, token.nonce,
                                       other_key, secret));
        CHECK_FALSE(open_private_token(token.private_part, token.protocol_id, token.expire_timestamp - 1, token.nonce,
                                       private_key, secret));
        CHECK_FALSE(open_private_token(token.private_part, token.protocol_id + 1, token.expire_timestamp, token.nonce,
                                       private_key, secret));
    }
}

TEST_CASE("challenge tokens of the reference are opened and sealed again to the same bytes") {
    const Vectors vectors;
    const auto list = vectors.root["challenge_tokens"].AsVector();
    REQUIRE(list.size() == 2);
    for (std::size_t i = 0; i < list.size(); ++i) {
        CAPTURE(i);
        const auto fields = list[i].AsMap();
        const auto sealed = array_of<kChallengeTokenBytes>(fields, "encrypted");
        const Key key = array_of<32>(fields, "key");
        const std::uint64_t sequence = number_of(fields, "sequence");
        ChallengeToken token;
        REQUIRE(open_challenge_token(sealed, sequence, key, token));
        CHECK(token.client_id == number_of(fields, "client_id"));
        CHECK(token.user_data == array_of<kUserDataBytes>(fields, "user_data"));
        std::array<std::uint8_t, kChallengeTokenBytes> written;
        seal_challenge_token(token, sequence, key, written);
        CHECK(written == sealed);
        CHECK_FALSE(open_challenge_token(sealed, sequence + 1, key, token));
    }
}

TEST_CASE("packets of the reference are opened and sealed again to the same bytes") {
    const Vectors vectors;
    const auto list = vectors.root["packets"].AsVector();
    REQUIRE(list.size() == 24);
    for (std::size_t i = 0; i < list.size(); ++i) {
        CAPTURE(i);
        const auto fields = list[i].AsMap();
        const auto bytes = unhex(text_of(fields, "packet"));
        const auto plain = unhex(text_of(fields, "plaintext"));
        const auto type = static_cast<PacketType>(fields["type"].AsUInt8());
        const Key key = array_of<32>(fields, "key");
        const std::uint64_t protocol_id = number_of(fields, "protocol_id");
        ReplayProtection replay;
        PacketScratch scratch;
        OpenedPacket packet;
        Ignored reason{};
        REQUIRE(open_packet(bytes, mask_of(type), protocol_id, key, &replay, scratch, packet, reason));
        CHECK(packet.type == type);
        CHECK(packet.sequence == number_of(fields, "sequence"));
        CHECK(std::equal(packet.body.begin(), packet.body.end(), plain.begin(), plain.end()));

        PacketScratch written;
        const std::size_t size = seal_packet(type, packet.sequence, plain, protocol_id, key, written);
        CHECK(std::equal(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(size), bytes.begin(),
                         bytes.end()));
    }
}
