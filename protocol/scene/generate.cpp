// Generators: a few lines of a scene that stand for many bodies. Positions are computed in double precision and rounded
// once; anchors of joints are computed from the rounded positions.
#include <algorithm>

#include "protocol/scene/convert.h"

namespace orrery::protocol::scene {

namespace {

constexpr std::uint64_t kCountCeiling = std::uint64_t{1} << 40;  // sums of many such counts stay far from overflow
constexpr std::uint32_t kMaxTreeLevels = 20;
constexpr double kMaxPitch_m = 2.0 * kMaxLength_m;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    if (a == 0 || b == 0) return 0;
    return a > kCountCeiling / b ? kCountCeiling : std::min(a * b, kCountCeiling);
}

int count_kinds(const GeneratorT& from) {
    return (from.grid != nullptr) + (from.stack != nullptr) + (from.pyramid != nullptr) + (from.chain != nullptr) +
           (from.net != nullptr) + (from.rain != nullptr) + (from.arena != nullptr) + (from.crowd != nullptr) +
           (from.tree != nullptr) + (from.ring != nullptr) + (from.bridge != nullptr) + (from.rope_ladder != nullptr);
}

Count count_net(const NetGeneratorT& net) {
    const std::uint64_t rows = net.rows, columns = net.columns;
    if (rows == 0 || columns == 0) return {};
    Count count{multiply(rows, columns), 0};
    count.joints = multiply(rows, columns - 1) + multiply(rows - 1, columns) + (net.pin == NetPin::corners ? 2 : 0);
    return count;
}

std::uint64_t count_tree(const TreeGeneratorT& tree) {
    std::uint64_t sum = 0, level = 1;
    for (std::uint32_t i = 0; i < std::min(tree.levels, kMaxTreeLevels); ++i) {
        sum = std::min(sum + level, kCountCeiling);
        level = multiply(level, tree.branches);
    }
    return sum;
}

Count count_rope_ladder(const RopeLadderGeneratorT& ladder) {
    const std::uint64_t links = multiply(ladder.rungs, 2 * std::uint64_t{ladder.links});
    return {ladder.rungs + links, 2 * std::uint64_t{ladder.rungs} + links};
}

// Adds the bodies of one generator.
class Maker {
  public:
    Maker(Reader& reader, const std::string& name, const Path& where, const Library& library, Scope& scope)
        : reader_(reader), name_(name), where_(where), library_(library), scope_(scope), first_(scope.bodies->size()) {}

    bool ok() const { return reader_.ok(); }
    Reader& reader() { return reader_; }

    std::uint32_t shape(const std::string& name, const Path& here) {
        if (!name.empty()) return library_.shapes.find(reader_, name, here);
        reader_.fail(here, "is missing; name the shape of the bodies");
        return 0;
    }
    // What all generators of one shape say.
    struct Start {
        std::uint32_t shape;
        D3 origin;
    };
    template <class From>
    Start begin(const From& from, const Path& where) {
        const std::uint32_t found = shape(from.shape, where / "shape");
        material(from.material, where / "material");
        if constexpr (requires { from.break_force_n; }) rig(from, where);
        return {found, origin(from.origin.get(), where)};
    }
    // For the generator's whole series of bodies, and of joints.
    void material(const std::string& name, const Path& here) {
        like_.material = convert_material(reader_, name, library_, here);
    }
    template <class From>
    void rig(const From& from, const Path& where) {
        static const From absent;
        if (from.collide) {
            like_.category = from.category, like_.mask = from.mask;
        } else {
            like_.mask = 0;
            constexpr bool kLetBe = std::is_same_v<From, ChainGeneratorT>;  // files with both go on loading
            const bool category = from.category != absent.category, mask = from.mask != absent.mask;
            if (!kLetBe && (category || mask))
                reader_.fail(where / (category ? "category" : "mask"),
                             "is set, but the bodies collide with nothing; set \"collide\" to true");
        }
        convert_mass(reader_, from, where, like_);
        joint_like_.break_force_n = limit_or_none(reader_, from.break_force_n, where / "break_force_n");
        if (joint_like_.break_force_n == 0.0f)
            reader_.fail(where / "break_force_n", "is 0; give a force above 0 N, or leave it out");
        spring_ = convert_spring(reader_, from.spring.get(), spring_, where / "spring");
    }

    double pitch(double value, const Path& here) {
        return reader_.number(value, here, -kMaxPitch_m, kMaxPitch_m, "kMaxPitch_m");
    }
    // Of links, which must not begin at one place.
    double link(double value, const Path& here) {
        if (value == 0.0) reader_.fail(here, "is 0; give the distance from one link to the next (m)");
        return pitch(value, here);
    }
    void some(std::uint32_t count, const Path& here) {
        if (count == 0) reader_.fail(here, "is 0; give at least 1");
    }
    double extent(double value, const Path& here) {
        return reader_.number(value, here, kMinLength_m, kMaxLength_m, "kMaxCoordinate_m");
    }
    D3 origin(const Vec3d* value, const Path& here) {
        return value ? reader_.vector(*value, here / "origin", kMaxLength_m, "kMaxCoordinate_m") : D3{};
    }
    // From one to another, which must not be at one place: `way` says what.
    D3 step(const Vec3d* value, D3 absent, const Path& here, const char* way) {
        const D3 step = value ? reader_.vector(*value, here, kMaxPitch_m, "kMaxPitch_m") : absent;
        if (length(step) == 0.0) reader_.fail(here, std::string("is 0; give the vector from one ") + way + " (m)");
        return step;
    }

    std::uint32_t add(std::uint32_t shape, D3 position, DQuat orientation = {},
                      sim::BodyType type = sim::BodyType::dynamic) {
        const auto index = static_cast<std::uint32_t>(scope_.bodies->size());
        const double far = std::max({std::fabs(position.x), std::fabs(position.y), std::fabs(position.z)});
        if (!(far <= kMaxLength_m)) {
            reader_.fail(where_, "puts body " + std::to_string(index - first_) + " farther than " +
                                     std::to_string(static_cast<int>(kMaxLength_m)) +
                                     " m from the origin; use fewer bodies or smaller steps");
            return index;
        }
        if (type != sim::BodyType::fixed && shape != sim::kNone &&
            library_.world->shapes[shape].type == sim::ShapeType::plane) {
            reader_.fail(where_, "makes bodies of a plane, which is unbounded and has no mass; use another shape");
            return index;
        }
        sim::BodyDef body = like_;
        if (!name_.empty()) body.name = name_ + "[" + std::to_string(index - first_) + "]";
        body.type = type;
        body.shape = shape;
        body.pose = {narrowed(position), narrowed(orientation)};
        scope_.bodies->push_back(std::move(body));
        return index;
    }

    // A ball socket at a point of the scene; `a` may be kNone.
    void join_at(std::uint32_t a, std::uint32_t b, D3 point) {
        const D3 anchor = widened(narrowed(point));
        sim::BallSocket ball;
        ball.anchor_a = a == sim::kNone ? narrowed(anchor) : narrowed(anchor - position(a));
        ball.anchor_b = narrowed(anchor - position(b));
        join(a, b, ball);
    }
    void join_halfway(std::uint32_t a, std::uint32_t b) { join_at(a, b, 0.5 * (position(a) + position(b))); }
    void hold_distance(std::uint32_t a, std::uint32_t b) {
        sim::DistanceLimit rod;
        rod.min_m = rod.max_m = static_cast<float>(length(position(a) - position(b)));
        join(a, b, rod);
    }

    // A copy of a template, its frame at `frame` turned by `turn`.
    void copy(const sim::PrefabDef& group, D3 frame, DQuat turn) {
        const auto first = static_cast<std::uint32_t>(scope_.bodies->size());
        for (const sim::BodyDef& part : group.bodies) {
            const std::uint32_t body = add(part.shape, frame + rotate(turn, widened(part.pose.position)),
                                           turn * widened(part.pose.orientation), part.type);
            if (!ok()) return;
            sim::BodyDef& made = (*scope_.bodies)[body];
            const sim::Pose pose = made.pose;
            std::string name = std::move(made.name);
            made = part;
            made.name = std::move(name);
            made.pose = pose;
            made.linear_velocity = narrowed(rotate(turn, widened(part.linear_velocity)));
            made.angular_velocity = narrowed(rotate(turn, widened(part.angular_velocity)));
        }
        for (sim::JointDef joint : group.joints) {
            joint.name.clear();
            for (std::uint32_t* body : {&joint.body_a, &joint.body_b, &joint.body_c, &joint.body_d}) {
                if (*body != sim::kNone) *body += first;
            }
            scope_.joints->push_back(std::move(joint));
        }
    }
    const sim::PrefabDef& group(const std::string& name, const Path& here) {
        if (name.empty()) reader_.fail(here, "is missing; name the template to copy");
        const std::uint32_t index = library_.templates.find(reader_, name, here);
        static const sim::PrefabDef none;
        if (!reader_.ok()) return none;
        const sim::PrefabDef& found = library_.world->prefabs[index];
        const auto to_world = [](const sim::JointDef& j) {
            return j.body_a == sim::kNone || j.body_b == sim::kNone ||
                   std::holds_alternative<sim::Pulley>(j.constraint);
        };
        if (!found.actuators.empty())
            reader_.fail(here, "names a template with actuators, which need a player; remove them from the template");
        if (std::any_of(found.joints.begin(), found.joints.end(), to_world))
            reader_.fail(here, "names a template with a joint to the world; give the joint two bodies");
        return found;
    }

    D3 position(std::uint32_t body) const { return widened((*scope_.bodies)[body].pose.position); }

    // Appended to the scene's shapes; without a name.
    std::uint32_t new_box(D3 half_extents) {
        sim::ShapeDef box;
        box.type = sim::ShapeType::box;
        box.half_extents = narrowed(half_extents);
        library_.world->shapes.push_back(box);
        return static_cast<std::uint32_t>(library_.world->shapes.size() - 1);
    }

  private:
    template <class Constraint>
    void join(std::uint32_t a, std::uint32_t b, Constraint constraint) {
        sim::JointDef joint = joint_like_;
        joint.body_a = a;
        joint.body_b = b;
        constraint.spring = spring_;
        joint.constraint = constraint;
        scope_.joints->push_back(std::move(joint));
    }

    Reader& reader_;
    const std::string& name_;
    const Path& where_;
    const Library& library_;
    Scope& scope_;
    std::size_t first_;
    sim::BodyDef like_;
    sim::JointDef joint_like_;
    sim::Spring spring_;
};

// Offset of the i-th of n evenly spaced things from their middle.
double centred(std::uint32_t i, std::uint32_t n) {
    return static_cast<double>(i) - 0.5 * (static_cast<double>(n) - 1.0);
}

void make(Maker& maker, const GridGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const double px = maker.pitch(from.pitch_x, where / "pitch_x"), py = maker.pitch(from.pitch_y, where / "pitch_y"),
                 pz = maker.pitch(from.pitch_z, where / "pitch_z");
    if (from.type > BodyType::MAX) maker.reader().fail(where / "type", "is none of dynamic, static, kinematic");
    const sim::BodyType type = from.type == BodyType::static_     ? sim::BodyType::fixed
                               : from.type == BodyType::kinematic ? sim::BodyType::kinematic
                                                                  : sim::BodyType::dynamic;
    for (std::uint32_t y = 0; y < from.count_y; ++y)
        for (std::uint32_t z = 0; z < from.count_z; ++z)
            for (std::uint32_t x = 0; x < from.count_x && maker.ok(); ++x)
                maker.add(shape, origin + D3{centred(x, from.count_x) * px, y * py, centred(z, from.count_z) * pz}, {},
                          type);
}

void make(Maker& maker, const StackGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const double pitch = maker.pitch(from.pitch, where / "pitch");
    for (std::uint32_t i = 0; i < from.count && maker.ok(); ++i) maker.add(shape, origin + D3{0.0, i * pitch, 0.0});
}

void make(Maker& maker, const PyramidGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const double pitch = maker.pitch(from.pitch, where / "pitch"),
                 row_pitch = maker.pitch(from.row_pitch, where / "row_pitch");
    for (std::uint32_t row = 0; row < from.base && maker.ok(); ++row)
        for (std::uint32_t i = 0; i < from.base - row && maker.ok(); ++i)
            maker.add(shape, origin + D3{centred(i, from.base - row) * pitch, row * row_pitch, 0.0});
}

void make(Maker& maker, const ChainGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const double spacing = maker.link(from.spacing, where / "spacing"),
                 across = maker.pitch(from.chain_pitch, where / "chain_pitch"),
                 up = maker.pitch(from.layer_pitch, where / "layer_pitch");
    maker.some(from.chains, where / "chains");
    maker.some(from.links, where / "links");
    maker.some(from.chains_per_layer, where / "chains_per_layer");
    if (!maker.ok()) return;
    const std::uint32_t per_layer = std::min(from.chains, from.chains_per_layer);
    const std::uint32_t layers = per_layer == 0 ? 0 : (from.chains - 1) / per_layer + 1;
    for (std::uint32_t chain = 0; chain < from.chains; ++chain) {
        const D3 start =
            origin + D3{0.0, centred(chain / per_layer, layers) * up, centred(chain % per_layer, per_layer) * across};
        std::uint32_t previous = sim::kNone;
        for (std::uint32_t i = 0; i < from.links && maker.ok(); ++i) {
            const std::uint32_t body = maker.add(shape, start + D3{spacing * (i + 0.5), 0.0, 0.0});
            if (!maker.ok()) return;
            if (i > 0 || from.attached) maker.join_at(previous, body, start + D3{spacing * i, 0.0, 0.0});
            previous = body;
        }
    }
}

void make(Maker& maker, const NetGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const D3 along = maker.step(from.column_step.get(), {0.25, 0.0, 0.0}, where / "column_step", "column to the next"),
             across = maker.step(from.row_step.get(), {0.0, 0.0, 0.25}, where / "row_step", "row to the next");
    maker.some(from.columns, where / "columns");
    maker.some(from.rows, where / "rows");
    if (from.joint > NetJoint::MAX) maker.reader().fail(where / "joint", "is none of ball_socket, distance");
    if (from.pin > NetPin::MAX) maker.reader().fail(where / "pin", "is none of none, corners, first_row");
    const auto connect = [&](std::uint32_t a, std::uint32_t b) {
        if (from.joint == NetJoint::distance)
            maker.hold_distance(a, b);
        else
            maker.join_halfway(a, b);
    };
    for (std::uint32_t row = 0; row < from.rows; ++row)
        for (std::uint32_t column = 0; column < from.columns && maker.ok(); ++column) {
            const double c = from.centred ? centred(column, from.columns) : column,
                         r = from.centred ? centred(row, from.rows) : row;
            const bool fixed = row == 0 && from.pin == NetPin::first_row;
            const std::uint32_t body = maker.add(shape, origin + c * along + r * across, {},
                                                 fixed ? sim::BodyType::fixed : sim::BodyType::dynamic);
            if (!maker.ok()) return;
            if (column > 0) connect(body - 1, body);
            if (row > 0) connect(body - from.columns, body);
            if (row == 0 && from.pin == NetPin::corners && (column == 0 || column == from.columns - 1)) {
                maker.join_at(sim::kNone, body, maker.position(body));
            }
        }
}

void make(Maker& maker, const TreeGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const double spacing = maker.link(from.spacing, where / "spacing");
    maker.some(from.branches, where / "branches");
    maker.some(from.levels, where / "levels");
    if (from.levels > kMaxTreeLevels)
        maker.reader().fail(where / "levels", "is " + std::to_string(from.levels) + "; give at most " +
                                                  std::to_string(kMaxTreeLevels) + " (kMaxTreeLevels)");
    const auto total = static_cast<std::uint32_t>(count_tree(from));
    struct Fan {
        double middle_deg, width_deg;  // of what hangs from a body
    };
    std::vector<Fan> fans;
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < total && maker.ok(); ++i) {
        if (i == 0) {
            first = maker.add(shape, origin + D3{0.0, -0.5 * spacing, 0.0});
            if (maker.ok() && from.attached) maker.join_at(sim::kNone, first, origin);
            fans.push_back({0.0, 180.0});
            continue;
        }
        const std::uint32_t parent = first + (i - 1) / from.branches, branch = (i - 1) % from.branches;
        const Fan above = fans[parent - first];
        const double turn = above.middle_deg + above.width_deg * ((branch + 0.5) / from.branches - 0.5);
        fans.push_back({turn, above.width_deg / from.branches});
        const std::uint32_t body = maker.add(
            shape, maker.position(parent) + rotate(from_rotation_deg({0.0, 0.0, turn}), {0.0, -spacing, 0.0}));
        if (maker.ok()) maker.join_halfway(parent, body);
    }
}

void make(Maker& maker, const RingGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const double spacing = maker.link(from.spacing, where / "spacing");
    if (from.count < 3) maker.reader().fail(where / "count", "is " + std::to_string(from.count) + "; give at least 3");
    if (!maker.ok()) return;
    const auto spoke = [&](std::uint32_t i, double radius) {
        return rotate(from_rotation_deg({0.0, 0.0, -360.0 * i / from.count}), {0.0, radius, 0.0});
    };
    const double radius = spacing / length(spoke(1, 1.0) - spoke(0, 1.0));
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < from.count && maker.ok(); ++i) {
        const std::uint32_t body = maker.add(shape, origin + spoke(i, radius));
        if (!maker.ok()) return;
        if (i > 0)
            maker.join_halfway(body - 1, body);
        else
            first = body;
        if (i == 0 && from.attached) maker.join_at(sim::kNone, body, maker.position(body));
        if (i + 1 == from.count) maker.join_halfway(body, first);
    }
}

void make(Maker& maker, const BridgeGeneratorT& from, const Path& where) {
    const auto [shape, origin] = maker.begin(from, where);
    const D3 step = maker.step(from.step.get(), {0.5, 0.0, 0.0}, where / "step", "plank to the next"),
             across = maker.step(from.across.get(), {0.0, 0.0, 1.0}, where / "across", "row of joints to the other");
    maker.some(from.count, where / "count");
    if (from.ends > BridgeEnds::MAX) maker.reader().fail(where / "ends", "is none of both, first, none");
    const auto join = [&](std::uint32_t a, std::uint32_t b, D3 middle) {
        maker.join_at(a, b, middle - 0.5 * across);
        maker.join_at(a, b, middle + 0.5 * across);
    };
    for (std::uint32_t i = 0; i < from.count && maker.ok(); ++i) {
        const double place = i;
        const std::uint32_t plank = maker.add(shape, origin + (place + 0.5) * step);
        if (!maker.ok()) return;
        if (i > 0)
            join(plank - 1, plank, origin + place * step);
        else if (from.ends != BridgeEnds::none)
            join(sim::kNone, plank, origin);
        if (i + 1 == from.count && from.ends == BridgeEnds::both)
            join(sim::kNone, plank, origin + (place + 1.0) * step);
    }
}

void make(Maker& maker, const RopeLadderGeneratorT& from, const Path& where) {
    const std::uint32_t rung_shape = maker.shape(from.rung_shape, where / "rung_shape");
    const bool of_links = from.links > 0 || !from.link_shape.empty();
    const std::uint32_t link_shape = of_links ? maker.shape(from.link_shape, where / "link_shape") : 0;
    maker.material(from.material, where / "material");
    maker.rig(from, where);
    const D3 origin = maker.origin(from.origin.get(), where),
             step = maker.step(from.step.get(), {0.0, -0.3, 0.0}, where / "step", "rung to the next"),
             across = maker.step(from.across.get(), {0.0, 0.0, 0.5}, where / "across", "rope to the other");
    maker.some(from.rungs, where / "rungs");
    if (!maker.ok()) return;
    const double gap =
        from.links + 1.0;  // in pitches, from link to link; a rope's end is half of one above what hangs from it
    const D3 pitch = (1.0 / gap) * step;
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < from.rungs && maker.ok(); ++i) {
        const std::uint32_t rung = maker.add(rung_shape, origin + ((i + 1.0) * gap - 0.5) * pitch);
        if (i == 0) first = rung;
    }
    for (std::uint32_t i = 0; i < from.rungs; ++i) {
        for (const double side : {-0.5, 0.5}) {
            const D3 end = origin + side * across;
            const double above = i * gap;  // pitches, from the rope's end to the gap's first socket
            std::uint32_t previous = i > 0 ? first + i - 1 : sim::kNone;
            for (std::uint32_t k = 0; k <= from.links && maker.ok(); ++k) {
                const std::uint32_t body =
                    k < from.links ? maker.add(link_shape, end + (above + k + 0.5) * pitch) : first + i;
                if (!maker.ok()) return;
                if (previous != sim::kNone || from.attached) maker.join_at(previous, body, end + (above + k) * pitch);
                previous = body;
            }
        }
    }
}

void make(Maker& maker, const RainGeneratorT& from, const Path& where) {
    if (from.shapes.empty() || from.shapes.size() > kMaxRainShapes) {
        maker.reader().fail(where / "shapes", "has " + std::to_string(from.shapes.size()) + " entries; name 1 to " +
                                                  std::to_string(kMaxRainShapes) + " shapes (kMaxRainShapes)");
        return;
    }
    maker.some(from.side, where / "side");
    std::vector<std::uint32_t> shapes;
    for (std::size_t i = 0; i < from.shapes.size(); ++i)
        shapes.push_back(maker.shape(from.shapes[i], where.element("shapes", i)));
    maker.material(from.material, where / "material");
    const D3 origin = maker.origin(from.origin.get(), where);
    const double pitch = maker.pitch(from.pitch, where / "pitch");
    const std::uint64_t side = from.side;
    Lcg random(from.random_seed);
    for (std::uint32_t i = 0; i < from.count && maker.ok(); ++i) {
        const auto x = static_cast<std::uint32_t>(i % side), z = static_cast<std::uint32_t>(i / side % side);
        const auto y = static_cast<double>(i / (side * side));
        const D3 offset{centred(x, from.side) * pitch, y * pitch, centred(z, from.side) * pitch};
        maker.add(shapes[i % shapes.size()], origin + offset, random.rotation());
    }
}

void make(Maker& maker, const ArenaGeneratorT& from, const Path& where) {
    maker.material(from.material, where / "material");
    const D3 origin = maker.origin(from.origin.get(), where);
    const double x = maker.extent(from.half_x, where / "half_x"), z = maker.extent(from.half_z, where / "half_z"),
                 h = maker.extent(from.height, where / "height"),
                 t = maker.extent(from.half_thickness, where / "half_thickness"),
                 margin = maker.reader().number(from.margin, where / "margin", 0.0, kMaxLength_m, "kMaxCoordinate_m");
    if (!maker.ok()) return;
    const std::uint32_t floor = maker.new_box({x + margin, t, z + margin}),
                        wall_x = maker.new_box({t, h / 2, z + 2 * t}), wall_z = maker.new_box({x + 2 * t, h / 2, t});
    maker.add(floor, origin + D3{0.0, -t, 0.0}, {}, sim::BodyType::fixed);
    for (const double side : {-1.0, 1.0}) {
        maker.add(wall_x, origin + D3{side * (x + t), h / 2, 0.0}, {}, sim::BodyType::fixed);
        maker.add(wall_z, origin + D3{0.0, h / 2, side * (z + t)}, {}, sim::BodyType::fixed);
    }
}

void make(Maker& maker, const CrowdGeneratorT& from, const Path& where) {
    const sim::PrefabDef& group = maker.group(from.template_, where / "template");
    maker.some(from.side_x, where / "side_x");
    maker.some(from.side_z, where / "side_z");
    const D3 origin = maker.origin(from.origin.get(), where);
    const double px = maker.pitch(from.pitch_x, where / "pitch_x"), py = maker.pitch(from.pitch_y, where / "pitch_y"),
                 pz = maker.pitch(from.pitch_z, where / "pitch_z"),
                 tilt = maker.reader().number(from.max_tilt_deg, where / "max_tilt_deg", 0.0, 180.0);
    const D3 pivot = from.tilt_pivot ? maker.reader().vector(*from.tilt_pivot, where / "tilt_pivot", kMaxLength_m,
                                                             "kMaxCoordinate_m")
                                     : D3{};
    const std::uint64_t layer = std::uint64_t{from.side_x} * from.side_z;
    Lcg random(from.random_seed);
    for (std::uint32_t i = 0; i < from.count && maker.ok(); ++i) {
        const auto x = i % from.side_x, z = i / from.side_x % from.side_z;
        const auto y = static_cast<double>(i / layer);
        const double about_x = (2.0 * random.unit() - 1.0) * tilt;
        const double about_z = (2.0 * random.unit() - 1.0) * tilt;
        const DQuat turn = from_rotation_deg({about_x, 0.0, 0.0}) * from_rotation_deg({0.0, 0.0, about_z});
        const D3 place = origin + D3{centred(x, from.side_x) * px, y * py, centred(z, from.side_z) * pz};
        maker.copy(group, place + pivot - rotate(turn, pivot), turn);
    }
}

}  // namespace

Count count_generator(const GeneratorT& from, const SceneT& scene) {
    Count count;
    if (from.grid) count.bodies += multiply(multiply(from.grid->count_x, from.grid->count_y), from.grid->count_z);
    if (from.stack) count.bodies += from.stack->count;
    if (from.pyramid) count.bodies += multiply(from.pyramid->base, std::uint64_t{from.pyramid->base} + 1) / 2;
    if (from.chain) {
        const std::uint64_t links = multiply(from.chain->chains, from.chain->links);
        count.bodies += links;
        count.joints += links;
        if (from.chain->links == 0 && from.chain->chains > 0)
            count.bodies += from.chain->chains;  // empty chains cost time, too
    }
    if (from.net) {
        const Count net = count_net(*from.net);
        count.bodies += net.bodies;
        count.joints += net.joints;
        if (from.net->columns == 0) count.bodies += from.net->rows;
    }
    if (from.rain) count.bodies += from.rain->count;
    if (from.arena) count.bodies += 5;
    if (from.tree) {
        count.bodies += count_tree(*from.tree);
        count.joints += count_tree(*from.tree);
    }
    if (from.ring) {
        count.bodies += from.ring->count;
        count.joints += std::uint64_t{from.ring->count} + 1;
    }
    if (from.bridge) {
        count.bodies += from.bridge->count;
        count.joints += 2 * (std::uint64_t{from.bridge->count} + 1);
    }
    if (from.rope_ladder) {
        const Count ladder = count_rope_ladder(*from.rope_ladder);
        count.bodies += ladder.bodies;
        count.joints += ladder.joints;
    }
    if (from.crowd) {
        for (const auto& group : scene.templates) {
            if (group->name != from.crowd->template_) continue;
            count.bodies += multiply(from.crowd->count, group->bodies.size());
            count.joints += multiply(from.crowd->count, group->joints.size());
        }
    }
    if (from.grid && count.bodies == 0)
        count.bodies = multiply(from.grid->count_y, from.grid->count_z) + from.grid->count_y;
    return count;
}

void expand_generator(Reader& reader, const GeneratorT& from, const Path& where, const Library& library, Scope& scope) {
    if (count_kinds(from) != 1) {
        reader.fail(where,
                    "needs exactly one of grid, stack, pyramid, chain, net, rain, arena, crowd, tree, ring, bridge, "
                    "rope_ladder");
        return;
    }
    Maker maker(reader, from.name, where, library, scope);
    if (from.grid) make(maker, *from.grid, where / "grid");
    if (from.stack) make(maker, *from.stack, where / "stack");
    if (from.pyramid) make(maker, *from.pyramid, where / "pyramid");
    if (from.chain) make(maker, *from.chain, where / "chain");
    if (from.net) make(maker, *from.net, where / "net");
    if (from.rain) make(maker, *from.rain, where / "rain");
    if (from.arena) make(maker, *from.arena, where / "arena");
    if (from.crowd) make(maker, *from.crowd, where / "crowd");
    if (from.tree) make(maker, *from.tree, where / "tree");
    if (from.ring) make(maker, *from.ring, where / "ring");
    if (from.bridge) make(maker, *from.bridge, where / "bridge");
    if (from.rope_ladder) make(maker, *from.rope_ladder, where / "rope_ladder");
}

}  // namespace orrery::protocol::scene
