// What stands behind an orrery_client.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client_sdk/src/c_face.h"
#include "client_sdk/src/connection.h"
#include "client_sdk/src/stream_link.h"
#include "client_sdk/src/world_look.h"

struct orrery_client {
    orrery_client_config config;
    std::unique_ptr<orrery::client::Link> link;
    orrery::client::StreamLink* stream = nullptr;  // `link` if it is one
    orrery::client::Connection connection;
    std::string event_text;
    std::vector<orrery::client::ShownBody> shown;                       // of a mirror; keeps its memory
    std::unique_ptr<const orrery::protocol::EventDetail> event_detail;  // of the event that was given last
    orrery::client::Seen seen;                                          // in a mirror's world; keeps its memory

    orrery_client(const orrery_client_config& c, std::unique_ptr<orrery::client::Link> l, orrery::client::StreamLink* s,
                  const orrery::protocol::ClientHello& hello, const orrery::client::PlayoutLimits& limits)
        : config(c), link(std::move(l)), stream(s), connection(*link, hello, limits) {}

    void log(std::int32_t level, const std::string& text) const {
        if (config.log.write) config.log.write(config.log.user, level, text.c_str());
    }
    const orrery::protocol::ClientSession* playing() const {
        using orrery::protocol::ClientSession;
        const ClientSession* session = connection.session();
        return session && session->state() != ClientSession::State::awaiting_hello ? session : nullptr;
    }
    const orrery::protocol::MirrorBody* find(orrery_body_id id) const {
        const orrery::protocol::ClientSession* session = playing();
        const orrery::sim::BodyId body = orrery::client::body_of(id);
        if (!session || body.index >= session->bodies().size()) return nullptr;
        const orrery::protocol::MirrorBody& mirror = session->bodies()[body.index];
        return mirror.alive && mirror.description.id == body ? &mirror : nullptr;
    }
};
