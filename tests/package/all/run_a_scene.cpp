// run_a_scene SCENE: loads a shipped scene by the installed protocol library and steps it.
#include <orrery/protocol/scene/scene.h>

#include <cstdio>
#include <fstream>
#include <iterator>

int main(int argc, char** argv) {
    if (argc != 2) return 64;
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto scene = orrery::protocol::load_scene(bytes, argv[1]);
    if (!scene) {
        std::fprintf(stderr, "%s\n", scene.error().to_string().c_str());
        return 2;
    }
    const auto world = orrery::sim::World::create(scene->world);
    if (!world) return 1;
    (*world)->step();
    std::printf("%s: %u bodies, hash %016llx\n", scene->name.c_str(), (*world)->stats().bodies,
                static_cast<unsigned long long>((*world)->hash().root));
    return (*world)->stats().bodies > 0 ? 0 : 1;
}
