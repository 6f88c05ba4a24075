// The director of `orrery serve --hands`: clients whose token says director take hold of bodies and pull them about
// (hand_messages.h). A hand is a grab of the world (sim::Command::grab). Its orders are recorded like all orders, so
// that a recording is verified without it. Nothing else of a room changes: seats, spectators and players are as without
// it.
//
// The board says that there are hands: kHandsKey has 2 bytes, the version of the messages, and 1 if the server gives
// director's tokens to pages (POST /token?role=director), else 0.
#pragma once

#include <string_view>

#include "server/net/hand_messages.h"
#include "server/room/room.h"

namespace orrery::server {

inline constexpr std::string_view kHandsKey = "orrery.hands";
inline constexpr std::size_t kMaxHands = 64;        // of all clients
inline constexpr std::uint64_t kHandSilence_s = 5;  // a hand that is not heard of for so long lets go
inline constexpr float kHandPull_mps2 = 60.0f;      // force for each kg that the hand moves
inline constexpr float kHandCarries = 8.0f;         // most mass that it moves, in masses of the body that it holds
inline constexpr float kHandSpeed_mps = 12.0f;      // at which a body follows a target that is far away
inline constexpr float kHandLead_m = 1.0f;          // by which a target is ahead of a body that cannot follow

class Hands final : public Director {
  public:
    explicit Hands(bool gives_tokens) : gives_tokens_(gives_tokens) {}

    void on_start(Room& room) override;
    void on_message(const ClientMessage& message) override;
    // Of a room that goes on, the hands are gone, and the joints that they held bodies by are removed.
    bool save(std::vector<std::uint8_t>& state) const override;
    bool restore(protocol::Bytes state, const sim::World& world) override;
    void on_replayed_tick(const sim::World& world, std::span<const sim::Command> commands) override;
    void on_tick(const sim::World& world, std::vector<sim::Command>& orders) override;

    std::size_t count() const { return hands_.size(); }  // of hands that hold a body, or are about to

  private:
    struct Hand {
        std::uint64_t client_id = 0;
        std::uint8_t number = 0;
        sim::BodyId body;
        sim::Vec3 point;             // in the body's frame
        sim::Vec3 target;            // that the client wants
        sim::Vec3 given;             // that the grab has
        sim::JointId joint;          // the grab; invalid until the world has made it
        std::uint64_t tag = 0;       // of the order for the grab; 0: not given yet
        std::uint64_t heard_at = 0;  // tick of the client's last message for it
        bool letting_go = false;
    };

    bool is_director(std::uint64_t client_id) const;
    Hand* find(std::uint64_t client_id, std::uint8_t number);
    HandReason why_not(const HandOrder& order) const;
    void take(std::uint64_t client_id, const HandOrder& order);
    void let_go(Hand& hand);
    bool work(Hand& hand, const sim::World& world, std::vector<sim::Command>& orders);
    void pull(Hand& hand, const sim::World& world, std::vector<sim::Command>& orders) const;
    void answer(std::uint64_t client_id, std::uint8_t number, HandReason reason);

    Room* room_ = nullptr;
    bool gives_tokens_;
    bool may_grab_ = true;  // one grab a tick: its mass takes a look at all joints
    std::vector<Hand> hands_;
    std::vector<sim::JointId> left_over_;  // of hands before the room went on
    std::uint64_t last_tag_ = 0;
};

// The mass that a pull at `body` moves, kg: of the body and of all dynamic bodies that joints connect with it. In a
// world whose scene has very many joints: of the body alone.
float jointed_mass(const sim::World& world, sim::BodyId body);

}  // namespace orrery::server
