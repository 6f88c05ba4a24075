// What there is to see in a world that the module steps: contacts, joints, and the state of bodies. Arrays are views
// into the module's memory, as those of Samples: for use at once, the same objects each time.
import * as C from './layout.js';
import { Table } from './table.js';
import { SampleArrays, type Samples } from './views.js';
import type { Memory } from './wasm.js';

/** Entry i of each array, for i below `count`, belongs to contact i. */
export interface Contacts {
  count: number;
  /** Two for each contact. */
  bodies: BigUint64Array;
  /** Two for each contact: the child of a compound; of a mesh or height field a triangle, with the highest bit for an
   * edge of it; otherwise 0. */
  parts: Uint32Array;
  /** The deepest point at the start of the step, m, world. */
  points: Float32Array;
  /** Unit, world, from the first body to the second. */
  normals: Float32Array;
  /** m; negative: the bodies overlap. */
  separations: Float32Array;
  /** N s, along the normal, in the whole step. */
  impulses: Float32Array;
  /** 1: they touch; 0: they are only near. */
  touching: Uint8Array;
}
/** Entry i of each array, for i below `count`, belongs to joint i. */
export interface Joints {
  count: number;
  ids: BigUint64Array;
  /** For jointKind(). */
  kinds: Uint32Array;
  /** Four for each joint: A, B, C, D; constants.NO_BODY: the world as A, or no such body. */
  bodies: BigUint64Array;
  /** Six for each joint: the point of A, then that of B, m, world. */
  anchors: Float32Array;
  /** N and N m, which it exerts; means of the last step. */
  forces: Float32Array;
  torques: Float32Array;
}
/** Entry i of each array, for i below `count`, belongs to body ids[i]; in order of index. */
export interface Marks {
  count: number;
  ids: BigUint64Array;
  /** 1 or 0. */
  asleep: Uint8Array;
  /** Six for each body: the least x, y, z and the most of a box that contains it, m, world; of a body without a shape
   * its position, of a plane 3e38 m in each direction. */
  bounds: Float32Array;
}
type Vec3 = [number, number, number];
type Quat = [number, number, number, number];
/** What each means is said at orrery_body_state of orrery/client.h. */
export interface BodyState {
  tick: bigint;
  /** By how much that is older than the newest snapshot, in ticks. */
  ageTicks: number;
  position: Vec3; orientation: Quat; linearVelocity: Vec3; angularVelocity: Vec3;
  /** Null in mode snapshots. */
  own: {
    asleep: boolean; sensor: boolean; massKg: number; gravityScale: number; linearDamping: number;
    angularDamping: number; category: number; mask: number;
    /** The first body that was made together with it; null: it is of the scene. */
    group: bigint | null;
    boundsMin: Vec3; boundsMax: Vec3;
  } | null;
  /** In mode snapshots: what it took of the snapshots. Null otherwise: a mirror gets commands and no bodies. */
  cost: {
    bytesLastSecond: number; updatesLastSecond: number;
    /** Snapshots since its newest state that did not have it. */
    leftOut: number;
    /** By how much the state that the newest one was coded against is older, in ticks; 0: it was coded whole. */
    baselineAgeTicks: number;
  } | null;
  /** What the server has confirmed, and how far off the prediction of that tick was. Null: not known. */
  confirmed: { tick: bigint; position: Vec3; orientation: Quat; errorMm: number; errorDeg: number } | null;
}

/** Where the time of a world's steps went, ms, in sums since measureSteps(true). */
export interface StepTimes {
  steps: number;
  collisionMs: number; solverMs: number; rigsMs: number;
  /** Commands, events and sleep. */
  restMs: number;
  /** Hashes, the states that are kept to go back to, and going back. */
  stateMs: number;
}

/** The functions of the module, for a client or a player. */
export interface LookCalls {
  contacts(body: bigint, out: number): number;
  joints(body: bigint, out: number): number;
  marks(out: number): number;
  bodyState(id: bigint, out: number): number;
  stepTimes(out: number): number;
}

export class Look {
  readonly #memory: Memory;
  readonly #calls: LookCalls;
  readonly #struct: number;
  readonly #contacts: Table<Contacts>;
  readonly #joints: Table<Joints>;
  readonly #marks: Table<Marks>;
  readonly #samples: SampleArrays;

  constructor(memory: Memory, calls: LookCalls) {
    this.#memory = memory;
    this.#calls = calls;
    this.#struct = memory.allocate(Math.max(C.BodyStateLayout.sizeof, C.StepTimesLayout.sizeof));
    const A = C.ContactsLayout, B = C.JointsLayout, D = C.MarksLayout;
    this.#contacts = new Table<Contacts>(memory, A, [
      ['bodies', A.bodies, 'u64', 2], ['parts', A.parts, 'u32', 2], ['points', A.points, 'f32', 3],
      ['normals', A.normals, 'f32', 3], ['separations', A.separations, 'f32', 1], ['impulses', A.impulses, 'f32', 1],
      ['touching', A.touching, 'u8', 1]]);
    this.#joints = new Table<Joints>(memory, B, [
      ['ids', B.ids, 'u64', 1], ['bodies', B.bodies, 'u64', 4], ['kinds', B.kinds, 'u32', 1],
      ['anchors', B.anchors, 'f32', 6], ['forces', B.forces, 'f32', 1], ['torques', B.torques, 'f32', 1]]);
    this.#marks = new Table<Marks>(memory, D, [
      ['ids', D.ids, 'u64', 1], ['bounds', D.bounds, 'f32', 6], ['asleep', D.asleep, 'u8', 1]]);
    this.#samples = new SampleArrays(memory);
  }

  contacts(body: bigint): Contacts | null {
    return this.#contacts.fill((at) => this.#calls.contacts(body, at));
  }
  joints(body: bigint): Joints | null {
    return this.#joints.fill((at) => this.#calls.joints(body, at));
  }
  marks(): Marks | null {
    return this.#marks.fill((at) => this.#calls.marks(at));
  }
  samples(call: (at: number) => number): Samples | null {
    return this.#samples.read(call);
  }
  bodyState(id: bigint): BodyState | null {
    const L = C.BodyStateLayout, m = this.#memory, at = this.#struct;
    m.setU32(at, L.sizeof);
    if (this.#calls.bodyState(id, at) !== C.OK) return null;
    const f = (offset: number) => m.f32(at + offset);
    const vec = (offset: number): Vec3 => [f(offset), f(offset + 4), f(offset + 8)];
    const quat = (offset: number): Quat => [f(offset), f(offset + 4), f(offset + 8), f(offset + 12)];
    const group = m.u64(at + L.group), confirmedTick = m.u64(at + L.confirmed_tick);
    return {
      tick: m.u64(at + L.tick), ageTicks: m.f64(at + L.age_ticks), position: vec(L.position),
      orientation: quat(L.orientation), linearVelocity: vec(L.linear_velocity), angularVelocity: vec(L.angular_velocity),
      own: m.i32(at + L.known) === 0 ? null : {
        asleep: m.i32(at + L.asleep) !== 0, sensor: m.i32(at + L.sensor) !== 0, massKg: f(L.mass_kg),
        gravityScale: f(L.gravity_scale), linearDamping: f(L.linear_damping), angularDamping: f(L.angular_damping),
        category: m.u32(at + L.category), mask: m.u32(at + L.mask), group: group === C.NO_BODY ? null : group,
        boundsMin: vec(L.bounds_min), boundsMax: vec(L.bounds_max),
      },
      cost: m.i32(at + L.known) !== 0 ? null : {
        bytesLastSecond: f(L.bytes_last_second), updatesLastSecond: m.u32(at + L.updates_last_second),
        leftOut: m.u32(at + L.snapshots_left_out), baselineAgeTicks: m.u32(at + L.baseline_age_ticks),
      },
      confirmed: confirmedTick === 0n ? null : {
        tick: confirmedTick, position: vec(L.confirmed_position), orientation: quat(L.confirmed_orientation),
        errorMm: f(L.error_mm), errorDeg: f(L.error_deg),
      },
    };
  }
  stepTimes(): StepTimes | null {
    const L = C.StepTimesLayout, m = this.#memory, at = this.#struct;
    m.setU32(at, L.sizeof);
    if (this.#calls.stepTimes(at) !== C.OK || m.i32(at + L.measured) === 0) return null;
    return { steps: Number(m.u64(at + L.steps)), collisionMs: m.f64(at + L.collision_ms),
             solverMs: m.f64(at + L.solver_ms), rigsMs: m.f64(at + L.rigs_ms), restMs: m.f64(at + L.rest_ms),
             stateMs: m.f64(at + L.state_ms) };
  }
  /** The name that scenes give a kind of joint: "ball_socket". */
  jointKind(kind: number): string {
    this.#memory.setU32(this.#struct, this.#memory.exports.orrery_joint_kind_name(kind));
    return this.#memory.text(this.#struct);
  }
}
