// All bodies, one InstancedMesh a shape. Each frame composes the matrices from the client's views straight into the
// instances' buffers, in the order of the samples, without allocating: colours are written again only where another
// body has come to a place.
import { type BufferGeometry, DynamicDrawUsage, InstancedBufferAttribute, InstancedMesh, type MeshStandardMaterial,
         Quaternion, type Scene, Vector3 } from 'three';
import { constants, type Samples, type Shape } from '../../src/client.js';
import type { Source } from '../source.js';
import { groundMesh, placeGround } from './day.js';
import { CROWD, geometryOf, halfSizeOf, MANY, type Solids } from './geometry.js';
import { ASLEEP, isTall, lookOf } from './looks.js';
import { surfaceMaterial } from './surfaces.js';

const NOT_SEEN = -2, NOTHING = -1;  // of a body: not asked for yet; not drawn by a batch
const LOOK_MS = 2, LOOK_MS_JOINING = 20;  // a frame's time for asking what bodies are
const ASKED_AT_LEAST = 128;
const JOINING = 500;  // bodies that are new at once

/** How plain the geometry is. */
function levelOf(count: number): number {
  return count >= CROWD ? 2 : count >= MANY ? 1 : 0;
}

class Batch {
  readonly shape: Shape;
  readonly #number: number;
  #solids: Solids | null;
  readonly #material: MeshStandardMaterial;
  readonly #scene: Scene;
  mesh!: InstancedMesh<BufferGeometry, MeshStandardMaterial>;
  owners = new Int32Array(0);  // indices of the bodies at the instances
  matrices!: Float32Array;
  colours!: Float32Array;
  surfaces!: Float32Array;
  count = 0;
  #recoloured = false;
  #level = NOTHING;  // of the geometry: levelOf()

  /** `number`: of the shape. */
  constructor(shape: Shape, number: number, solids: Solids | null, scene: Scene) {
    this.shape = shape;
    this.#number = number;
    this.#solids = solids;
    this.#scene = scene;
    this.#material = surfaceMaterial(shape.type, halfSizeOf(shape));
    this.makeRoom(16);
  }
  makeRoom(count: number): void {
    if (count <= this.owners.length) return;
    const capacity = Math.ceil(1.5 * count), level = levelOf(capacity);
    this.#build(capacity, this.#level === level ? this.mesh.geometry.clone() : this.#geometry(capacity));
    this.#level = level;
  }
  /** From now on the shape is drawn as it is in `solids`. */
  refine(solids: Solids): void {
    this.#solids = solids;
    if (this.shape.type >= constants.SHAPE_HULL) this.#build(this.owners.length, this.#geometry(this.owners.length));
  }
  #geometry(count: number): BufferGeometry {
    const triangles = this.shape.type >= constants.SHAPE_HULL ? this.#solids?.triangles(this.#number) : null;
    return geometryOf(this.shape, count, triangles)!;
  }
  #build(capacity: number, geometry: BufferGeometry): void {
    const before = this.mesh as typeof this.mesh | undefined;
    const surfaces = new InstancedBufferAttribute(new Float32Array(capacity), 1);
    geometry.setAttribute('surface', surfaces);
    const mesh = new InstancedMesh(geometry, this.#material, capacity);
    mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false;
    mesh.receiveShadow = true;
    mesh.castShadow = !isTall(this.shape);  // the sun shines through walls, too
    this.matrices = mesh.instanceMatrix.array as Float32Array;
    if (before) this.matrices.set((before.instanceMatrix.array as Float32Array).subarray(0, 16 * this.count));
    this.colours = mesh.instanceColor.array as Float32Array;
    this.surfaces = surfaces.array as Float32Array;
    this.owners = new Int32Array(capacity).fill(NOTHING);
    if (before) this.#free(before);
    this.#scene.add(mesh);
    this.mesh = mesh;
  }
  paint(at: number, index: number, table: Table): void {
    this.owners[at] = index;
    this.colours[3 * at] = table.colours[3 * index]!;
    this.colours[3 * at + 1] = table.colours[3 * index + 1]!;
    this.colours[3 * at + 2] = table.colours[3 * index + 2]!;
    this.surfaces[at] = table.surfaces[index]!;
    this.#recoloured = true;
  }
  show(): void {
    this.mesh.count = this.count;
    this.mesh.visible = this.count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (!this.#recoloured) return;
    this.#recoloured = false;
    this.mesh.instanceColor!.needsUpdate = true;
    this.mesh.geometry.getAttribute('surface').needsUpdate = true;
  }
  #free(mesh: InstancedMesh): void {
    this.#scene.remove(mesh);
    mesh.geometry.dispose();
    mesh.dispose();
  }
  dispose(): void {
    this.#free(this.mesh);
    this.#material.dispose();
  }
}

/** What is known of bodies, by their index. */
class Table {
  batches = new Int32Array(0);
  generations = new Uint32Array(0);
  shapes = new Int32Array(0);
  colours = new Float32Array(0);
  surfaces = new Uint8Array(0);
  places = new Int32Array(0);  // of the body in the samples of this frame

  makeRoom(size: number): void {
    if (size <= this.batches.length) return;
    const capacity = Math.ceil(1.5 * size) + 64, { batches, generations, shapes, colours, surfaces, places } = this;
    this.batches = new Int32Array(capacity).fill(NOT_SEEN);
    this.generations = new Uint32Array(capacity);
    this.shapes = new Int32Array(capacity);
    this.colours = new Float32Array(3 * capacity);
    this.surfaces = new Uint8Array(capacity);
    this.places = new Int32Array(capacity).fill(NOTHING);
    this.batches.set(batches);
    this.generations.set(generations);
    this.shapes.set(shapes);
    this.colours.set(colours);
    this.surfaces.set(surfaces);
    this.places.set(places);
  }
}

/** Writes the pose of sample `from` as the matrix of instance `to`. */
function compose(samples: Samples, from: number, out: Float32Array, to: number): void {
  const q = samples.orientations, p = samples.positions, a = 4 * from, b = 3 * from, o = 16 * to;
  const x = q[a]!, y = q[a + 1]!, z = q[a + 2]!, w = q[a + 3]!;
  const x2 = x + x, y2 = y + y, z2 = z + z;
  const xx = x * x2, xy = x * y2, xz = x * z2, yy = y * y2, yz = y * z2, zz = z * z2;
  const wx = w * x2, wy = w * y2, wz = w * z2;
  out[o] = 1 - yy - zz;
  out[o + 1] = xy + wz;
  out[o + 2] = xz - wy;
  out[o + 4] = xy - wz;
  out[o + 5] = 1 - xx - zz;
  out[o + 6] = yz + wx;
  out[o + 8] = xz + wy;
  out[o + 9] = yz - wx;
  out[o + 10] = 1 - xx - yy;
  out[o + 12] = p[b]!;
  out[o + 13] = p[b + 1]!;
  out[o + 14] = p[b + 2]!;
  out[o + 15] = 1;
}

const position = new Vector3(), orientation = new Quaternion();

export class Bodies {
  readonly #scene: Scene;
  readonly #table = new Table();
  readonly #batches: Batch[] = [];
  readonly #batchOfShape = new Map<number, number>();
  #grounds: { mesh: ReturnType<typeof groundMesh>; index: number }[] = [];
  #solids: Solids | null = null;
  #owned = -1;  // slot of the page's player, by which own bodies are told
  /** Bodies of the page's player, and such that were. */
  readonly own = new Set<bigint>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Hulls, meshes, height fields and compounds are drawn as they are from now on. */
  set solids(solids: Solids) {
    this.#solids = solids;
    for (const batch of this.#batches) batch.refine(solids);
  }
  get meshes(): InstancedMesh[] {
    return this.#batches.map((batch) => batch.mesh);
  }

  /** `eye`: where the camera is. `frameMs`: since the frame before. */
  update(source: Source, samples: Samples, ownSlot: number, eye: Vector3, frameMs: number): void {
    const { indices, count } = samples, table = this.#table;
    if (ownSlot !== this.#owned) this.#forget(ownSlot);
    if (count > 0) table.makeRoom(indices[2 * (count - 1)]! + 1);  // samples come in the order of indices
    let unseen = 0;
    for (let i = 0; i < count; ++i) {
      const index = indices[2 * i]!;
      table.places[index] = i;
      if (table.batches[index] === NOT_SEEN || table.generations[index] !== indices[2 * i + 1]) ++unseen;
    }
    if (unseen > 0) this.#see(source, samples, unseen > JOINING ? Math.max(LOOK_MS_JOINING, frameMs / 4) : LOOK_MS);
    if (samples.indices.length === 0) return;  // the module's memory has grown meanwhile: the next frame has new views
    for (const batch of this.#batches) batch.count = 0;
    for (let i = 0; i < count; ++i) {
      const index = indices[2 * i]!, number = table.batches[index]!;
      if (number < 0 || table.generations[index] !== indices[2 * i + 1]) continue;
      const batch = this.#batches[number]!, at = batch.count;
      if (at === batch.owners.length) batch.makeRoom(at + 1);
      ++batch.count;
      if (batch.owners[at] !== index || batch.surfaces[at] !== table.surfaces[index]) batch.paint(at, index, table);
      compose(samples, i, batch.matrices, at);
    }
    for (const batch of this.#batches) batch.show();
    this.#placeGrounds(samples, eye);
  }

  /** Which bodies are drawn as asleep from the next frame on. `numbers`: index and generation of each. */
  markAsleep(numbers: Uint32Array, asleep: Uint8Array, count: number): void {
    const { surfaces, generations } = this.#table;
    for (let i = 0; i < count; ++i) {
      const index = numbers[2 * i]!;
      if (generations[index] !== numbers[2 * i + 1]) continue;
      surfaces[index] = asleep[i] ? surfaces[index]! | ASLEEP : surfaces[index]! & ~ASLEEP;
    }
  }
  wakeAll(): void {
    const { surfaces } = this.#table;
    for (let i = 0; i < surfaces.length; ++i) surfaces[i]! &= ~ASLEEP;
  }

  /** Where the body is in these samples; -1: it is not there. */
  placeAt({ indices, count }: Samples, index: number, generation: number): number {
    const at = this.#table.places[index] ?? NOTHING;
    return at >= 0 && at < count && indices[2 * at] === index && indices[2 * at + 1] === generation ? at : NOTHING;
  }
  placeOf(samples: Samples, id: bigint): number {
    return this.placeAt(samples, Number(id & 0xffffffffn), Number(id >> 32n));
  }
  /** Of what a ray met. */
  bodyAt(mesh: InstancedMesh, instance: number, samples: Samples): bigint | null {
    const owner = this.#batches.find((batch) => batch.mesh === mesh)?.owners[instance] ?? NOTHING;
    return owner < 0 ? null : samples.ids[this.#table.places[owner]!] ?? null;
  }
  geometryAt(id: bigint): BufferGeometry | null {
    const number = this.#table.batches[Number(id & 0xffffffffn)] ?? NOTHING;
    return this.#batches[number]?.mesh.geometry ?? null;
  }
  shapeAt(id: bigint): Shape | null {
    return this.#batches[this.#table.batches[Number(id & 0xffffffffn)] ?? NOTHING]?.shape ?? null;
  }
  dispose(): void {
    for (const batch of this.#batches) batch.dispose();
    for (const { mesh } of this.#grounds) this.#scene.remove(mesh);
  }

  #forget(ownSlot: number): void {
    this.#owned = ownSlot;
    this.own.clear();
    this.#table.batches.fill(NOT_SEEN);
    for (const batch of this.#batches) batch.owners.fill(NOTHING);
    for (const { mesh } of this.#grounds) this.#scene.remove(mesh);
    this.#grounds = [];
  }

  /** Asks what new bodies are, for as long as `budgetMs`; the rest is for the next frame. */
  #see(source: Source, samples: Samples, budgetMs: number): void {
    const table = this.#table, { indices } = samples, end = performance.now() + budgetMs;
    let asked = 0;
    for (let i = 0; i < samples.count; ++i) {
      const index = indices[2 * i]!, generation = indices[2 * i + 1]!;
      if (table.batches[index] !== NOT_SEEN && table.generations[index] === generation) continue;
      const seenBefore = table.batches[index] !== NOT_SEEN;
      const id = (BigInt(generation) << 32n) | BigInt(index), body = source.body(id);
      table.generations[index] = generation;
      table.batches[index] = NOTHING;
      const shape = body && source.shape(body.shape);
      if (!body || !shape) continue;
      const own = body.slot === this.#owned && body.slot !== constants.NO_SLOT;
      if (own) this.own.add(id);
      const look = lookOf(body, shape, index, own);
      look.colour.toArray(table.colours, 3 * index);
      table.surfaces[index] = look.surface;
      if (shape.type === constants.SHAPE_PLANE) this.#addGround(index);
      else table.batches[index] = this.#batchFor(body.shape, shape);
      if (seenBefore) for (const { owners } of this.#batches) owners.fill(NOTHING);  // its place is painted anew
      if (++asked % ASKED_AT_LEAST === 0 && performance.now() > end) return;
    }
  }
  #batchFor(number: number, shape: Shape): number {
    let at = this.#batchOfShape.get(number);
    if (at === undefined) {
      at = this.#batches.push(new Batch(shape, number, this.#solids, this.#scene)) - 1;
      this.#batchOfShape.set(number, at);
    }
    return at;
  }
  #addGround(index: number): void {
    if (this.#grounds.some((ground) => ground.index === index)) return;
    const mesh = groundMesh();
    this.#scene.add(mesh);
    this.#grounds.push({ mesh, index });
  }
  #placeGrounds(samples: Samples, eye: Vector3): void {
    for (const { mesh, index } of this.#grounds) {
      const at = this.#table.places[index]!;
      mesh.visible = false;
      if (samples.indices[2 * at] !== index) continue;
      position.fromArray(samples.positions, 3 * at);
      orientation.fromArray(samples.orientations, 4 * at);
      mesh.visible = true;
      placeGround(mesh, position, orientation, eye);
    }
  }
}
