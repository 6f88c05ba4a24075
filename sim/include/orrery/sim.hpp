// Orrery's deterministic rigid-body world: the whole public interface of liborrery_sim. Each header that it
// includes can be included by itself.
//
// The contract: the state after tick N is a pure function of (WorldDef, engine version, the ordered list of
// (tick, command)). SIMD target, thread count, compiler, CPU and a save/restore on the way change no bit.
//
// Units and frames: SI; right-handed axes, y up; quaternions x, y, z, w, unit, body to world; angles in radians;
// velocities of the centre of mass in world axes. A body's pose is that of its centre of mass.
//
// A world owns no thread, no clock and no file. It does not throw: creation and restore return a Result whose Error
// names place and mend; a step reports what happened through a status and events.
#pragma once

#include "orrery/commands.hpp"
#include "orrery/constraints.hpp"
#include "orrery/definition.hpp"
#include "orrery/events.hpp"
#include "orrery/queries.hpp"
#include "orrery/types.hpp"
#include "orrery/world.hpp"
#include "sim/base/executor.h"
#include "sim/base/stage.h"
