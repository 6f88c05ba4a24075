// The shapes of a scene as triangles, to be drawn. It needs the module with the simulation, in any mode of the client.
import * as C from './layout.js';
import { readShape, type Shape } from './views.js';
import { load, type Exports, type Memory, type WasmSource } from './wasm.js';

/** Copies, the caller's own: for a BufferGeometry as they are. In the frame of the body, whose origin is the centre of
 * mass: the position and orientation of a sample put them into the world. */
export interface Triangles {
  /** x, y, z of each vertex, m. */
  positions: Float32Array<ArrayBuffer>;
  /** Unit; of meshes and height fields the mean of the triangles about a vertex. */
  normals: Float32Array<ArrayBuffer>;
  /** Three for each triangle, counter-clockwise as seen from outside. */
  indices: Uint32Array<ArrayBuffer>;
}
/** A child of a compound: its shape, and its pose in the body's frame. */
export interface Child { shape: number; position: [number, number, number]; orientation: [number, number, number, number] }

export class Scene {
  readonly #memory: Memory;
  readonly #c: Exports;
  readonly #struct: number;
  #scene: number;

  private constructor(memory: Memory, bytes: Uint8Array) {
    this.#memory = memory;
    this.#c = memory.exports;
    this.#struct = memory.allocate(Math.max(C.TrianglesLayout.sizeof, C.ChildLayout.sizeof, C.ShapeLayout.sizeof));
    const status = memory.lend(bytes, (at, size) => this.#c.orrery_scene_open(at, size, this.#struct));
    this.#scene = status === C.OK ? memory.u32(this.#struct) : 0;
    if (status === C.UNSUPPORTED) throw new Error('orrery: this module has no simulation: use orrery_client_sim.wasm');
    if (status !== C.OK) throw new Error('orrery: the scene has a fault, or is not in binary form');
  }

  /** Loads a module of its own, whose memory goes with this object. `bytes`: the scene's binary form, as the event
   * `scene` and the server's /scene/HASH give it; the module does not read JSON. `wasm`: if it is left out,
   * orrery_client_sim.wasm beside this file. */
  static async open(bytes: Uint8Array, wasm?: WasmSource): Promise<Scene> {
    return new Scene(await load(wasm ?? new URL('./orrery_client_sim.wasm', import.meta.url)), bytes);
  }

  /** The numbers of shapes, from 0, are those of Body.shape. */
  get shapeCount(): number {
    return this.#c.orrery_scene_shape_count(this.#scene);
  }
  shape(index: number): Shape | null {
    const at = this.#sized(C.ShapeLayout.sizeof);
    return this.#c.orrery_scene_get_shape(this.#scene, index, at) === C.OK ? readShape(this.#memory, at) : null;
  }
  /** A compound is all its children; a plane has no triangles. Null: there is no such shape, or it needs more than
   * 2,000,000 vertices. */
  triangles(shape: number): Triangles | null {
    const L = C.TrianglesLayout, m = this.#memory, at = this.#sized(L.sizeof);
    const count = this.#c.orrery_scene_shape_triangles(this.#scene, shape, at);
    if (count !== C.OK && count !== C.TOO_SMALL) return null;
    const vertices = m.u32(at + L.vertex_count), indices = m.u32(at + L.index_count);
    const room = m.allocate(4 * (6 * vertices + indices) || 4);
    m.setU32(at + L.vertex_capacity, vertices);
    m.setU32(at + L.index_capacity, indices);
    m.setU32(at + L.positions, room);
    m.setU32(at + L.normals, room + 12 * vertices);
    m.setU32(at + L.indices, room + 24 * vertices);
    this.#c.orrery_scene_shape_triangles(this.#scene, shape, at);
    const made = { positions: new Float32Array(m.buffer, room, 3 * vertices).slice(),
                   normals: new Float32Array(m.buffer, room + 12 * vertices, 3 * vertices).slice(),
                   indices: new Uint32Array(m.buffer, room + 24 * vertices, indices).slice() };
    this.#c.free(room);
    return made;
  }
  /** Of a compound, in the order of the scene and of `parts` of contacts; of another shape none. */
  children(shape: number): Child[] {
    const L = C.ChildLayout, m = this.#memory, all: Child[] = [];
    const floats = (at: number, count: number) => Array.from({ length: count }, (_, i) => m.f32(at + 4 * i));
    for (;;) {
      const at = this.#sized(L.sizeof);
      if (this.#c.orrery_scene_get_child(this.#scene, shape, all.length, at) !== C.OK) return all;
      all.push({ shape: m.u32(at + L.shape), position: floats(at + L.position, 3) as Child['position'],
                 orientation: floats(at + L.orientation, 4) as Child['orientation'] });
    }
  }

  /** The scene cannot be used again. */
  close(): void {
    this.#c.orrery_scene_close(this.#scene);
    this.#scene = 0;
  }

  #sized(size: number): number {
    this.#memory.bytes.fill(0, this.#struct, this.#struct + size);
    this.#memory.setU32(this.#struct, size);
    return this.#struct;
  }
}
