// A user's program: a ball falls for half a second in a world of the installed library.
#include <orrery/sim.hpp>

#include <cmath>
#include <cstdio>
#include <stdexcept>

using namespace orrery::sim;

int main() {
    // Exceptions and RTTI work in a user's code, although the library is built without.
    try {
        throw std::runtime_error("thrown in user code");
    } catch (const std::exception&) {
    }

    WorldDef def;
    def.shapes.push_back({.name = "ball", .type = ShapeType::sphere, .radius = 0.5f});
    BodyDef ball;
    ball.shape = 0;
    ball.pose.position = {0.0f, 10.0f, 0.0f};
    def.bodies.push_back(ball);

    auto world = World::create(def);
    if (!world) {
        std::fprintf(stderr, "%s\n", world.error().to_string().c_str());
        return 1;
    }
    for (int i = 0; i < 30; ++i) {
        if ((*world)->step() != StepStatus::ok) return 1;
    }
    std::vector<BodyState> bodies;
    (*world)->read_bodies(bodies);
    const float y = bodies.at(0).pose.position.y;
    std::printf("tick %llu: y = %.3f m, hash %016llx\n", static_cast<unsigned long long>((*world)->tick()), y,
                static_cast<unsigned long long>((*world)->hash().root));
    return std::fabs(y - 8.75f) < 0.05f ? 0 : 1;  // 10 m - g t^2 / 2 after 0.5 s
}
