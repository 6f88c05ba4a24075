// A game's client by its C++ face: asks a server that is not there for a token, and hears that nobody answered.
#include <orrery/client.hpp>

#include <cstdio>

int main() {
    auto client = orrery::client::Client::create();
    if (!client || client->connect_insecure("127.0.0.1:9", 0) != ORRERY_OK) return 1;
    orrery::client::Event event;
    for (std::uint64_t second = 0; second < 60 && !client->next_event(event); ++second) {
        if (client->poll(second * 1'000'000'000) != ORRERY_OK) return 1;
    }
    std::printf("%s\n", event.text.c_str());
    return event.kind == ORRERY_EVENT_DISCONNECTED && !event.text.empty() ? 0 : 1;
}
