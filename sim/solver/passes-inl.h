// The passes over bundles, written once for all kinds.

#if defined(ORRERY_SOLVER_PASSES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_SOLVER_PASSES_INL_H_
#undef ORRERY_SOLVER_PASSES_INL_H_
#else
#define ORRERY_SOLVER_PASSES_INL_H_
#endif

#include "sim/constraints/bundle-inl.h"
#include "sim/constraints/contact-inl.h"
#include "sim/constraints/list-inl.h"
#include "sim/constraints/nonconvex_contact-inl.h"
#include "sim/solver/kernels.h"
#include "sim/solver/thin-inl.h"

ORRERY_LANES_BEGIN

// The two bodies of a vector of lanes: their velocities are read at the start and written back at the end.
template <class F>
struct BodyPair {
    const StepContext& context;
    const RecordPlace *rows_a, *rows_b;
    std::uint32_t write_a, write_b;

    ORRERY_FN BodyPair(const StepContext& c, const BundleHead& head, std::uint32_t lane)
        : context(c),
          rows_a(head.body_a + lane),
          rows_b(head.body_b + lane),
          write_a(head.write_a >> lane),
          write_b(head.write_b >> lane) {}
    ORRERY_FN VelocityT<F> velocity_a() const { return gather_velocity<F>(context.velocity->linear, rows_a); }
    ORRERY_FN VelocityT<F> velocity_b() const { return gather_velocity<F>(context.velocity->linear, rows_b); }
    ORRERY_FN VelocityT<F> delta_a() const { return gather_velocity<F>(context.delta->linear, rows_a); }
    ORRERY_FN VelocityT<F> delta_b() const { return gather_velocity<F>(context.delta->linear, rows_b); }
    ORRERY_FN PoseT<F> pose_a() const { return gather_pose<F>(context.pose->position, rows_a); }
    ORRERY_FN PoseT<F> pose_b() const { return gather_pose<F>(context.pose->position, rows_b); }
    ORRERY_FN InertiaT<F> inertia_a() const { return gather_inertia<F>(context.inertia->inverse_inertia, rows_a); }
    ORRERY_FN InertiaT<F> inertia_b() const { return gather_inertia<F>(context.inertia->inverse_inertia, rows_b); }
    ORRERY_FN void write(const VelocityT<F>& a, const VelocityT<F>& b) const {
        scatter_velocity<F>(context.velocity->linear, rows_a, write_a, a);
        scatter_velocity<F>(context.velocity->linear, rows_b, write_b, b);
    }
};

// Of contacts of thin bodies, which are seen as they were when the tick began.
template <class F>
struct ThinPair : BodyPair<F> {
    StartFrame<F> frame_a, frame_b;
    ORRERY_FN ThinPair(const StepContext& c, const BundleHead& head, std::uint32_t lane)
        : BodyPair<F>(c, head, lane),
          frame_a(StartFrame<F>::of(c, this->rows_a, this->pose_a().orientation)),
          frame_b(StartFrame<F>::of(c, this->rows_b, this->pose_b().orientation)) {}
    ORRERY_FN VelocityT<F> velocity_a() const {
        const VelocityT<F> v = BodyPair<F>::velocity_a();
        return {v.linear, frame_a.back(v.angular)};
    }
    ORRERY_FN VelocityT<F> velocity_b() const {
        const VelocityT<F> v = BodyPair<F>::velocity_b();
        return {v.linear, frame_b.back(v.angular)};
    }
    ORRERY_FN void write(const VelocityT<F>& a, const VelocityT<F>& b) const {
        BodyPair<F>::write({a.linear, frame_a.forth(a.angular)}, {b.linear, frame_b.forth(b.angular)});
    }
};

// A pass goes over bundles and, in each, over the vectors that have a lane in use. Plain loops: a lambda would be
// compiled without the target's instructions.
#define ORRERY_FOR_EACH_VECTOR                                                                                \
    std::byte* const first = static_cast<std::byte*>(bundles);                                                \
    Bundle* each = static_cast<Bundle*>(bundles);                                                             \
    for (std::uint32_t k = 0; k < count; each = reinterpret_cast<Bundle*>(first + std::size_t(++k) * stride)) \
        for (std::uint32_t lane = 0; lane < each->head.count; lane += static_cast<std::uint32_t>(lanes<F>())) \
            if (Bundle* const bundle = forget_origin(each); true)

// ---- joints

// What a constraint says of its own, value and Jacobian, is compiled once, into one function that prepare and relax
// call.
template <class Functions, class Bundle, class F>
ORRERY_ONCE void refresh_vector(const StepContext& context, Bundle& bundle, std::uint32_t lane) {
    const BodyPair<F> pair(context, bundle.head, lane);
    Functions::template refresh<F>(bundle, lane, context.step, pair.pose_a(), pair.pose_b(), pair.inertia_a(),
                                   pair.inertia_b());
}

template <class Functions, class Bundle, class F>
void prepare_joints(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    ORRERY_FOR_EACH_VECTOR {
        const F zero(0.0f);
        put(bundle->force.linear, lane, Vec3T<F>{zero, zero, zero});
        put(bundle->force.angular, lane, Vec3T<F>{zero, zero, zero});
        Functions::template prepare<F>(*bundle, lane, context.step);
        refresh_vector<Functions, Bundle, F>(context, *bundle, lane);
    }
}

template <class Functions, class F>
void warm_start(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        const BodyPair<F> pair(context, bundle->head, lane);
        VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
        Functions::template warm_start<F>(*bundle, lane, a, b);
        pair.write(a, b);
    }
}

template <class Functions, class F>
void solve_joints(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        const BodyPair<F> pair(context, bundle->head, lane);
        VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
        Functions::template solve<false, F>(*bundle, lane, context.step, Functions::template bias<F>(*bundle, lane), a,
                                            b);
        pair.write(a, b);
    }
}

// The poses have moved: everything that depends on them is made anew, and serves the next substep too. A user's spring
// keeps the bias of the substep that it was integrated in.
template <class Functions, class F>
void relax_joints(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        const auto bias = Functions::template bias<F>(*bundle, lane);
        refresh_vector<Functions, Bundle, F>(context, *bundle, lane);
        const BodyPair<F> pair(context, bundle->head, lane);
        VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
        Functions::template solve<true, F>(*bundle, lane, context.step, bias, a, b);
        pair.write(a, b);
        Functions::template accumulate<F>(*bundle, lane);
    }
}

template <class Functions, class F>
void finish_joints(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        JointForceRows& rows = bundle->force;
        const F inverse_dt(context.step.inverse_dt);
        const F force = length(get<F>(rows.linear, lane)) * inverse_dt;
        const F torque = length(get<F>(rows.angular, lane)) * inverse_dt;
        put(rows.force_n, lane, force);
        put(rows.torque_nm, lane, torque);
        const MaskOf<F> broken =
            (force > get<F>(rows.break_force_n, lane)) | (torque > get<F>(rows.break_torque_nm, lane));
        put(rows.broken, lane, select(broken, F(1.0f), F(0.0f)));
        Functions::template finish<F>(*bundle, lane);
    }
}

// ---- joints of a form that many constraints share: what is not the constraint's own is compiled once a form

template <class Form, class F>
ORRERY_ONCE void relax_vector(const StepContext& context, typename Form::Bundle& bundle, std::uint32_t lane,
                              const typename Form::template Bias<F>& bias) {
    const BodyPair<F> pair(context, bundle.head, lane);
    VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
    Form::template solve<true, F>(bundle, lane, context.step, bias, a, b);
    pair.write(a, b);
    Form::template accumulate<F>(bundle, lane);
}

template <class Functions, class Bundle, class F>
void relax_form(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Form = typename Functions::Form;
    ORRERY_FOR_EACH_VECTOR {
        const auto bias = Form::template bias<F>(*bundle, lane);
        refresh_vector<Functions, Bundle, F>(context, *bundle, lane);
        relax_vector<Form, F>(context, *bundle, lane, bias);
    }
}

// ---- joints of three or four bodies

template <class F>
struct BodyCrowd {
    const StepContext& context;
    const RecordPlace* rows[4];
    std::uint32_t write[4];

    ORRERY_FN BodyCrowd(const StepContext& c, const ManyHead& many, std::uint32_t lane)
        : context(c),
          rows{many.head.body_a + lane, many.head.body_b + lane, many.body_c + lane, many.body_d + lane},
          write{many.head.write_a >> lane, many.head.write_b >> lane, many.write_c >> lane, many.write_d >> lane} {}
    ORRERY_FN VelocityT<F> velocity(std::size_t i) const {
        return gather_velocity<F>(context.velocity->linear, rows[i]);
    }
    ORRERY_FN void store(const VelocityT<F> (&v)[4]) const {
        for (std::size_t i = 0; i < 4; ++i) scatter_velocity<F>(context.velocity->linear, rows[i], write[i], v[i]);
    }
};

template <class Functions, class F>
ORRERY_ONCE void refresh_crowd(const StepContext& context, typename Functions::Bundle& bundle, std::uint32_t lane) {
    const BodyCrowd<F> crowd(context, bundle, lane);
    const Vec3T<F> positions[4] = {gather_pose<F>(context.pose->position, crowd.rows[0]).position,
                                   gather_pose<F>(context.pose->position, crowd.rows[1]).position,
                                   gather_pose<F>(context.pose->position, crowd.rows[2]).position,
                                   gather_pose<F>(context.pose->position, crowd.rows[3]).position};
    const F inverse_mass[4] = {gather_inertia<F>(context.inertia->inverse_inertia, crowd.rows[0]).inverse_mass,
                               gather_inertia<F>(context.inertia->inverse_inertia, crowd.rows[1]).inverse_mass,
                               gather_inertia<F>(context.inertia->inverse_inertia, crowd.rows[2]).inverse_mass,
                               gather_inertia<F>(context.inertia->inverse_inertia, crowd.rows[3]).inverse_mass};
    Functions::template refresh<F>(bundle, lane, context.step, positions, inverse_mass);
}

template <class Functions, class F>
void prepare_crowds(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        const F zero(0.0f);
        put(bundle->force.linear, lane, Vec3T<F>{zero, zero, zero});
        put(bundle->force.angular, lane, Vec3T<F>{zero, zero, zero});
        Functions::template prepare<F>(*bundle, lane, context.step);
        refresh_crowd<Functions, F>(context, *bundle, lane);
    }
}

template <class Form, class F>
void warm_start_crowds(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Form::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        const BodyCrowd<F> crowd(context, *bundle, lane);
        VelocityT<F> v[4] = {crowd.velocity(0), crowd.velocity(1), crowd.velocity(2), crowd.velocity(3)};
        Form::template warm_start<F>(*bundle, lane, v);
        crowd.store(v);
    }
}

template <class Form, class F>
void solve_crowds(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Form::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        const BodyCrowd<F> crowd(context, *bundle, lane);
        VelocityT<F> v[4] = {crowd.velocity(0), crowd.velocity(1), crowd.velocity(2), crowd.velocity(3)};
        Form::template solve<false, F>(*bundle, lane, Form::template bias<F>(*bundle, lane), v);
        crowd.store(v);
    }
}

template <class Functions, class F>
void relax_crowds(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    using Form = typename Functions::ManyBodies;
    ORRERY_FOR_EACH_VECTOR {
        const auto bias = Form::template bias<F>(*bundle, lane);
        refresh_crowd<Functions, F>(context, *bundle, lane);
        const BodyCrowd<F> crowd(context, *bundle, lane);
        VelocityT<F> v[4] = {crowd.velocity(0), crowd.velocity(1), crowd.velocity(2), crowd.velocity(3)};
        Form::template solve<true, F>(*bundle, lane, bias, v);
        crowd.store(v);
        Form::template accumulate<F>(*bundle, lane);
    }
}

// ---- contacts

template <class Functions, class F>
void prepare_contacts(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        const BodyPair<F> pair(context, bundle->head, lane);
        Functions::template prepare<F>(*bundle, lane, context.step, pair.pose_a(), pair.pose_b(), pair.inertia_a(),
                                       pair.inertia_b());
    }
}

template <bool kRelax, class Functions, class F>
ORRERY_ONCE void solve_thin(const StepContext& context, typename Functions::Bundle& bundle, std::uint32_t lane) {
    const ThinPair<F> pair(context, bundle.head, lane);
    VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
    if constexpr (kRelax)
        Functions::template relax_thin<F>(bundle, lane, context.step, pair.delta_a(), pair.delta_b(), a, b);
    else
        Functions::template solve<false, F>(bundle, lane, context.step, pair.delta_a(), pair.delta_b(), a, b);
    pair.write(a, b);
}

template <bool kRelax, class Functions, class F>
void solve_contacts(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        if (bundle->head.thin != 0) {
            solve_thin<kRelax, Functions, F>(context, *bundle, lane);
            continue;
        }
        const BodyPair<F> pair(context, bundle->head, lane);
        VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
        Functions::template solve<kRelax, F>(*bundle, lane, context.step, pair.delta_a(), pair.delta_b(), a, b);
        pair.write(a, b);
    }
}

// What the first of the substep summed up is taken back before.
template <class Functions, class F>
void relax_contacts_again(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        for (std::uint32_t point = 0; point < bundle->head.points; ++point)
            ContactFunctions::take_back<F>(point_rows(*bundle, point), lane);
    }
    solve_contacts<true, Functions, F>(context, bundles, count, stride);
}

template <class Functions, class Bundle, class F>
ORRERY_ONCE void note_thin(const StepContext& context, Bundle& bundle, std::uint32_t lane) {
    const ThinPair<F> pair(context, bundle.head, lane);
    Functions::template note_speed<F>(bundle, lane, pair.velocity_a(), pair.velocity_b());
}
template <class Functions, class Bundle, class F>
ORRERY_ONCE void restitute_thin(const StepContext& context, Bundle& bundle, std::uint32_t lane) {
    const ThinPair<F> pair(context, bundle.head, lane);
    VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
    Functions::template restitute<F>(bundle, lane, context.step, a, b);
    pair.write(a, b);
}
template <class Functions, class Bundle, class F>
void note_speeds(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    ORRERY_FOR_EACH_VECTOR {
        if (bundle->head.bounces == 0) continue;
        if (bundle->head.thin != 0) {
            note_thin<Functions, Bundle, F>(context, *bundle, lane);
            continue;
        }
        const BodyPair<F> pair(context, bundle->head, lane);
        Functions::template note_speed<F>(*bundle, lane, pair.velocity_a(), pair.velocity_b());
    }
}

template <class Functions, class Bundle, class F>
void restitute_contacts(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    ORRERY_FOR_EACH_VECTOR {
        if (bundle->head.bounces == 0) continue;
        if (bundle->head.thin != 0) {
            restitute_thin<Functions, Bundle, F>(context, *bundle, lane);
            continue;
        }
        const BodyPair<F> pair(context, bundle->head, lane);
        VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
        Functions::template restitute<F>(*bundle, lane, context.step, a, b);
        pair.write(a, b);
    }
}

template <class Functions, class F>
void finish_contacts(const StepContext&, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR { Functions::template finish<F>(*bundle, lane); }
}

template <class Functions, class F>
ORRERY_ONCE void warm_start_thin(const StepContext& context, const typename Functions::Bundle& bundle,
                                 std::uint32_t lane) {
    const ThinPair<F> pair(context, bundle.head, lane);
    VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
    Functions::template warm_start<F>(bundle, lane, a, b);
    pair.write(a, b);
}
template <class Functions, class F>
void warm_start_contacts(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = typename Functions::Bundle;
    ORRERY_FOR_EACH_VECTOR {
        if (bundle->head.thin != 0) {
            warm_start_thin<Functions, F>(context, *bundle, lane);
            continue;
        }
        const BodyPair<F> pair(context, bundle->head, lane);
        VelocityT<F> a = pair.velocity_a(), b = pair.velocity_b();
        Functions::template warm_start<F>(*bundle, lane, a, b);
        pair.write(a, b);
    }
}

// ---- contacts with a ContactSurface: what is theirs alone

template <class F>
void prepare_surface_contacts(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = SurfaceContactBundle;
    prepare_contacts<ContactFunctions, F>(context, bundles, count, stride);
    ORRERY_FOR_EACH_VECTOR {
        SurfaceContactFunctions::prepare_rolling<F>(*bundle, lane);
        SurfaceContactFunctions::prepare_spring<F>(*bundle, lane, context.step);
    }
}

template <class F>
void finish_surface_contacts(const StepContext& context, void* bundles, std::uint32_t count, std::uint32_t stride) {
    using Bundle = SurfaceContactBundle;
    finish_contacts<ContactFunctions, F>(context, bundles, count, stride);
    ORRERY_FOR_EACH_VECTOR { SurfaceContactFunctions::finish_rolling<F>(*bundle, lane); }
}

#undef ORRERY_FOR_EACH_VECTOR

template <class Functions, class Bundle, class F>
constexpr KindKernels joint_kernels() {
    if constexpr (requires { typename Functions::Form; }) {
        using Form = typename Functions::Form;
        return {prepare_joints<Functions, Bundle, F>,
                warm_start<Form, F>,
                solve_joints<Form, F>,
                relax_form<Functions, Bundle, F>,
                nullptr,
                nullptr,
                nullptr,
                finish_joints<Form, F>};
    } else if constexpr (requires { typename Functions::ManyBodies; }) {
        using Form = typename Functions::ManyBodies;
        return {prepare_crowds<Functions, F>,
                warm_start_crowds<Form, F>,
                solve_crowds<Form, F>,
                relax_crowds<Functions, F>,
                nullptr,
                nullptr,
                nullptr,
                finish_joints<Form, F>};
    } else {
        return {prepare_joints<Functions, Bundle, F>,
                warm_start<Functions, F>,
                solve_joints<Functions, F>,
                relax_joints<Functions, F>,
                nullptr,
                nullptr,
                nullptr,
                finish_joints<Functions, F>};
    }
}
template <class Functions, class F>
constexpr KindKernels kernels_of_contacts(BundleKernel note_speed, BundleKernel restitute) {
    return {prepare_contacts<Functions, F>,
            warm_start_contacts<Functions, F>,
            solve_contacts<false, Functions, F>,
            solve_contacts<true, Functions, F>,
            relax_contacts_again<Functions, F>,
            note_speed,
            restitute,
            finish_contacts<Functions, F>};
}
template <class F>
constexpr KindKernels contact_kernels() {
    return kernels_of_contacts<ContactFunctions, F>(nullptr, nullptr);
}
template <class F>
constexpr KindKernels bouncing_contact_kernels() {
    return kernels_of_contacts<ContactFunctions, F>(note_speeds<ContactFunctions, BouncingContactBundle, F>,
                                                    restitute_contacts<ContactFunctions, BouncingContactBundle, F>);
}
template <class F>
constexpr KindKernels nonconvex_contact_kernels() {
    return kernels_of_contacts<NonconvexContactFunctions, F>(
        note_speeds<NonconvexContactFunctions, NonconvexContactBundle, F>,
        restitute_contacts<NonconvexContactFunctions, NonconvexContactBundle, F>);
}
template <class F>
constexpr KindKernels surface_contact_kernels() {
    return {prepare_surface_contacts<F>,
            warm_start_contacts<SurfaceContactFunctions, F>,
            solve_contacts<false, SurfaceContactFunctions, F>,
            solve_contacts<true, SurfaceContactFunctions, F>,
            relax_contacts_again<SurfaceContactFunctions, F>,
            note_speeds<ContactFunctions, BouncingContactBundle, F>,
            restitute_contacts<ContactFunctions, BouncingContactBundle, F>,
            finish_surface_contacts<F>};
}

// The kernels of each joint: defined where its part of the list is compiled, per lane namespace.
#define ORRERY_CONSTRAINT(T, name) extern const KindKernels k##T##Kernels;
ORRERY_CONSTRAINTS(ORRERY_CONSTRAINT)
#undef ORRERY_CONSTRAINT
#define ORRERY_JOINT_KERNELS(T, name) \
    constinit const KindKernels k##T##Kernels = joint_kernels<T##Functions, T##Bundle, Number>();

ORRERY_LANES_END

#endif
