#include "client_sdk/examples/picture.h"

#include <cstdio>
#include <map>

#include "client_sdk/examples/view.h"

namespace orrery::drive {

namespace {

constexpr int kTextRows = 4;

// Calls function(body, shape, index of the sample, pose) for each body that has a shape.
template <class Function>
void each_body(const client::Client& client, const client::Samples& samples, Function function) {
    for (std::size_t i = 0; i < samples.ids.size(); ++i) {
        const auto body = client.body(samples.ids[i]);
        if (!body || body->shape == ORRERY_NO_SHAPE) continue;
        const auto shape = client.shape(body->shape);
        if (shape) function(*body, *shape, i, Pose{samples.positions[i], samples.orientations[i]});
    }
}

// Returns the names of the vehicles' templates by slot. A slot's first body has the arrow; a ball's front is where it
// moves to.
std::map<std::uint32_t, std::string> draw_room(View& view, const client::Client& client, const client::Samples& samples,
                                               bool utf8) {
    view.ground();
    each_body(client, samples, [&](const orrery_body& body, const orrery_shape& shape, std::size_t, const Pose& pose) {
        if (body.slot == ORRERY_NO_SLOT) view.body(shape, pose, body.type == ORRERY_BODY_FIXED);
    });
    each_body(client, samples, [&](const orrery_body& body, const orrery_shape& shape, std::size_t, const Pose& pose) {
        if (body.slot != ORRERY_NO_SLOT) view.player(shape, pose, body.slot);
    });
    std::map<std::uint32_t, std::string> players;
    each_body(
        client, samples, [&](const orrery_body& body, const orrery_shape& shape, std::size_t i, const Pose& pose) {
            if (body.slot == ORRERY_NO_SLOT || !players.emplace(body.slot, body.template_name).second) return;
            const std::array<float, 3>& v = samples.linear_velocities[i];
            const bool ball = shape.type == ORRERY_SHAPE_SPHERE;
            view.arrow(shape, pose, ball ? std::array<double, 3>{v[0], v[1], v[2]} : front_of(pose), body.slot, utf8);
        });
    return players;
}

int write_heights(View& view, int row, int column, const int* colours) {
    for (std::size_t i = 0; i < kHeights.size(); ++i)
        column = view.write(row, column, kHeights.substr(i, 1), colours[i]);
    return column;
}

}  // namespace

std::string picture(const client::Client& client, const client::Samples& samples, const std::array<float, 3>& middle,
                    double speed_mps, const Terminal& terminal) {
    const bool colours = Terminal::colours();
    View view(terminal.width(), terminal.height(), kTextRows, middle[0], middle[2]);
    const std::map<std::uint32_t, std::string> players = draw_room(view, client, samples, Terminal::utf8());

    const auto session = client.session();
    const std::uint32_t own_slot = session ? session->slot : ORRERY_NO_SLOT;
    const char* doing = client.state() != ORRERY_STATE_PLAYING ? "connecting"
                        : own_slot == ORRERY_NO_SLOT           ? "watching"
                                                               : "driving";
    const orrery_client_stats stats = client.stats();
    int row = terminal.height() - kTextRows;
    char line[256];
    std::snprintf(line, sizeof line, " %s  speed %5.2f m/s  rtt %5.1f ms  tick %llu  loss %.1f %%  delay %.1f ticks",
                  doing, speed_mps, stats.rtt_s * 1e3, static_cast<unsigned long long>(stats.newest_tick),
                  stats.snapshot_loss * 100.0, stats.delay_ticks);
    view.write(row++, 0, line);

    int column = view.write(row, 0, players.empty() ? " no players" : " players:");
    for (const auto& [slot, name] : players) {
        column = view.write(row, column + 1, std::string(1, slot_digit(slot)), slot_style(slot));
        column = view.write(row, column + 1, name);
        if (slot == own_slot) column = view.write(row, column, " (you)");
    }
    view.write(row++, column, "  arrow: front  dots: every 4 m");

    column = write_heights(view, row, view.write(row, 0, " tops at 0 to 6 m: "), kFixedColours);
    if (colours) {
        column = view.write(row, column, " fixed, ");
        column = write_heights(view, row, column, kMovableColours);
        view.write(row, column, " movable");
    }
    view.write(++row, 0, " W A S D drive, space brakes or jumps, X lets go, Q leaves");
    return view.text(colours);
}

}  // namespace orrery::drive
