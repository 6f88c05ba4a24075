#include "server/room/seats.h"

#include "sim/base/assert.h"

namespace orrery::server {

std::optional<std::uint16_t> Seats::held_by(std::uint64_t client_id) const {
    for (std::uint16_t slot = 0; slot < seats_.size(); ++slot) {
        const Seat& seat = seats_[slot];
        const bool known = seat.id_form == protocol::replay::IdForm::plain && seat.client_id == client_id;
        if (seat.state == Seat::State::held && known) return slot;
    }
    return std::nullopt;
}

bool Seats::take(std::uint16_t slot, std::uint64_t client_id) {
    Seat& seat = seats_[slot];
    ORRERY_ASSERT(seat.state == Seat::State::free || (seat.state == Seat::State::held && seat.client_id == client_id));
    const bool back = seat.state == Seat::State::held && seat.in_world;
    seat.state = Seat::State::taken;
    seat.client_id = client_id;
    seat.id_form = protocol::replay::IdForm::plain;
    return back;
}

void Seats::hold(std::uint16_t slot, std::uint64_t until_tick) {
    ORRERY_ASSERT(seats_[slot].state == Seat::State::taken);
    seats_[slot].state = Seat::State::held;
    seats_[slot].held_until_tick = until_tick;
}

void Seats::free(std::uint16_t slot) {
    Seat& seat = seats_[slot];
    seat.state = Seat::State::free;
    seat.leaving = seat.leaving || seat.in_world;
    seat.in_world = false;
}

}  // namespace orrery::server
