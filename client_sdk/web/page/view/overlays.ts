// What is drawn beside the bodies where it is wished: contacts, joints, bounds, sleep, and what the server has
// confirmed. All is of the newest tick, while bodies are drawn between two ticks. Nothing is allocated in a frame.
import { Color, type Scene } from 'three';
import { constants, type Client, type Marks, type Samples } from '../../src/client.js';
import { ConfirmedWish, mirrorOf, sightOf, type Sight } from '../sight.js';
import type { Hints, Show, Source } from '../source.js';
import type { Bodies } from './bodies.js';
import { Boxes } from './boxes.js';
import { Ghosts } from './ghosts.js';
import { jointLookOf, type JointLook } from './joint_looks.js';
import { Dots, Lines } from './strokes.js';

const MOST_AWAKE = 500, MOST_BOXES = 2000;
const NORMAL = 0.04, LEAST_NORMAL_M = 0.1, MOST_NORMAL_M = 1.5;  // length: of the eye's distance
const LEAST_DASHES = 1.5;  // of a short line
const CONTACT = new Color('#7dffb0');
const NOBODY = 0xffffffff;  // index and generation of constants.NO_BODY

/** The numbers of ids, of which reading the ids themselves would allocate each. */
class Numbers {
  #of: BigUint64Array | null = null;
  #numbers: Uint32Array = new Uint32Array(0);
  in(ids: BigUint64Array): Uint32Array {
    if (this.#of !== ids) this.#numbers = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
    this.#of = ids;
    return this.#numbers;
  }
}

export class Overlays {
  readonly #show: Show;
  readonly #hints: Hints;
  readonly #normals: Lines;
  readonly #points: Dots;
  readonly #links: Lines;
  readonly #anchors: Dots;
  readonly #boxes: Boxes;
  readonly #ghosts: Ghosts;
  readonly #markNumbers = new Numbers();
  readonly #jointNumbers = new Numbers();
  readonly #wish = new ConfirmedWish();
  readonly #tip = new Float32Array(3);
  #kinds: JointLook[] = [];
  #source: Source | null = null;
  #sight: Sight | null = null;
  #mirror: Client | null = null;
  #marked = false;  // bodies are drawn as asleep

  /** `hints`: here it says what is not drawn, and why. */
  constructor(scene: Scene, show: Show, hints: Hints) {
    this.#show = show;
    this.#hints = hints;
    this.#normals = new Lines(scene, 2);
    this.#points = new Dots(scene, '#7dffb0', 0.2, 9);
    this.#links = new Lines(scene, 2.5);
    this.#anchors = new Dots(scene, '#ffffff', 0.12, 8);
    this.#boxes = new Boxes(scene, '#12324f');
    this.#ghosts = new Ghosts(scene);
  }

  /** `eyeM`: the eye's distance from what it looks at. */
  update(source: Source, samples: Samples, selected: bigint | null, bodies: Bodies, eyeM: number): void {
    if (source !== this.#source) this.#change(source);
    const sight = this.#sight, { contacts, joints, bounds, sleep, ghost } = this.#show;
    const marks = sight && (contacts || bounds || sleep) ? sight.marks() : null;
    if (sleep || this.#marked) this.#markSleep(bodies, sleep ? marks : null);
    this.#drawBounds(bounds ? marks : null, selected);
    // From here on calls of the module may take the marks away.
    this.#drawContacts(contacts && sight && marks ? sight : null, selected, marks ? this.#awake(marks) : 0, eyeM);
    this.#drawJoints(joints ? sight : null, selected, samples, bodies, eyeM);
    this.#drawGhosts(ghost ? this.#mirror : null, selected, bodies);
  }

  /** How much is drawn now, for tests. */
  get drawn(): { contacts: number; joints: number; bounds: number; ghosts: number } {
    return { contacts: this.#points.count, joints: this.#anchors.count, bounds: this.#boxes.count,
             ghosts: this.#ghosts.count };
  }
  /** While no new picture comes, what is no longer wished goes. */
  still(): void {
    const { contacts, joints, bounds, ghost } = this.#show;
    if (!contacts) for (const each of [this.#normals, this.#points]) each.clear();
    if (!joints) for (const each of [this.#links, this.#anchors]) each.clear();
    if (!bounds) this.#boxes.clear();
    if (!ghost) this.#ghosts.clear();
  }
  /** There is nothing to look at. */
  clear(): void {
    for (const each of [this.#normals, this.#points, this.#links, this.#anchors]) each.clear();
    this.#boxes.clear();
    this.#ghosts.clear();
    this.#wish.of(null);
  }

  #change(source: Source): void {
    this.#source = source;
    this.#sight = sightOf(source);
    this.#mirror = mirrorOf(source);
    this.#kinds = [];
    this.#marked = false;
    this.#ghosts.forget();
  }
  #markSleep(bodies: Bodies, marks: Marks | null): void {
    this.#marked = marks !== null;
    if (marks) bodies.markAsleep(this.#markNumbers.in(marks.ids), marks.asleep, marks.count);
    else bodies.wakeAll();
  }
  /** Bodies that are awake; at most one more than matters is counted. */
  #awake({ asleep, count }: Marks): number {
    let awake = 0;
    for (let i = 0; i < count && awake <= MOST_AWAKE; ++i) awake += 1 - asleep[i]!;
    return awake;
  }

  #drawBounds(marks: Marks | null, selected: bigint | null): void {
    this.#hints.bounds = '';
    if (!marks) return this.#boxes.clear();
    if (selected === null) {
      if (marks.count > MOST_BOXES) this.#hints.bounds = `More than ${MOST_BOXES} bodies: select one`;
      return this.#boxes.show(marks.bounds, 0, marks.count > MOST_BOXES ? 0 : marks.count);
    }
    const numbers = this.#markNumbers.in(marks.ids), index = Number(selected & 0xffffffffn);
    const generation = Number(selected >> 32n);
    for (let i = 0; i < marks.count; ++i)
      if (numbers[2 * i] === index && numbers[2 * i + 1] === generation) return this.#boxes.show(marks.bounds, i, 1);
    this.#boxes.clear();
  }

  #drawContacts(sight: Sight | null, selected: bigint | null, awake: number, eyeM: number): void {
    const lines = this.#normals, dots = this.#points, tooMany = selected === null && awake > MOST_AWAKE;
    lines.count = dots.count = 0;
    this.#hints.contacts = sight && tooMany ? `More than ${MOST_AWAKE} bodies are awake: select one` : '';
    const contacts = sight && !tooMany ? sight.contacts(selected ?? constants.NO_BODY) : null;
    if (contacts) {
      const length = Math.min(MOST_NORMAL_M, Math.max(LEAST_NORMAL_M, NORMAL * eyeM)), tip = this.#tip;
      const { points, normals, touching, count } = contacts;
      lines.makeRoom(count);
      dots.makeRoom(count);
      for (let i = 0; i < count; ++i) {
        // Of a contact that sleeps no point is kept.
        if (normals[3 * i] === 0 && normals[3 * i + 1] === 0 && normals[3 * i + 2] === 0) continue;
        // The normal leads out of the other body: to the one that rests on it.
        for (let k = 0; k < 3; ++k) tip[k] = points[3 * i + k]! - length * normals[3 * i + k]!;
        if (touching[i]) lines.add(points, 3 * i, tip, 0, CONTACT, 0);
        dots.add(points, 3 * i, touching[i] === 1);
      }
      if (count > 0 && dots.count === 0) this.#hints.contacts = 'Contacts that sleep keep no points';
    }
    lines.show();
    dots.show();
  }

  #drawJoints(sight: Sight | null, selected: bigint | null, samples: Samples, bodies: Bodies, eyeM: number): void {
    const lines = this.#links, dots = this.#anchors, joints = sight?.joints(selected ?? constants.NO_BODY);
    lines.count = dots.count = 0;
    if (sight && joints && samples.indices.length > 0) {
      const numbers = this.#jointNumbers.in(joints.bodies), { anchors, kinds, count } = joints;
      lines.makeRoom(3 * count);
      dots.makeRoom(2 * count);
      for (let i = 0; i < count; ++i) {
        const look = (this.#kinds[kinds[i]!] ??= jointLookOf(sight.jointKind(kinds[i]!))), a = 6 * i, b = a + 3;
        this.#arm(samples, bodies, numbers, 8 * i, anchors, a, look, eyeM);
        this.#arm(samples, bodies, numbers, 8 * i + 2, anchors, b, look, eyeM);
        dots.add(anchors, a, true);
        if (this.#line(anchors, a, anchors, b, look, eyeM) > 0) dots.add(anchors, b, true);
      }
    }
    lines.show();
    dots.show();
  }
  /** From the body whose numbers are at `n` to its anchor. */
  #arm(samples: Samples, bodies: Bodies, numbers: Uint32Array, n: number, anchors: Float32Array, anchor: number,
       look: JointLook, eyeM: number): void {
    if (numbers[n] === NOBODY) return;
    const place = bodies.placeAt(samples, numbers[n]!, numbers[n + 1]!);
    if (place >= 0) this.#line(samples.positions, 3 * place, anchors, anchor, look, eyeM);
  }
  /** How long it is, m. */
  #line(a: Float32Array, i: number, b: Float32Array, j: number, look: JointLook, eyeM: number): number {
    const length = Math.hypot(a[i]! - b[j]!, a[i + 1]! - b[j + 1]!, a[i + 2]! - b[j + 2]!);
    if (length < 1e-3) return 0;
    const dashes = look.dash === 0 ? 0 : Math.max(LEAST_DASHES, length / (look.dash * eyeM));
    this.#links.add(a, i, b, j, look.colour, dashes);
    return length;
  }

  #drawGhosts(mirror: Client | null, selected: bigint | null, bodies: Bodies): void {
    this.#wish.of(mirror);
    const confirmed = mirror?.confirmed() ?? null, ghosts = this.#ghosts;
    ghosts.begin();
    if (confirmed) {
      for (const id of bodies.own) if (id !== selected) ghosts.add(bodies, confirmed, id);
      if (selected !== null) ghosts.add(bodies, confirmed, selected);
    }
    ghosts.end();
  }
}
