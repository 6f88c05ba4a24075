// Reads the description of a constraint from its table in a scene. The reader is the same for all constraints: it goes
// by the fields that the description visits (sim/constraints/fields.h) and by the names that the schema has.
//
// A visited field `x` is read from the scene's field `x`, an angle `x_rad` from `x_deg`. Two kinds of fields can also
// be given in the frame of the scene, as the bodies stand at the start:
//
//   points        `at` gives `anchor_a` and `anchor_b`
//   directions    `axis` gives `axis_a` and `axis_b`, and likewise for any name; the attribute `in_scene` names
//                 another field. All directions of a constraint are given in one of the two frames. In the frame of
//                 the scene, a direction without such a field (`normal_a`) is perpendicular to the first of the others.
//
// Where a field is absent:
//
//   a point       is the body's centre; a point of the world is where the point of B is at the start
//   a turn        is as at the start
//   a number      has its default in the schema; if it has none, it is what the description's `at_start` measures, or
//                 else the description's own default
//   a flag        has no field: it is set if both ends of the range after it are given
//   all others    have the description's own default
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/sim.hpp"
#include "protocol/scene/geometry.h"
#include "protocol/scene/reader.h"
#include "protocol/scene/schema.h"
#include "sim/constraints/fields.h"

namespace orrery::protocol::scene {

// The frame of a body at the start, or the world's frame for no body.
struct Frame {
    D3 position;
    DQuat orientation;

    D3 to_local(D3 point) const { return rotate(conjugate(orientation), point - position); }
    D3 axis_to_local(D3 axis) const { return rotate(conjugate(orientation), axis); }
    D3 to_scene(D3 point) const { return position + rotate(orientation, point); }
};

struct Ends {
    Frame a, b, c, d;
};

// Where the bodies of a joint are at the start, for a description's `at_start`: m, double precision, in the frame of
// the scene.
struct Start {
    const Ends& ends;

    D3 a(sim::Vec3 local = {}) const { return ends.a.to_scene(widened(local)); }
    D3 b(sim::Vec3 local = {}) const { return ends.b.to_scene(widened(local)); }
    D3 c() const { return ends.c.position; }
    D3 d() const { return ends.d.position; }
    D3 point(sim::Vec3 in_scene) const { return widened(in_scene); }
};

class JointFields : public sim::FieldVisitor<JointFields> {
  public:
    // `one_body`: A is the world. `at_start` may be empty.
    JointFields(Reader& reader, const SchemaTable& schema, const flatbuffers::Table& from, const Ends& ends,
                bool one_body, std::function<double()> at_start, const Path& where)
        : reader_(reader),
          schema_(schema),
          from_(from),
          ends_(ends),
          one_body_(one_body),
          at_start_(std::move(at_start)),
          where_(where) {}

    void point(sim::Side side, const char* name, sim::Vec3& to);
    void world_point(const char* name, sim::Vec3& to);
    void direction(sim::Side side, const char* name, sim::Vec3& to);
    void velocity(sim::Side side, const char* name, sim::Vec3& to, float limit);
    void turn(const char* name, sim::Quat& to);
    void number(const char* name, float& to, float low, float high);
    void speed(const char* name, float& to, float limit);
    void amount(const char* name, float& to);
    void flag(bool& to) { flag_ = &to; }
    void spring(const char* name, sim::Spring& to);
    void servo(const char* name, sim::Servo& to);
    void motor(const char* name, sim::Motor& to);
    void ordered(const char* low_name, float, const char* high_name, float);
    void perpendicular(const char* name, const sim::Vec3&, const char* to_name, const sim::Vec3&);
    // Called after all fields. Directions are computed here, once all are known.
    void finish();

  private:
    struct Number {
        std::string_view name;  // in the description
        const SchemaField* field;
        double written;  // in the unit of the scene
        bool given;
    };
    struct Direction {
        std::string_view name;
        sim::Side side;
        sim::Vec3* to;
        const SchemaField* local;
        const SchemaField* in_scene;  // null: perpendicular to the first of the others
        D3 source;                    // unit, in the frame in which it is given
    };
    struct Relation {
        std::string_view name, to_name;
    };

    const SchemaField* find(std::string_view name, std::string_view type);
    // Of a struct or a table; null: absent.
    template <class T>
    const T* given(const SchemaField* field) const {
        if (!field) return nullptr;
        return field->table->is_struct ? from_.GetStruct<const T*>(field->offset)
                                       : from_.GetPointer<const T*>(field->offset);
    }
    template <class T>
    const T* given(const char* name, std::string_view type) {
        return given<T>(find(name, type));
    }
    const Frame& frame(sim::Side side) const { return side == sim::Side::a ? ends_.a : ends_.b; }
    void read_number(const char* name, float& to, double low, double high, std::string_view limit);
    bool place_is_clear();
    std::string ways() const;  // text: how to give the directions
    bool directions_in_scene();
    Direction* direction(std::string_view name);
    const Number* number(std::string_view name) const;

    Reader& reader_;
    const SchemaTable& schema_;
    const flatbuffers::Table& from_;
    const Ends& ends_;
    bool one_body_;
    std::function<double()> at_start_;
    const Path& where_;
    D3 point_of_b_;  // in the frame of the scene
    bool* flag_ = nullptr;
    std::vector<Number> numbers_;
    std::vector<Direction> directions_;
    std::vector<Relation> perpendicular_;
};

template <class T>
T convert_fields(Reader& reader, const SchemaTable& schema, const flatbuffers::Table& from, const Ends& ends,
                 const Path& where) {
    T to;
    std::function<double()> at_start;
    if constexpr (requires { T::at_start(to, Start{ends}); }) at_start = [&] { return T::at_start(to, Start{ends}); };
    JointFields fields(reader, schema, from, ends, sim::body_count<T>() == 1, std::move(at_start), where);
    T::fields(to, fields);
    fields.finish();
    return to;
}

}  // namespace orrery::protocol::scene
