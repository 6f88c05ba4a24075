// What the structs of orrery/client.h are in JavaScript, for a client and for a player.
import * as C from './layout.js';
import { Table } from './table.js';
import type { Memory } from './wasm.js';

/** Names a body as long as it exists: index in the low 32 bits, generation in the high 32 bits. */
export type BodyId = bigint;

/** All bodies at one time: views into the module's memory, to be used at once. They are empty once that memory has
 * grown, which any call of the client, a timer and a message may bring about: so none is kept over an `await` or a
 * frame. Entry i of each array, for i below `count`, belongs to body ids[i]. */
export interface Samples {
  count: number;
  /** The time, in ticks of the server. */
  tick: number;
  ids: BigUint64Array;
  /** Index and generation of each body: the numbers that ids[i] has in one. Reading them allocates nothing. */
  indices: Uint32Array;
  /** x, y, z of the centre of mass, m, world. */
  positions: Float32Array;
  /** x, y, z, w; body to world. */
  orientations: Float32Array;
  /** m/s, world. */
  linearVelocities: Float32Array;
  /** rad/s, world. */
  angularVelocities: Float32Array;
}

/** `type`: constants.SHAPE_*; sizes in m. */
export interface Shape { type: number; radius: number; halfHeight: number; halfExtents: [number, number, number] }
/** `type`: constants.BODY_*. */
export interface Body {
  type: number; shape: number; slot: number; name: string; templateName: string; memberName: string;
  materialName: string; userData: bigint;
}
export function readShape(m: Memory, at: number): Shape {
  const L = C.ShapeLayout, extents = at + L.half_extents;
  return { type: m.i32(at + L.type), radius: m.f32(at + L.radius), halfHeight: m.f32(at + L.half_height),
           halfExtents: [m.f32(extents), m.f32(extents + 4), m.f32(extents + 8)] };
}
export function readBody(m: Memory, at: number): Body {
  const L = C.BodyLayout;
  return {
    type: m.i32(at + L.type), shape: m.u32(at + L.shape), slot: m.u32(at + L.slot), name: m.text(at + L.name),
    templateName: m.text(at + L.template_name), memberName: m.text(at + L.member_name),
    materialName: m.text(at + L.material_name), userData: m.u64(at + L.user_data),
  };
}

/** The arrays of an orrery_samples. */
export class SampleArrays {
  readonly #memory: Memory;
  readonly #table: Table<Samples>;

  constructor(memory: Memory) {
    const L = C.SamplesLayout;
    this.#memory = memory;
    this.#table = new Table<Samples>(memory, L, [
      ['ids', L.ids, 'u64', 1], ['positions', L.positions, 'f32', 3], ['orientations', L.orientations, 'f32', 4],
      ['linearVelocities', L.linear_velocities, 'f32', 3], ['angularVelocities', L.angular_velocities, 'f32', 3]]);
  }

  /** `fill` calls the function of the module that fills the struct. Null: there is nothing to show. The same object
   * each time. */
  read(fill: (samples: number) => number): Samples | null {
    const samples = this.#table.fill(fill);
    if (!samples) return null;
    samples.tick = this.#memory.f64(this.#table.at + C.SamplesLayout.tick);
    if (samples.indices?.buffer !== samples.ids.buffer)
      samples.indices = new Uint32Array(samples.ids.buffer, samples.ids.byteOffset, 2 * samples.ids.length);
    return samples;
  }
}
