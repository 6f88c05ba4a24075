// Messages of mirror mode as a peer may send them: whatever comes, what waits at a receiver is bounded and decodes, and
// what was read says the same when written and read again.
#include "input.h"
#include "protocol/session/mirror_receiver.h"
#include "protocol/session/mirror_sender.h"

using namespace orrery;
using namespace orrery::protocol;
using orrery::fuzz::require;

namespace {

template <class Message>
void read_and_write_again(Bytes bytes) {
    Message message;
    if (!read_message(bytes, message)) return;
    std::vector<std::uint8_t> written;
    write_message(message, written);
    require(std::equal(written.begin(), written.end(), bytes.begin(), bytes.end()));
}

void take_all(MirrorReceiver& receiver) {
    std::uint64_t tick = 0;
    std::vector<std::uint8_t> state;
    if (receiver.take_state(tick, state)) require(state.size() <= kMaxMirrorStateBytes);
    std::vector<sim::Command> commands;
    std::vector<std::uint8_t> again;
    for (; const MirrorReceiver::Tick* next = receiver.next(); receiver.pop()) {
        decode_commands(next->coded, commands);
        again.clear();
        encode_commands(commands, again);
        require(again == next->coded);
    }
    require(receiver.complete_up_to() < kMaxTick);
    receiver.take_feedback();
    receiver.take_leaves();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 64 * 1024) return 0;
    fuzz::Input input(data, size);
    MirrorReceiver receiver;
    std::vector<std::uint8_t> begin;
    write_message(MirrorBegin{input.u16(), 1}, begin);
    require(receiver.receive(begin, MessageType::mirror_begin));
    while (!input.empty()) {
        const std::uint8_t what = input.u8();
        const Bytes message = input.bytes(input.u16());
        if (message.empty()) continue;
        read_and_write_again<MirrorBegin>(message);
        read_and_write_again<MirrorReport>(message);
        read_and_write_again<MirrorLeaves>(message);
        if (what % 2 == 0)
            receiver.receive(message, static_cast<MessageType>(message[0]));
        else
            receiver.receive_datagram(message);
        if (what % 8 < 4) take_all(receiver);
    }
    take_all(receiver);
    return 0;
}
