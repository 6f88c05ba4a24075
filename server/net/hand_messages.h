// Messages of the game "hands" (hands.h): a client takes hold of a body, pulls it and lets go. Numbers are little
// endian, lengths are exact. Each message begins with 8 bytes:
//
//   "HAND", version u8 = 1, kind u8, hand u8 (0 to kHandsPerClient - 1), reason u8 (0, except in `ended`)
//
//   kind        from     content behind them
//   1 grab      client   body u64 (generation in the high half, index in the low one), point 3 f32 (m, in the body's
//                        frame), target 3 f32 (m, world): pull this point of the body to the target
//   2 move      client   target 3 f32
//   3 release   client
//   4 held      server   the hand holds its body
//   5 ended     server   text (UTF-8): the hand holds nothing, and why. hand = kNoHand: of a message that names none
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/netcode/crypto.h"

namespace orrery::server {

inline constexpr std::uint16_t kHandMessageType = 0x4844;  // ClientMessage::type of all of them
inline constexpr std::uint8_t kHandVersion = 1;
inline constexpr std::uint8_t kHandsPerClient = 4;  // at a time: fingers
inline constexpr std::uint8_t kNoHand = 0xff;

enum class HandKind : std::uint8_t { grab = 1, move = 2, release = 3, held = 4, ended = 5 };

// Why a hand holds nothing.
enum class HandReason : std::uint8_t {
    none,            // it holds a body
    malformed,       // the message is not of this form
    not_a_director,  // the sender's token has another role
    too_many,        // kMaxHands of all clients
    no_such_body,
    not_dynamic,
    body_held,     // by another hand
    out_of_range,  // the point or the target is too far away
    silent,        // nothing was heard of the hand for kHandSilence_s
    gone,          // the body or its grab was removed, or the world took no grab
};
inline constexpr std::uint8_t kHandReasons = 10;  // of HandReason

std::string_view describe(HandReason reason);

// What a client sends.
struct HandOrder {
    HandKind kind = HandKind::release;
    std::uint8_t hand = 0;
    sim::BodyId body;  // grab
    sim::Vec3 point;   // grab
    sim::Vec3 target;  // grab, move
};

// Empty: it is no message of a client in this form. All numbers of an order are finite.
std::optional<HandOrder> read_hand_order(protocol::Bytes bytes);
std::vector<std::uint8_t> write_hand_order(const HandOrder& order);

// `held` if the reason is none, else `ended`.
std::vector<std::uint8_t> write_hand_answer(std::uint8_t hand, HandReason reason);

}  // namespace orrery::server
