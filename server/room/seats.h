// The seats of a room: which client plays which slot of the scene. Client indices have no part in it.
//
//   free --take--> taken --hold--> held --take, by the same client id--> taken
//                      \--free-----/--free, or the hold ends--> free
//
// A seat that was in the world when it became free is left by a command `leave` of the next tick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/replay/ancillary.h"
#include "protocol/session/messages.h"

namespace orrery::server {

struct Seat {
    enum class State : std::uint8_t { free, taken, held };
    State state = State::free;
    bool in_world = false;        // its slot has been joined, and not yet left
    bool leaving = false;         // the next tick leaves the slot first
    std::uint64_t client_id = 0;  // taken, held
    // What client_id is. Of a seat that is held since the room went on: as the recording has it.
    protocol::replay::IdForm id_form = protocol::replay::IdForm::plain;
    std::uint64_t held_until_tick = 0;  // held
    protocol::WireControl control{};    // that the world holds for the slot
};

class Seats {
  public:
    explicit Seats(std::size_t slots) : seats_(slots) {}

    std::size_t size() const { return seats_.size(); }
    Seat& operator[](std::uint16_t slot) { return seats_[slot]; }
    const Seat& operator[](std::uint16_t slot) const { return seats_[slot]; }

    // The lowest free slot for which `suits` holds.
    template <class Suits>
    std::optional<std::uint16_t> lowest_free(Suits suits) const {
        for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
            if (seats_[slot].state == Seat::State::free && suits(slot)) return slot;
        }
        return std::nullopt;
    }
    std::optional<std::uint16_t> held_by(std::uint64_t client_id) const;

    // True: the client comes back to the seat that was held for it, whose bodies are still in the world.
    bool take(std::uint16_t slot, std::uint64_t client_id);
    void hold(std::uint16_t slot, std::uint64_t until_tick);
    void free(std::uint16_t slot);

  private:
    std::vector<Seat> seats_;
};

}  // namespace orrery::server
