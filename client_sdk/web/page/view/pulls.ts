// Lines from the points at which bodies are held to where they are pulled.
import { Color, Quaternion, type Scene, Vector3 } from 'three';
import type { Samples } from '../../src/client.js';
import type { Bodies } from './bodies.js';
import { Dots, Lines } from './strokes.js';

/** A body, the point of it that is held (m, in its frame), and where that point is pulled (m, world). */
export interface Pull { id: bigint; local: Vector3; target: Vector3 }

const COLOUR = '#ffd23f';
const origin = new Vector3(), orientation = new Quaternion(), point = new Vector3();

/** A point of the world in the frame of the body at this place of the samples. */
export function toLocal(samples: Samples, place: number, world: Vector3): Vector3 {
  orientation.fromArray(samples.orientations, 4 * place).invert();
  return world.clone().sub(origin.fromArray(samples.positions, 3 * place)).applyQuaternion(orientation);
}

export class Pulls {
  readonly #lines: Lines;
  readonly #dots: Dots;
  readonly #colour = new Color(COLOUR);
  readonly #ends = new Float32Array(6);

  constructor(scene: Scene) {
    this.#lines = new Lines(scene, 3);
    this.#dots = new Dots(scene, COLOUR, 0.2, 11);
  }
  update(bodies: Bodies, samples: Samples, pulls: readonly Pull[]): void {
    this.#lines.count = this.#dots.count = 0;
    for (const { id, local, target } of pulls) {
      const place = bodies.placeOf(samples, id), ends = this.#ends;
      if (place < 0) continue;
      point.copy(local).applyQuaternion(orientation.fromArray(samples.orientations, 4 * place));
      point.add(origin.fromArray(samples.positions, 3 * place)).toArray(ends, 0);
      target.toArray(ends, 3);
      this.#lines.add(ends, 0, ends, 3, this.#colour, 0);
      this.#dots.add(ends, 0, true);
      this.#dots.add(ends, 3, false);
    }
    this.#lines.show();
    this.#dots.show();
  }
  /** How many are drawn, for tests. */
  get drawn(): number {
    return this.#lines.count;
  }
  clear(): void {
    this.#lines.clear();
    this.#dots.clear();
  }
}
