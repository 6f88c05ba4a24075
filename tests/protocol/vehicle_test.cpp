// Contract: the car of deploy/scenes/vehicle.json answers to its player. It goes where it is steered, stops when it is
// told to, keeps its wheels on their axles and within the suspension's travel, on the plain, over the ramps and over
// the logs.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>

#include "protocol/scene/scene.h"
#include "tests/support/about.h"
#include "tests/support/double_math.h"

using namespace orrery;

namespace {

constexpr double kTravel_m = 0.15, kTolerance_m = 0.02;
constexpr sim::Vec3 kHub[4] = {{-1.0f, -0.3f, -1.3f}, {1.0f, -0.3f, -1.3f}, {-1.0f, -0.3f, 1.3f}, {1.0f, -0.3f, 1.3f}};

using test::V;
V difference(sim::Vec3 a, sim::Vec3 b) { return sim::ref::widened(a) - sim::ref::widened(b); }
V turned(sim::Quat q, V v) { return sim::ref::turned(sim::ref::widened(q), v); }

class Drive {
  public:
    explicit Drive(std::uint16_t slot) : slot_(slot) {
        std::ifstream file(ORRERY_SOURCE_DIR "/deploy/scenes/vehicle.json", std::ios::binary);
        const std::vector<std::uint8_t> text{std::istreambuf_iterator<char>(file), {}};
        const Result<protocol::LoadedScene> scene = protocol::load_scene(text, "vehicle");
        REQUIRE_MESSAGE(scene.ok(), (scene.ok() ? std::string() : scene.error().to_string()));
        Result<std::unique_ptr<sim::World>> made = sim::World::create(scene->world);
        REQUIRE_MESSAGE(made.ok(), (made.ok() ? std::string() : made.error().to_string()));
        world_ = std::move(*made);
        sim::Command join;
        join.kind = sim::CommandKind::join;
        join.slot = slot_;
        world_->step(std::vector{join});
        std::vector<sim::BodyState> bodies;
        world_->read_bodies(bodies);
        for (const sim::BodyState& body : bodies) {
            if (body.slot == slot_) parts_.push_back(body.id);
        }
        REQUIRE(parts_.size() == 5);
        go(1.5, 0, 0, 0);
    }

    // Holds the controls; every tick the wheels are where they may be.
    void go(double time_s, float throttle, float steer, float brake) {
        sim::Command control;
        control.kind = sim::CommandKind::control;
        control.slot = slot_;
        control.channels = {throttle, steer, brake};
        for (int n = static_cast<int>(time_s * 60); n > 0; --n) {
            world_->step(std::vector{control});
            const sim::Pose car = chassis().pose;
            const sim::Quat back{-car.orientation.x, -car.orientation.y, -car.orientation.z, car.orientation.w};
            for (std::size_t i = 0; i < 4; ++i) {
                const V d = turned(back, difference(world_->body(parts_[i + 1]).pose.position, car.position));
                lowest = std::min(lowest, d.y - kHub[i].y), highest = std::max(highest, d.y - kHub[i].y);
                aside = std::max(aside, std::hypot(d.x - kHub[i].x, d.z - kHub[i].z));
            }
            least_up = std::min(least_up, turned(car.orientation, {0, 1, 0}).y);
        }
    }

    sim::BodyState chassis() const { return world_->body(parts_[0]); }
    double speed() const {  // along its nose
        const sim::BodyState body = chassis();
        const V nose = turned(body.pose.orientation, {0, 0, -1}), v = sim::ref::widened(body.linear_velocity);
        return nose.x * v.x + nose.y * v.y + nose.z * v.z;
    }
    double heading() const {  // rad, to the right of the world's -z
        const V nose = turned(chassis().pose.orientation, {0, 0, -1});
        return std::atan2(nose.x, -nose.z);
    }
    bool asleep() const { return chassis().asleep; }

    double lowest = 1, highest = -1, aside = 0, least_up = 1;

  private:
    std::unique_ptr<sim::World> world_;
    std::uint16_t slot_;
    std::vector<sim::BodyId> parts_;
};

void check_wheels(const Drive& car) {
    CHECK(car.lowest > -kTravel_m - kTolerance_m);
    CHECK(car.highest < kTravel_m + kTolerance_m);
    CHECK(car.aside < kTolerance_m);
    CHECK(car.least_up > 0.9);
}

}  // namespace

TEST_CASE("vehicle: at rest it stands on its springs, straight, and falls asleep") {
    Drive car(0);
    car.lowest = 1, car.highest = -1;
    car.go(1.5, 0, 0, 0);
    CHECK(car.lowest > 0.05);
    CHECK(car.highest < 0.12);
    CHECK(car.highest - car.lowest < 0.01);
    CHECK(std::abs(car.heading()) < 0.002);
    CHECK(std::abs(car.chassis().pose.position.x + 8.0) < 0.01);
    CHECK(car.asleep());
}

TEST_CASE("vehicle: throttle drives it straight ahead and back, the brake stops it in its way of friction") {
    Drive car(0);
    car.go(3, 1, 0, 0);
    const double fast = car.speed();
    CHECK(fast > 6);
    CHECK(fast < 12);
    CHECK(std::abs(car.heading()) < 0.02);
    const double from = car.chassis().pose.position.z;
    CHECK(from < -8);
    car.go(2.5, 0, 0, 1);
    CHECK(std::abs(car.speed()) < 0.02);
    const double way = from - car.chassis().pose.position.z;
    CHECK(way > fast * fast / (2 * 10 * 1.0));
    CHECK(way < 1.6 * fast * fast / (2 * 10 * std::sqrt(0.8)));
    const double stopped = car.chassis().pose.position.z;
    car.go(2, -1, 0, 0);
    CHECK(car.speed() < -1.5);
    CHECK(car.chassis().pose.position.z > stopped + 1);
    check_wheels(car);
}

TEST_CASE("vehicle: it turns to the side it is steered to, by the circle of its wheels' angle") {
    for (const float steer : {0.5f, -0.5f}) {
        CAPTURE(steer);
        Drive car(0);
        car.go(2, 0.2f, 0, 0);
        const double before = car.heading();
        const double x = car.chassis().pose.position.x;
        car.go(1.5, 0.2f, steer, 0);
        const double turned_rad = car.heading() - before;
        CHECK(turned_rad * steer > 0.1);
        CHECK((car.chassis().pose.position.x - x) * steer > 0.1);
        // In the circle, at the speed that it has then: v / radius = v tan(angle) / wheelbase, but for the wheels'
        // slip.
        const double speed = car.speed();
        const double wanted = speed * std::tan(0.5 * steer) / 2.6;
        CHECK(-car.chassis().angular_velocity.y == test::about(wanted, 0.15));
        check_wheels(car);
    }
}

TEST_CASE("vehicle: over the ramps and the logs it comes down on its wheels") {
    Drive car(1);
    double top = 0;
    for (int n = 0; n < 150 && car.chassis().pose.position.z > -48; ++n) {
        car.go(0.1, 0.3f, 0, 0);
        top = std::max<double>(top, car.chassis().pose.position.y);
    }
    CHECK(car.chassis().pose.position.z < -48);
    CHECK(top > 1.5);
    CHECK(std::abs(car.chassis().pose.position.x - 8.0) < 0.5);
    car.go(3, 0, 0, 1);
    CHECK(std::abs(car.speed()) < 0.02);
    CHECK(car.chassis().pose.position.y == test::about(0.6, 0.05));
    check_wheels(car);
}
