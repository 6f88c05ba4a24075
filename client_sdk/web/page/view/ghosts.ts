// What the server has confirmed last of some bodies: the edges of each, beside the predicted one.
import { type BufferGeometry, EdgesGeometry, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial,
         type Scene } from 'three';
import { constants, type Samples } from '../../src/client.js';
import type { Bodies } from './bodies.js';
import { geometryOf, MANY } from './geometry.js';

const MOST = 32;
const SEEN_DEG = 1;  // between two triangles, from where on their edge is drawn

interface Plain { solid: BufferGeometry; edges: BufferGeometry }

export class Ghosts {
  readonly #scene: Scene;
  readonly #pairs: { solid: Mesh; edges: LineSegments }[] = [];
  readonly #plain = new Map<BufferGeometry, Plain>();  // by that of the body
  readonly #solid = new MeshBasicMaterial({ color: '#ffffff', transparent: true, opacity: 0.25, depthWrite: false });
  readonly #edges = new LineBasicMaterial({ color: '#ffffff', toneMapped: false });
  count = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }
  begin(): void {
    this.count = 0;
  }
  add(bodies: Bodies, confirmed: Samples, id: bigint): void {
    const at = placeOf(confirmed, id), plain = at < 0 ? null : this.#plainOf(bodies, id);
    if (!plain || this.count === MOST) return;
    const { solid, edges } = this.#pairs[this.count++] ?? this.#make();
    solid.geometry = plain.solid;
    edges.geometry = plain.edges;
    solid.position.fromArray(confirmed.positions, 3 * at);
    solid.quaternion.fromArray(confirmed.orientations, 4 * at);
    solid.visible = true;
  }
  end(): void {
    for (let i = this.count; i < this.#pairs.length; ++i) this.#pairs[i]!.solid.visible = false;
  }
  clear(): void {
    this.begin();
    this.end();
  }
  /** Bodies are others from now on. */
  forget(): void {
    for (const { solid, edges } of this.#plain.values()) {
      solid.dispose();
      edges.dispose();
    }
    this.#plain.clear();
  }

  #plainOf(bodies: Bodies, id: bigint): Plain | null {
    const drawn = bodies.geometryAt(id), shape = bodies.shapeAt(id);
    if (!drawn || !shape) return null;
    let plain = this.#plain.get(drawn);
    if (!plain) {
      const solid = shape.type >= constants.SHAPE_HULL ? drawn.clone() : geometryOf(shape, MANY)!;
      this.#plain.set(drawn, (plain = { solid, edges: new EdgesGeometry(solid, SEEN_DEG) }));
    }
    return plain;
  }
  #make(): { solid: Mesh; edges: LineSegments } {
    const pair = { solid: new Mesh(undefined, this.#solid), edges: new LineSegments(undefined, this.#edges) };
    pair.solid.add(pair.edges);
    pair.solid.frustumCulled = pair.edges.frustumCulled = false;
    this.#pairs.push(pair);
    this.#scene.add(pair.solid);
    return pair;
  }
}

/** Bodies are in the order of their indices. */
function placeOf({ indices, count }: Samples, id: bigint): number {
  const index = Number(id & 0xffffffffn);
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (indices[2 * middle]! < index) low = middle + 1;
    else high = middle;
  }
  return low < count && indices[2 * low] === index && indices[2 * low + 1] === Number(id >> 32n) ? low : -1;
}
