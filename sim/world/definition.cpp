// A definition made ready for the worlds that share it.

#include <algorithm>
#include <iterator>

#include "orrery/left_out.hpp"
#include "sim/bodies/numbers.h"
#include "sim/lanes/fp_environment.h"
#include "sim/shapes/mesh.h"
#include "sim/world/core.h"

namespace orrery::sim {

namespace {

// It is kept for as long as there are worlds, and lists that grew element by element have room for up to twice as many.
// (libstdc++'s shrink_to_fit does nothing where exceptions are off.)
template <class T>
void give_back_spare_room(std::vector<T>& list) {
    if (list.capacity() > list.size())
        list = std::vector<T>(std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
}

}  // namespace

Definition::Definition(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Definition::~Definition() = default;

Result<std::shared_ptr<const Definition>> Definition::create(WorldDef def) {
    const FpEnvironment environment;
    auto impl = std::make_unique<Impl>();
    impl->def = std::move(def);
    WorldDef& own = impl->def;
    if (auto r = check_definition(own, impl->shapes); !r) return r.error();
    give_back_spare_room(own.bodies);
    give_back_spare_room(own.joints);
    give_back_spare_room(own.actuators);
    impl->kinds = find_kinds(own, impl->shapes);
    impl->hash = hash_definition(own);
    impl->dt_s = ref::tick_length_s(own.tick_rate_hz);
    impl->sleep_ticks = std::max(1u, ref::whole_ticks(own.solver.sleep_time_s, own.tick_rate_hz));
    impl->any_surfaces = any_surfaces(own);
    return std::shared_ptr<const Definition>(new Definition(std::move(impl)));
}

const WorldDef& Definition::def() const { return impl_->def; }
std::uint64_t Definition::hash() const { return impl_->hash; }

std::vector<LeftOutTriangles> left_out_triangles(const Definition& definition) {
    std::vector<LeftOutTriangles> out;
    const std::vector<Shape>& shapes = Core::shapes_of(definition);
    for (std::uint32_t i = 0; i < shapes.size(); ++i) {
        if (shapes[i].mesh && shapes[i].mesh->left_out > 0)
            out.push_back({i, shapes[i].mesh->left_out, shapes[i].mesh->first_left_out});
    }
    return out;
}

Core::Core(std::shared_ptr<const Definition> made, Target wanted)
    : definition(std::move(made)),
      def(definition->impl_->def),
      shapes(definition->impl_->shapes),
      kinds(definition->impl_->kinds),
      definition_hash(definition->impl_->hash),
      dt_s(definition->impl_->dt_s),
      sleep_ticks(definition->impl_->sleep_ticks),
      any_surfaces(definition->impl_->any_surfaces),
      target(wanted) {}

}  // namespace orrery::sim
