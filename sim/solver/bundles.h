// The bundles of a tick: every kind of constraint (kinds.h).
#pragma once

#include "sim/constraints/contact-inl.h"
#include "sim/constraints/list-inl.h"
#include "sim/constraints/nonconvex_contact-inl.h"
#include "sim/solver/kinds.h"

namespace orrery::sim {

template <class Description>
struct BundleFor;
#define ORRERY_CONSTRAINT(T, name) \
    template <>                    \
    struct BundleFor<T> {          \
        using type = T##Bundle;    \
    };
ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT

}  // namespace orrery::sim
