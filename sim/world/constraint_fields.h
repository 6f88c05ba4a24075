// The fields of every constraint in their one canonical order: what is hashed, saved and restored of a joint.
#pragma once

#include "orrery/sim.hpp"
#include "sim/constraints/fields.h"

namespace orrery::sim {

template <class Writer>
struct PutFields : FieldVisitor<PutFields<Writer>> {
    Writer& out;
    explicit PutFields(Writer& w) : out(w) {}
    template <class T>
    void value(const T& x) {
        out.put(x);
    }
};
template <class Reader>
struct GetFields : FieldVisitor<GetFields<Reader>> {
    Reader& in;
    explicit GetFields(Reader& r) : in(r) {}
    template <class T>
    void value(T& x) {
        in.get(x);
    }
};

template <class Writer>
void put_constraint(Writer& out, const Constraint& constraint) {
    out.put(static_cast<std::uint8_t>(constraint.index()));
    PutFields<Writer> put(out);
    std::visit([&]<class T>(const T& c) { T::fields(c, put); }, constraint);
}

// The bodies beyond two, where the constraint has them.
template <class Writer>
void put_more_bodies(Writer& out, const Constraint& constraint, std::uint32_t c, std::uint32_t d) {
    const int count = body_count(constraint);
    if (count >= 3) out.put(c);
    if (count >= 4) out.put(d);
}

// False for an unknown type; whether the values make sense is check_constraint's to say.
template <class Reader, std::size_t I = 0>
bool get_constraint(Reader& in, std::size_t type, Constraint& constraint) {
    if constexpr (I == kConstraintTypes) {
        return false;
    } else {
        if (type != I) return get_constraint<Reader, I + 1>(in, type, constraint);
        auto& c = constraint.emplace<I>();
        GetFields<Reader> get(in);
        std::variant_alternative_t<I, Constraint>::fields(c, get);
        return in.ok();
    }
}

}  // namespace orrery::sim
