// A long chain of round bodies by itself (chain-inl.h), all substeps of a tick: cut into as many pieces as a bundle has
// lanes, on every target. Piece k lies in lane k, with L joints in slots 2 to L + 1. The last one is a separator.
//
//   slot 0: body | 1: separator of the piece before, its body | 2: joint, body | ... | L + 1: separator, body |
//   L + 2: joint, body
//
// The system of chain-inl.h is solved exactly, in another order: first all joints but the separators are eliminated,
// piece by piece. In each piece z, the impulse of the separator before it, stays unknown:
//
//   down  S(s) x(s) - B(s)^T x(s+1) = y(s) + R(s) z,  R(2) = B(1),  R(s) = B(s-1) S(s-1)^-1 R(s-1)
//
// The joints of a piece that are no separators take T from the block of the separator before it and add t to its
// right-hand side:
//
//   T = sum of R(s)^T S(s)^-1 R(s),  t = sum of R(s)^T S(s)^-1 y(s)
//
// So the separators are a chain of kBundleLanes joints (S, y and R are those of their own row):
//
//   (S(k) - T(k+1)) z(k) - R(k) z(k-1) - R(k+1)^T z(k+1) = y(k) + t(k+1)
//
//   up    x(s) = S(s)^-1 (y(s) + R(s) z + B(s)^T x(s+1))
//
// A body in slot 1 is computed twice, here and in its own piece, to the same bits. Of the bodies in slots 0 and L + 2
// only what slots 1 and L + 1 need of them is kept up to date.

#if defined(ORRERY_RIGS_CHAIN_CHAIN_CUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_RIGS_CHAIN_CHAIN_CUT_INL_H_
#undef ORRERY_RIGS_CHAIN_CHAIN_CUT_INL_H_
#else
#define ORRERY_RIGS_CHAIN_CHAIN_CUT_INL_H_
#endif

#include "sim/rigs/chain/chain_alone-inl.h"

ORRERY_LANES_BEGIN

ORRERY_FN std::uint32_t separator_slot(const ChainView& chains) { return chains.bundle->links - 1; }

// ---- between pieces

// From each piece to the one behind it, and to the one before it; zeros to what has none.
ORRERY_FN void hand_on(Row& to, const Row& from) {
    for (std::size_t k = kBundleLanes - 1; k > 0; --k) to.lane[k] = from.lane[k - 1];
    to.lane[0] = 0.0f;
}
ORRERY_FN void hand_back(Row& to, const Row& from) {
    for (std::size_t k = 0; k + 1 < kBundleLanes; ++k) to.lane[k] = from.lane[k + 1];
    to.lane[kBundleLanes - 1] = 0.0f;
}
ORRERY_FN void hand_on(Vec3Rows& to, const Vec3Rows& from) {
    hand_on(to.x, from.x), hand_on(to.y, from.y), hand_on(to.z, from.z);
}
ORRERY_FN void hand_back(Vec3Rows& to, const Vec3Rows& from) {
    hand_back(to.x, from.x), hand_back(to.y, from.y), hand_back(to.z, from.z);
}
// How the bodies move that turn what joints hold them by to those in slots 1 and L + 1.
ORRERY_FN void hand_motion(const ChainView& chains, AloneSlot* work) {
    const std::uint32_t last = separator_slot(chains);
    hand_on(work[0].angular, work[last - 1].angular);
    hand_back(work[last + 1].angular, work[2].angular);
    hand_back(work[last + 1].force, work[2].force);
}

// One piece's, in all lanes.
template <class F>
ORRERY_FN Vec3T<F> of_piece(const Vec3Rows& r, std::size_t k) {
    return {F(r.x.lane[k]), F(r.y.lane[k]), F(r.z.lane[k])};
}
template <class F>
ORRERY_FN Sym3T<F> of_piece(const Sym3Rows& r, std::size_t k) {
    return {F(r.xx.lane[k]), F(r.xy.lane[k]), F(r.xz.lane[k]), F(r.yy.lane[k]), F(r.yz.lane[k]), F(r.zz.lane[k])};
}
template <class F>
ORRERY_FN Mat3T<F> of_piece(const Mat3Rows& r, std::size_t k) {
    return {of_piece<F>(r.x, k), of_piece<F>(r.y, k), of_piece<F>(r.z, k)};
}
template <class F>
ORRERY_FN void set_piece(Row& r, std::size_t k, F x) {
    float each[kBundleLanes];
    store(each, x);
    r.lane[k] = each[0];
}
template <class F>
ORRERY_FN void set_piece(Vec3Rows& r, std::size_t k, Vec3T<F> v) {
    set_piece(r.x, k, v.x), set_piece(r.y, k, v.y), set_piece(r.z, k, v.z);
}
template <class F>
ORRERY_FN void set_piece(Sym3Rows& r, std::size_t k, const Sym3T<F>& m) {
    set_piece(r.xx, k, m.xx), set_piece(r.xy, k, m.xy), set_piece(r.xz, k, m.xz);
    set_piece(r.yy, k, m.yy), set_piece(r.yz, k, m.yz), set_piece(r.zz, k, m.zz);
}

// ---- down

// Along a chain what one joint does to others dies away by a constant factor from joint to joint, until numbers are
// denormal, which takes a processor a hundred times as long: in a rope at rest or that falls freely, forty links behind
// what moves. Among chains side by side that are alike these are few slots, among pieces of one chain many. So what is
// beyond all rounding counts as 0 here: of R what is less than kLeastReach of the inverse mass that it begins with, and
// speeds below kLeastSpeed.
inline constexpr float kLeastReach = 1.0f / (1 << 30);

template <class F>
ORRERY_FN Mat3T<F> to_full(const ChainCoupling<F>& b) {
    const Vec3T<F> x = b.out * b.p.x, y = b.out * b.p.y, z = b.out * b.p.z;
    return {{b.alpha - x.x, -x.y, -x.z}, {-y.x, b.alpha - y.y, -y.z}, {-z.x, -z.y, b.alpha - z.z}};
}
template <class F>
ORRERY_FN Mat3T<F> operator*(const ChainCoupling<F>& b, const Mat3T<F>& m) {
    const Vec3T<F> o = transpose_times(m, b.out);
    return {m.x * b.alpha - o * b.p.x, m.y * b.alpha - o * b.p.y, m.z * b.alpha - o * b.p.z};
}
template <class F>
ORRERY_FN Mat3T<F> operator*(const Sym3T<F>& s, const Mat3T<F>& m) {
    return {(m.x * s.xx + m.y * s.xy) + m.z * s.xz, (m.x * s.xy + m.y * s.yy) + m.z * s.yz,
            (m.x * s.xz + m.y * s.yz) + m.z * s.zz};
}
// A^T B where that is symmetric.
template <class F>
ORRERY_FN Sym3T<F> transpose_times(const Mat3T<F>& a, const Mat3T<F>& b) {
    const Vec3T<F> x = transpose_times(b, Vec3T<F>{a.x.x, a.y.x, a.z.x});
    return {x.x,
            x.y,
            x.z,
            (a.x.y * b.x.y + a.y.y * b.y.y) + a.z.y * b.z.y,
            (a.x.y * b.x.z + a.y.y * b.y.z) + a.z.y * b.z.z,
            (a.x.z * b.x.z + a.y.z * b.y.z) + a.z.z * b.z.z};
}

// T and t so far.
template <class F>
struct Taken {
    Sym3T<F> block;
    Vec3T<F> side;
};
template <class F>
ORRERY_FN Taken<F> nothing_taken() {
    const F zero(0.0f);
    return {{zero, zero, zero, zero, zero, zero}, {zero, zero, zero}};
}
// Joint s, whose own block and right-hand side are these. Of separators the block is not inverted.
template <class F>
ORRERY_FN void eliminate_cut(const ChainView& chains, AloneSlot* work, PieceSlot* pieces, std::uint32_t s,
                             std::size_t lane, Sym3T<F> block, Vec3T<F> side, Taken<F>& taken) {
    const ChainCoupling<F> b = coupling_of<F>(work[s - 1], lane);
    if (s == 2) {
        put(pieces[s].reach, lane, to_full(b));
    } else {
        const Sym3T<F> n = get<F>(work[s - 1].inverse, lane);
        const Vec3T<F> r = get<F>(work[s - 1].reduced, lane);
        reduce_row<F>(b, n, r, block, side);
        const Mat3T<F> before = get<F>(pieces[s - 1].reach, lane), moved = n * before, reach = b * moved;
        taken = {taken.block + transpose_times(before, moved), taken.side + transpose_times(moved, r)};
        const F least = get<F>(chains.slots[1].inverse_mass, lane) * F(kLeastReach);
        put(pieces[s].reach, lane,
            Mat3T<F>{at_least(reach.x, least), at_least(reach.y, least), at_least(reach.z, least)});
    }
    if (s < separator_slot(chains)) block = invert_row<F>(chains, chains.bundle->ragged, s, lane, block);
    put(work[s].inverse, lane, block);
    put(work[s].reduced, lane, at_least(side, F(kLeastSpeed)));
}
template <class F>
ORRERY_FN void end_piece(PieceEnds& ends, std::size_t lane, const Taken<F>& taken) {
    put(ends.taken, lane, taken.block);
    put(ends.added, lane, taken.side);
}
template <class F>
ORRERY_ONCE void eliminate_all_cut(const StepConstants& step, const ChainView& chains, AloneSlot* work,
                                   PieceSlot* pieces, PieceEnds& ends, std::size_t lane) {
    BodyBefore<F> before;
    Taken<F> taken = nothing_taken<F>();
    come_before<F>(meet_alone<F>(step, chains, work, 1, lane, before.held), before);
    for (std::uint32_t s = 2; s <= separator_slot(chains); ++s) {
        const AloneBody<F> body = meet_alone<F>(step, chains, work, s, lane, before.held);
        const JointSpring<F> spring = joint_spring<F>(chains, s, lane, step);
        const OwnSide<F> own = own_side<F>(step, spring, work[s - 1], lane, before, body);
        put(work[s].goal, lane, own.goal);
        eliminate_cut<F>(chains, work, pieces, s, lane, own_block<F>(before, body, spring.softness), own.side, taken);
        come_before<F>(body, before);
    }
    end_piece<F>(ends, lane, taken);
}

// ---- the separators: z in `reduced` of slot L + 1, and of slot 1 of the piece behind

template <class F>
ORRERY_ONCE void solve_separators(const ChainView& chains, AloneSlot* work, const PieceSlot* pieces,
                                  const PieceEnds& ends) {
    const F zero(0.0f);
    const std::uint32_t last = separator_slot(chains);
    AloneSlot& w = work[last];
    const Mat3Rows& reach = pieces[last].reach;
    Sym3T<F> n{zero, zero, zero, zero, zero, zero};
    Vec3T<F> r{zero, zero, zero};
    for (std::size_t k = 0; k < kBundleLanes; ++k) {
        Sym3T<F> block = of_piece<F>(w.inverse, k);
        Vec3T<F> side = of_piece<F>(w.reduced, k);
        if (k + 1 < kBundleLanes) {
            block = block - of_piece<F>(ends.taken, k + 1);
            side = side + of_piece<F>(ends.added, k + 1);
        }
        if (k > 0) {
            const Mat3T<F> e = of_piece<F>(reach, k);
            block = block - sandwich(e, n);
            side = side + e * (n * r);
        }
        n = inverse_or_zero(block);
        if (chains.bundle->ragged) n = n * F(chains.extras[last].active.lane[k]);
        r = side;
        set_piece(w.inverse, k, n);
        set_piece(w.reduced, k, r);
    }
    Vec3T<F> z{zero, zero, zero};
    for (std::size_t k = kBundleLanes; k-- > 0;) {
        Vec3T<F> side = of_piece<F>(w.reduced, k);
        if (k + 1 < kBundleLanes) side = side + transpose_times(of_piece<F>(reach, k + 1), z);
        z = of_piece<F>(w.inverse, k) * side;
        set_piece(w.reduced, k, z);
    }
    hand_on(work[1].reduced, w.reduced);
}

// ---- up

template <class F>
ORRERY_FN Vec3T<F> impulse_cut(AloneSlot* work, const PieceSlot* pieces, std::uint32_t s, std::size_t lane,
                               Vec3T<F> before, Vec3T<F> after) {
    ImpulseRow<F> row = impulse_row<F>(work[s], lane);
    row.reduced = row.reduced + get<F>(pieces[s].reach, lane) * before;
    return row.inverse * at_least(asked_of_joint<F>(row, after), F(kLeastSpeed));
}
// All bodies but those of the separators, which need the impulse of a joint of the piece behind: that is left in
// `reduced` of slot 2. The square of how fast one turns.
template <bool kLast, class F>
ORRERY_ONCE F substitute_cut(const StepConstants& step, const ChainView& chains, AloneSlot* work,
                             const PieceSlot* pieces, std::size_t lane) {
    const std::uint32_t last = separator_slot(chains);
    const Vec3T<F> before = get<F>(work[1].reduced, lane);
    Vec3T<F> after = get<F>(work[last].reduced, lane);
    F fast(0.0f);
    for (std::uint32_t s = last - 1; s > 1; --s) {
        const Vec3T<F> impulse = impulse_cut<F>(work, pieces, s, lane, before, after);
        fast = max(push_alone<Turning::along, kLast, F, true>(step, chains, work, s, lane, impulse, after), fast);
        after = impulse;
    }
    put(work[2].reduced, lane, after);
    return max(push_alone<Turning::along, kLast, F, true>(step, chains, work, 1, lane, before, after), fast);
}

// ---- refinement, of all pieces if one misses

template <class F>
ORRERY_ONCE F most_missed_cut(const StepConstants& step, const ChainView& chains, AloneSlot* work, std::size_t lane) {
    F most(0.0f);
    place_alone<F>(chains, work, 1, lane);
    for (std::uint32_t s = 2; s <= separator_slot(chains); ++s) {
        place_alone<F>(chains, work, s, lane);
        most = max(missed_alone<F>(step, chains, work, s, lane), most);
    }
    return most;
}
template <class F>
ORRERY_ONCE void begin_refining_cut(const StepConstants& step, const ChainView& chains, AloneSlot* work,
                                    PieceSlot* pieces, PieceEnds& ends, std::size_t lane) {
    Taken<F> taken = nothing_taken<F>();
    begin_refining_alone<F>(step, chains, work, 1, lane);
    for (std::uint32_t s = 2; s <= separator_slot(chains); ++s) {
        begin_refining_alone<F>(step, chains, work, s, lane);
        eliminate_cut<F>(chains, work, pieces, s, lane, get<F>(work[s].inverse, lane), get<F>(work[s].reduced, lane),
                         taken);
    }
    end_piece<F>(ends, lane, taken);
}
template <class F>
ORRERY_ONCE void impulses_cut(const ChainView& chains, AloneSlot* work, const PieceSlot* pieces, std::size_t lane) {
    const Vec3T<F> before = get<F>(work[1].reduced, lane);
    Vec3T<F> after = get<F>(work[separator_slot(chains)].reduced, lane);
    for (std::uint32_t s = separator_slot(chains) - 1; s > 1; --s) {
        after = impulse_cut<F>(work, pieces, s, lane, before, after);
        put(work[s].reduced, lane, after);
    }
}

#define ORRERY_FOR_EACH_VECTOR for (std::size_t lane = 0; lane < kBundleLanes; lane += lanes<F>())

template <class F>
ORRERY_ONCE void refine_cut(const StepConstants& step, const ChainView& chains, AloneSlot* work, PieceSlot* pieces,
                            PieceEnds& ends) {
    const std::uint32_t last = separator_slot(chains);
    for (std::uint32_t k = 0; k < kMostRefinements; ++k) {
        bool misses = false;
        ORRERY_FOR_EACH_VECTOR misses = any(most_missed_cut<F>(step, chains, work, lane) > F(0.0f)) || misses;
        if (!misses) return;
        ORRERY_FOR_EACH_VECTOR begin_refining_cut<F>(step, chains, work, pieces, ends, lane);
        solve_separators<F>(chains, work, pieces, ends);
        ORRERY_FOR_EACH_VECTOR impulses_cut<F>(chains, work, pieces, lane);
        hand_back(work[last + 1].reduced, work[2].reduced);
        ORRERY_FOR_EACH_VECTOR {
            const MaskOf<F> all_lanes = F(0.0f) < F(1.0f);
            for (std::uint32_t s = 1; s <= last; ++s) refine_alone<F>(step, chains, work, s, lane, all_lanes);
        }
    }
}

template <bool kLast, class F>
ORRERY_FN void finish_cut(const StepConstants& step, const ChainView& chains, AloneSlot* work, PieceSlot* pieces,
                          PieceEnds& ends) {
    const std::uint32_t last = separator_slot(chains);
    bool far = false;
    solve_separators<F>(chains, work, pieces, ends);
    ORRERY_FOR_EACH_VECTOR {
        const F fast = substitute_cut<kLast, F>(step, chains, work, pieces, lane);
        far = any(turns_far(step, fast) > F(0.0f)) || far;
    }
    hand_back(work[last + 1].reduced, work[2].reduced);
    ORRERY_FOR_EACH_VECTOR {
        const F fast = push_alone<Turning::along, kLast, F, true>(
            step, chains, work, last, lane, get<F>(work[last].reduced, lane), get<F>(work[last + 1].reduced, lane));
        far = any(turns_far(step, fast) > F(0.0f)) || far;
    }
    if (far) refine_cut<F>(step, chains, work, pieces, ends);
    hand_motion(chains, work);
}

// Whether a body may be lost.
template <class F>
bool solve_alone_cut(const StepContext& context, std::uint32_t substeps, const ChainView& chains, AloneSlot* work,
                     PieceSlot* pieces) {
    PieceEnds ends;
    ORRERY_FOR_EACH_VECTOR {
        for (std::uint32_t s = 0; s <= chains.bundle->links; ++s) load_alone<F>(context, chains, work, s, lane);
    }
    for (std::uint32_t left = substeps; left > 0; --left) {
        ORRERY_FOR_EACH_VECTOR eliminate_all_cut<F>(context.step, chains, work, pieces, ends, lane);
        if (left > 1)
            finish_cut<false, F>(context.step, chains, work, pieces, ends);
        else
            finish_cut<true, F>(context.step, chains, work, pieces, ends);
    }
    bool lost = false;
    ORRERY_FOR_EACH_VECTOR {
        for (std::uint32_t s = 1; s <= separator_slot(chains); ++s)
            lost = store_alone<F>(context, chains, work, s, lane) || lost;
    }
    return lost;
}

#undef ORRERY_FOR_EACH_VECTOR

ORRERY_LANES_END

#endif
