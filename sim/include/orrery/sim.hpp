// The whole public interface of the engine, a deterministic world of rigid bodies. Each header that it includes can
// also be included by itself.
//
// The contract: the state after tick N is a pure function of the WorldDef, the engine version and the ordered list of
// (tick, command). The SIMD target, the number of threads, the compiler, the CPU, and a save and restore in between
// change no bit.
//
// Units and frames: SI units. Axes are right-handed, y is up. Quaternions are x, y, z, w, of unit length, and turn the
// body's frame into the world's. Angles are radians. Velocities are those of the centre of mass, in world axes. A
// body's pose is that of its centre of mass.
//
// A world owns no thread, no clock and no file. It does not throw. Creation and restore return a Result, whose Error
// names the place and the remedy. A step reports what happened by its status and by events.
#pragma once

#include "orrery/commands.hpp"
#include "orrery/constraints.hpp"
#include "orrery/definition.hpp"
#include "orrery/event_views.hpp"
#include "orrery/events.hpp"
#include "orrery/queries.hpp"
#include "orrery/types.hpp"
#include "orrery/world.hpp"
#include "sim/base/executor.h"
#include "sim/base/stage.h"
