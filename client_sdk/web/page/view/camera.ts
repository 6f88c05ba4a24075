// The eye: it goes about a point by mouse and touch (orbit, zoom, pan), and that point may follow a body.
import { PerspectiveCamera, Spherical, TOUCH, Vector3 } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

const FOLLOW_HALF_LIFE_S = 0.05, TURN_HALF_LIFE_S = 0.45;
const HANDS_OFF_MS = 2500;  // after a drag, the eye does not turn by itself for so long
const MOVING_MPS = 1.5;
const PAN_PER_S = 0.9;  // of the distance
const ROUNDING = 1e-10;  // m2

const share = (dtS: number, halfLifeS: number): number => 1 - 2 ** (-dtS / halfLifeS);

/** What is followed: its place, its heading (rad about y; null: it has none) and its speed. */
export interface Leader { position: Vector3; heading: number | null; speedMps: number }

export class Eye {
  readonly camera = new PerspectiveCamera(52, 1, 0.1, 6000);
  readonly #controls: OrbitControls;
  readonly #offset = new Vector3();
  readonly #way = new Spherical();
  readonly #before = new Vector3();
  #draggedAt = -Infinity;
  #framed = false;
  /** Whether the point goes with the leader; a pan ends it. */
  following = true;

  constructor(canvas: HTMLElement, onMoved: () => void) {
    const controls = this.#controls = new OrbitControls(this.camera, canvas);
    controls.enableDamping = true;
    controls.dampingFactor = 0.12;
    controls.minDistance = 0.5;
    controls.maxDistance = 1500;
    controls.maxPolarAngle = 0.53 * Math.PI;
    controls.addEventListener('start', () => {
      this.#draggedAt = Infinity;
      this.#framed = true;
    });
    controls.addEventListener('end', () => {
      this.#draggedAt = performance.now();
      onMoved();
    });
    this.camera.position.set(14, 10, 22);
  }

  get target(): Vector3 {
    return this.#controls.target;
  }
  /** Whether it has a place that is worth a link. */
  get placed(): boolean {
    return this.#framed;
  }
  get distance(): number {
    return this.camera.position.distanceTo(this.target);
  }
  place(position: readonly number[], target: readonly number[]): void {
    this.camera.position.fromArray(position);
    this.target.fromArray(target);
    this.#framed = true;
  }
  /** Only if nothing else has placed the eye: so that a ball of `radius` m is seen; `alongZ`: what is in it is longer
   * along z than along x. */
  frame(centre: Vector3, radius: number, alongZ: boolean): void {
    if (this.#framed) return;
    this.target.copy(centre);
    const narrow = Math.min(this.camera.aspect, 1);
    this.camera.position.set(alongZ ? 0.9 : 0.45, 0.32, alongZ ? 0.45 : 0.9).normalize()
      .multiplyScalar((1.25 * radius + 3) / narrow).add(centre);
  }
  /** Behind a leader, once. */
  takeUp(leader: Leader, size: number): void {
    if (this.#framed) return;
    this.#framed = true;
    const heading = leader.heading ?? 0, away = 6.5 * size / Math.min(Math.max(this.camera.aspect, 0.62), 1);
    this.target.copy(leader.position);
    this.camera.position.set(away * Math.sin(heading), 0.33 * away, away * Math.cos(heading)).add(leader.position);
  }

  /** `right` and `ahead`: -1 to 1, by which a free eye moves along the ground. */
  update(dtS: number, leader: Leader | null, right: number, ahead: number): void {
    const { camera, target } = this, offset = this.#offset;
    if (leader && this.following) {
      offset.subVectors(leader.position, target);
      // A leap (a respawn, another body) is followed at once.
      offset.multiplyScalar(offset.length() > 30 ? 1 : share(dtS, FOLLOW_HALF_LIFE_S));
      target.add(offset);
      camera.position.add(offset);
      if (leader.heading !== null && leader.speedMps > MOVING_MPS && performance.now() - this.#draggedAt > HANDS_OFF_MS)
        this.#turnTo(leader.heading, share(dtS, TURN_HALF_LIFE_S));
    } else if (right !== 0 || ahead !== 0) {
      this.#framed = true;
      const step = PAN_PER_S * dtS * Math.max(this.distance, 3);
      camera.getWorldDirection(offset);
      const length = Math.hypot(offset.x, offset.z) || 1, x = offset.x / length, z = offset.z / length;
      offset.set((x * ahead - z * right) * step, 0, (z * ahead + x * right) * step);
      target.add(offset);
      camera.position.add(offset);
    }
    this.#before.copy(target);
    this.#controls.touches.TWO = leader && this.following ? TOUCH.DOLLY_ROTATE : TOUCH.DOLLY_PAN;
    this.#controls.update(dtS);
    if (this.#before.distanceToSquared(target) > ROUNDING) this.following = false;  // a pan
  }
  resize(width: number, height: number): void {
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }
  dispose(): void {
    this.#controls.dispose();
  }

  #turnTo(heading: number, part: number): void {
    const way = this.#way.setFromVector3(this.#offset.subVectors(this.camera.position, this.target));
    const turn = Math.atan2(Math.sin(heading - way.theta), Math.cos(heading - way.theta));
    way.theta += turn * part;
    this.camera.position.setFromSpherical(way).add(this.target);
  }
}
