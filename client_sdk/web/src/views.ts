// What the structs of orrery/client.h are in JavaScript, for a client and for a player.
import * as C from './layout.js';
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

const FLOATS_PER_BODY = 3 + 4 + 3 + 3;

/** The arrays of an orrery_samples, which grow with the bodies. */
export class SampleArrays {
  readonly #memory: Memory;
  readonly #fill: (samples: number) => number;
  readonly #at: number;
  #arrays = 0;
  #capacity = 0;
  #samples: Samples | null = null;

  /** `fill` calls the function of the module that fills the struct. */
  constructor(memory: Memory, fill: (samples: number) => number) {
    this.#memory = memory;
    this.#fill = fill;
    this.#at = memory.allocate(C.SamplesLayout.sizeof);
    memory.bytes.fill(0, this.#at, this.#at + C.SamplesLayout.sizeof);
    memory.setU32(this.#at, C.SamplesLayout.sizeof);
  }

  /** Null: there is nothing to show. The same object each time. */
  read(): Samples | null {
    const at = this.#at, L = C.SamplesLayout;
    let status = this.#fill(at);
    if (status === C.TOO_SMALL) {
      this.#makeRoom(this.#memory.u32(at + L.available));
      status = this.#fill(at);
    }
    if (status !== C.OK && status !== C.TOO_SMALL) return null;
    if (this.#samples?.positions.buffer !== this.#memory.exports.memory.buffer) this.#samples = this.#view();
    this.#samples.count = this.#memory.u32(at + L.count);
    this.#samples.tick = this.#memory.f64(at + L.tick);
    return this.#samples;
  }

  #makeRoom(bodies: number): void {
    this.#memory.exports.free(this.#arrays);
    this.#capacity = Math.ceil(bodies * 1.25);
    this.#arrays = this.#memory.allocate(this.#capacity * (8 + 4 * FLOATS_PER_BODY));
    const L = C.SamplesLayout;
    this.#memory.setU32(this.#at + L.capacity, this.#capacity);
    let at = this.#arrays;
    for (const [field, bytes] of [[L.ids, 8], [L.positions, 12], [L.orientations, 16], [L.linear_velocities, 12],
                                  [L.angular_velocities, 12]] as const) {
      this.#memory.setU32(this.#at + field, at);
      at += bytes * this.#capacity;
    }
    this.#samples = null;
  }
  #view(): Samples {
    const { buffer } = this.#memory, n = this.#capacity, at = this.#arrays;
    const floats = (skip: number, each: number) => new Float32Array(buffer, at + n * (8 + 4 * skip), n * each);
    return { count: 0, tick: 0, ids: new BigUint64Array(buffer, at, n), indices: new Uint32Array(buffer, at, 2 * n),
             positions: floats(0, 3), orientations: floats(3, 4), linearVelocities: floats(7, 3),
             angularVelocities: floats(10, 3) };
  }
}
