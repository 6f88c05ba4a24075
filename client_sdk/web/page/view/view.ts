// The picture of a source: three.js over a canvas.
import { InstancedMesh, NeutralToneMapping, Plane, Quaternion, Raycaster, Scene, Vector2, Vector3,
         WebGLRenderer } from 'three';
import { constants, type Samples } from '../../src/client.js';
import type { Shell, Source } from '../source.js';
import { Bodies } from './bodies.js';
import { Eye, type Leader } from './camera.js';
import { Day } from './day.js';
import type { Solids } from './geometry.js';
import { Outlines } from './outlines.js';
import { Overlays } from './overlays.js';
import { Pulls, toLocal, type Pull } from './pulls.js';
import { Governor } from './quality.js';

const LEAST_SIZE_M = 1.2;  // of what is followed, as far as the distance to it goes
const LIFT = 0.7;  // of that size
const FRAME_AGAIN = 1.2;  // so many more bodies have joined: they are to be seen, too
const SHADOWS_TO = 20_000;  // bodies

const ahead = new Vector3(), orientation = new Quaternion(), ray = new Raycaster(), at = new Vector2();
const plane = new Plane(), facing = new Vector3(), crossing = new Vector3();

/** The body at a point of the window, and the point of it that is there: m, in the world and in its frame. */
export interface Hit { id: bigint; point: Vector3; local: Vector3 }

export class View {
  readonly eye: Eye;
  readonly overlays: Overlays;
  readonly pulls: Pulls;
  readonly scene = new Scene();
  readonly #renderer: WebGLRenderer;
  readonly #day: Day;
  readonly #outlines: Outlines;
  readonly #governor: Governor;
  readonly #leader: Leader = { position: new Vector3(), heading: null, speedMps: 0 };
  readonly #solids = new WeakMap<Source, Solids>();
  #bodies: Bodies;
  #source: Source | null = null;
  #own: bigint | null = null;
  #ownSlot: number = constants.NO_SLOT;
  #size = LEAST_SIZE_M;
  #before = 0;
  #crowded = false;
  #framedCount = 0;  // of bodies, when the eye was placed before them

  constructor(canvas: HTMLCanvasElement, quality: 'high' | 'low' | null, { show, hints }: Pick<Shell, 'show' | 'hints'>,
              onMoved: () => void) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: quality !== 'low', powerPreference: 'high-performance' });
    this.#renderer.toneMapping = NeutralToneMapping;
    this.#renderer.shadowMap.enabled = true;
    this.#governor = new Governor(quality);
    this.#day = new Day(this.scene, this.#renderer);
    this.#bodies = new Bodies(this.scene);
    this.#outlines = new Outlines(this.scene);
    this.overlays = new Overlays(this.scene, show, hints);
    this.pulls = new Pulls(this.scene);
    this.eye = new Eye(canvas, onMoved);
    new ResizeObserver(() => this.#refine()).observe(canvas);
    this.#refine();
  }

  /** The shapes of a source's scene, once they are known. */
  know(source: Source, solids: Solids): void {
    this.#solids.set(source, solids);
    if (source === this.#source) this.#bodies.solids = solids;
  }

  /** Draws a frame. `selected` is outlined, `pulls` are lines; without a leader, `right` and `ahead` move the eye. */
  draw(source: Source | null, samples: Samples | null, selected: bigint | null, pulls: readonly Pull[], now: number,
       right: number, forward: number): void {
    const ms = now - this.#before, crowded = (samples?.count ?? 0) > SHADOWS_TO;
    this.#before = now;
    if (this.#governor.frame(ms, now) || crowded !== this.#crowded) {
      this.#crowded = crowded;
      this.#refine();
    }
    if (source !== this.#source) this.#change(source);
    const { eye } = this;
    let leader: Leader | null = null;
    if (source && samples) {
      this.#knowOwn(source);
      this.#bodies.update(source, samples, this.#ownSlot, eye.camera.position, Math.min(ms, 1000));
      leader = this.#lead(samples, this.#own);
      if (leader) eye.takeUp(leader, this.#size);
      else if (this.#own === null && samples.count > FRAME_AGAIN * this.#framedCount) this.#frameAll(samples);
      this.#outlines.update(this.#bodies, samples, selected);
      this.pulls.update(this.#bodies, samples, pulls);
      this.overlays.update(source, samples, selected, this.#bodies, eye.distance);
    } else {
      this.overlays.still();
    }
    eye.update(Math.min(ms, 100) / 1000, leader, right, forward);
    this.#day.follow(eye.camera.position, eye.target, eye.distance);
    this.#renderer.render(this.scene, eye.camera);
  }

  /** The body at a point of the window. */
  pick(x: number, y: number, samples: Samples): bigint | null {
    return this.hit(x, y, samples)?.id ?? null;
  }
  hit(x: number, y: number, samples: Samples): Hit | null {
    this.#aim(x, y);
    const { meshes } = this.#bodies;
    for (const mesh of meshes) mesh.boundingSphere = null;  // of where the bodies were before
    const hit = ray.intersectObjects(meshes, false)[0];
    if (!hit || hit.instanceId === undefined || !(hit.object instanceof InstancedMesh)) return null;
    const id = this.#bodies.bodyAt(hit.object, hit.instanceId, samples);
    const place = id === null ? -1 : this.#bodies.placeOf(samples, id);
    return id === null || place < 0 ? null : { id, point: hit.point, local: toLocal(samples, place, hit.point) };
  }
  /** Sets `out` to where a point of the window is in the plane through `through` that faces the eye, if it is there. */
  inPlane(x: number, y: number, through: Vector3, out: Vector3): void {
    this.#aim(x, y);
    plane.setFromNormalAndCoplanarPoint(this.eye.camera.getWorldDirection(facing), through);
    if (ray.ray.intersectPlane(plane, crossing)) out.copy(crossing);
  }
  /** Where a body is in these samples; -1: it is not there. */
  placeOf(samples: Samples, id: bigint): number {
    return this.#bodies.placeOf(samples, id);
  }

  /** From now on the ray goes from the eye through a point of the window. */
  #aim(x: number, y: number): void {
    const { left, top, width, height } = this.#renderer.domElement.getBoundingClientRect();
    ray.setFromCamera(at.set(2 * (x - left) / width - 1, 1 - 2 * (y - top) / height), this.eye.camera);
  }
  #change(source: Source | null): void {
    this.#source = source;
    this.#own = null;
    this.#ownSlot = constants.NO_SLOT;
    this.#framedCount = 0;
    this.overlays.clear();
    this.pulls.clear();
    this.#bodies.dispose();
    this.#bodies = new Bodies(this.scene);
    const solids = source && this.#solids.get(source);
    if (solids) this.#bodies.solids = solids;
  }
  #knowOwn(source: Source): void {
    const own = source.ownBody();
    if (own === this.#own) return;
    this.#own = own;
    this.#ownSlot = own === null ? constants.NO_SLOT : source.body(own)?.slot ?? constants.NO_SLOT;
  }
  #lead(samples: Samples, id: bigint | null): Leader | null {
    const place = id === null ? -1 : this.#bodies.placeOf(samples, id), leader = this.#leader;
    const geometry = id === null ? null : this.#bodies.geometryAt(id);
    if (place < 0 || !geometry) return null;
    if (!geometry.boundingSphere) geometry.computeBoundingSphere();
    this.#size = Math.max(geometry.boundingSphere!.radius, LEAST_SIZE_M);
    const { linearVelocities: v } = samples;
    leader.position.fromArray(samples.positions, 3 * place);
    leader.position.y += LIFT * this.#size;  // more is seen of what lies ahead
    leader.speedMps = Math.hypot(v[3 * place]!, v[3 * place + 2]!);
    ahead.set(0, 0, 1).applyQuaternion(orientation.fromArray(samples.orientations, 4 * place));
    leader.heading = Math.hypot(ahead.x, ahead.z) > 0.5 ? Math.atan2(ahead.x, ahead.z) : null;
    return leader;
  }
  #frameAll(samples: Samples): void {
    this.#framedCount = samples.count;
    const low = new Vector3(Infinity, Infinity, Infinity), high = low.clone().negate(), place = new Vector3();
    for (let i = 0; i < samples.count; ++i) {
      place.fromArray(samples.positions, 3 * i);
      low.min(place);
      high.max(place);
    }
    this.eye.frame(low.clone().add(high).multiplyScalar(0.5), 0.5 * low.distanceTo(high),
                   high.z - low.z > high.x - low.x);
  }
  #refine(): void {
    const canvas = this.#renderer.domElement, { pixelRatio, shadows } = this.#governor.quality;
    const width = canvas.clientWidth || 1, height = canvas.clientHeight || 1;
    this.#renderer.setPixelRatio(pixelRatio);
    this.#renderer.setSize(width, height, false);
    this.#day.shadows = shadows && !this.#crowded;
    this.#outlines.resize(width, height);
    this.eye.resize(width, height);
  }
}
