// sumo_host SCENE [SECONDS [PORT]]: two players on a platform push a ball and each other. Who pushes the ball or the
// other player off on the other's side gets a point. Empty seats are played by bots. The match ends after SECONDS (60).
// PORT is 7770; 0 takes a free one.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "game.h"
#include "orrery/server.hpp"

using namespace orrery;
using server::Recipient;
using sim::Command;
using sim::Vec3;

namespace {

constexpr float kOut_m = -3.0f;            // what is below is off the platform
constexpr std::uint64_t kBotsFrom_s = 3;   // of the match: from then on bots take empty seats
constexpr std::uint64_t kStarEvery_s = 8;  // of a new star, while nobody has it
constexpr float kShove_mps = 9.0f;         // change of the velocity of a player who is shoved

protocol::Bytes bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class Sumo final : public server::Director {
  public:
    Sumo(const server::RoomInfo& info, std::uint64_t seconds)
        : request_stop_(info.request_stop),
          def_(info.definition),
          tick_rate_(static_cast<std::uint64_t>(info.definition.tick_rate_hz)),
          ends_at_(seconds * tick_rate_),
          star_prefab_(info.definition.find_prefab("star")) {}

    void on_start(server::Room& room) override {
        room_ = &room;
        show("phase", "waiting");
        show("score", "0:0");
    }

    void joined(std::uint16_t slot, std::uint64_t client_id, bool returned) override {
        say("player_" + std::to_string(slot + 1) + (returned ? " is back" : " is here"));
        std::printf("slot %u is client %016llx\n", slot, static_cast<unsigned long long>(client_id));
    }
    void left(std::uint16_t slot, server::LeaveReason) override {
        if (star_owner_ == slot) drop_star();
        if (shove_by_ == slot) shove_by_.reset();
        say("player_" + std::to_string(slot + 1) + " has left");
    }

    void on_message(const server::ClientMessage& message) override {
        if (message.type != SUMO_SHOVE || !message.slot || star_owner_ != *message.slot) return;
        shove_by_ = message.slot;
        drop_star();
    }

    void on_tick(const sim::World& world, std::vector<Command>& orders) override {
        if (world.tick() == ends_at_) finish();
        // The result is shown for a second: what a lost packet held has come by then.
        if (world.tick() >= ends_at_ + tick_rate_) request_stop_("the match is over, " + score_text());
        if (world.tick() >= ends_at_) return;
        find_bodies(world);
        for (std::uint16_t slot = 0; slot < 2; ++slot) play_bot(world, slot, orders);
        if (!wrestlers_[0].valid() || !wrestlers_[1].valid()) return;
        show("phase", "playing");
        score(world, orders);
        move_star(world, orders);
        if (shove_by_) shove(world, orders);
    }

  private:
    void find_bodies(const sim::World& world) {
        ball_ = world.find_body("ball");
        for (std::uint16_t slot = 0; slot < 2; ++slot) {
            if (!world.alive(wrestlers_[slot])) wrestlers_[slot] = {};
        }
        for (const sim::Event& event : world.events()) {
            if (event.kind != sim::EventKind::spawned || !world.alive(event.a)) continue;
            const sim::BodyState body = world.body(event.a);
            if (body.slot < 2) wrestlers_[body.slot] = event.a;
            if (body.prefab == star_prefab_) star_ = event.a;
        }
    }

    // A bot walks behind the ball and pushes it off the other's side, a little askew, so that two of them do not hold
    // it still. That of the first seat fetches the star.
    void play_bot(const sim::World& world, std::uint16_t slot, std::vector<Command>& orders) {
        if (!world.slot_taken(slot)) {
            if (world.tick() >= kBotsFrom_s * tick_rate_) orders.push_back(Command::occupy(slot));
            return;
        }
        if (!world.slot_driven(slot) || !wrestlers_[slot].valid()) return;
        const Vec3 me = world.body(wrestlers_[slot]).pose.position;
        float x = 0.0f, z = 0.0f;
        if (slot == 0 && world.alive(star_)) {
            const Vec3 star = world.body(star_).pose.position;
            x = star.x - me.x, z = star.z - me.z;
        } else {
            const Vec3 ball = world.body(ball_).pose.position;
            const float side = slot == 0 ? -1.0f : 1.0f;
            const bool behind = (ball.x - me.x) * side < 0.0f;
            x = behind ? -side : side, z = ball.z + 0.2f * side - me.z;
        }
        orders.push_back(Command::drive(slot, {limited(x), limited(z)}));
    }
    static float limited(float x) { return std::fmax(-0.6f, std::fmin(0.6f, x)); }

    void score(const sim::World& world, std::vector<Command>& orders) {
        const Vec3 ball = world.body(ball_).pose.position;
        if (ball.y < kOut_m) {
            point(ball.x > 0.0f ? 0 : 1, "the ball is out");
            orders.push_back(Command::teleport(ball_, {{0.0f, 0.7f, 0.0f}, {}}));
        }
        for (std::uint16_t slot = 0; slot < 2; ++slot) {
            if (world.body(wrestlers_[slot]).pose.position.y >= kOut_m) continue;
            point(1 - slot, "player_" + std::to_string(slot + 1) + " is out");
            orders.push_back(Command::respawn(slot, def_.slots[slot].pose));
        }
    }

    void point(int winner, const std::string& why) {
        ++points_[winner];
        show("score", score_text());
        say(why + ", " + score_text());
    }

    // The star is a sensor beside the middle: who touches it may shove once.
    void move_star(const sim::World& world, std::vector<Command>& orders) {
        if (!world.alive(star_)) {
            if (!star_owner_ && world.tick() % (kStarEvery_s * tick_rate_) == 0)
                orders.push_back(Command::spawn(star_prefab_, {{0.0f, 0.5f, 3.0f}, {}}));
            return;
        }
        for (const sim::Event& event : world.events()) {
            if (event.kind != sim::EventKind::sensor_begin || event.a != star_) continue;
            for (std::uint16_t slot = 0; slot < 2; ++slot) {
                if (event.b != wrestlers_[slot]) continue;
                star_owner_ = slot;
                show("star", std::to_string(slot));
                if (world.slot_driven(slot)) shove_by_ = slot, drop_star();
                orders.push_back(Command::despawn(star_));
                return;
            }
        }
    }

    void shove(const sim::World& world, std::vector<Command>& orders) {
        const sim::BodyState me = world.body(wrestlers_[*shove_by_]), other = world.body(wrestlers_[1 - *shove_by_]);
        const Vec3 way{other.pose.position.x - me.pose.position.x, 0.0f, other.pose.position.z - me.pose.position.z};
        const float length = std::fmax(0.1f, std::sqrt(way.x * way.x + way.z * way.z));
        const float impulse = kShove_mps / (other.inverse_mass * length);
        orders.push_back(Command::impulse(other.id, {way.x * impulse, 0.0f, way.z * impulse}));
        say("player_" + std::to_string(*shove_by_ + 1) + " shoves");
        shove_by_.reset();
    }

    void finish() {
        show("phase", "over");
        std::printf("result %s\n", score_text().c_str());
    }

    std::string score_text() const { return std::to_string(points_[0]) + ":" + std::to_string(points_[1]); }
    void drop_star() {
        star_owner_.reset();
        room_->board().remove(SUMO_STAR);
    }

    void show(const char* key, const std::string& value) { room_->board().set(key, bytes_of(value)); }
    void say(const std::string& text) { room_->send(Recipient::everyone(), SUMO_SAYS, bytes_of(text)); }

    std::function<void(std::string)> request_stop_;
    const sim::WorldDef& def_;
    std::uint64_t tick_rate_, ends_at_;  // ticks in a second; a tick
    std::uint32_t star_prefab_;
    server::Room* room_ = nullptr;
    sim::BodyId ball_, star_, wrestlers_[2];
    int points_[2] = {0, 0};
    std::optional<std::uint16_t> star_owner_, shove_by_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: sumo_host SCENE [SECONDS [PORT]]\n"), 64;
    const std::uint64_t seconds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 60;
    server::GameServerConfig config;
    config.scene = argv[1];
    if (argc > 3) config.port = static_cast<std::uint16_t>(std::strtoul(argv[3], nullptr, 10));
    config.insecure = true;  // for development: every client on this machine may play
    config.events.least_hit_impulse = 20.0f;
    return server::serve(config, [&](const server::RoomInfo& room) { return std::make_unique<Sumo>(room, seconds); });
}
