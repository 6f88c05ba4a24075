// What the simulation knows of a body beside its pose, where the client can tell it.
import { constants } from '../../src/client.js';
import type { Live, Source } from '../source.js';
import { nameOf } from './bodies.js';
import { Values } from './dom.js';

interface State {
  ageTicks: number;
  own: { asleep: boolean; sensor: boolean; massKg: number } | null;
  confirmed: { tick: bigint; errorMm: number; errorDeg: number } | null;
}
interface Contacts { count: number; bodies: BigUint64Array; impulses: Float32Array; touching: Uint8Array }
interface Joints { count: number; kinds: Uint32Array; bodies: BigUint64Array; forces: Float32Array }
/** What is asked of a client. */
interface Teller {
  readonly state: number;
  bodyState(id: bigint): State | null;
  contacts(id: bigint): Contacts | null;
  joints(id: bigint): Joints | null;
  jointKind(kind: number): string;
  setConfirmed(on: boolean): void;
  mirrorStats(): object | null;
}

const TERMS = [
  ['state', 'Whether it sleeps'],
  ['mass', 'kg'],
  ['contacts', 'What it touches, with the impulse of the last step in N s'],
  ['joints', 'What holds it, with the force in N'],
  ['age', 'By how many ticks its newest state is older than the newest snapshot'],
  ['server', 'How far the prediction was from what the server has confirmed'],
] as const;
const MOST_LISTED = 4;

export class BodyState {
  readonly #values = new Values(TERMS);
  readonly element = this.#values.element;
  #kept: Teller | null = null;  // a mirror that keeps what is confirmed

  /** `id`: null hides it, and the client keeps nothing for it. */
  show(source: Source | null, id: bigint | null): void {
    const teller = id === null ? null : tellerOf(source), state = teller?.bodyState(id!) ?? null;
    this.#keep(teller);
    this.element.hidden = state === null;
    if (!teller || !state || !source) return;
    const { own, confirmed } = state;
    this.#values.set(0, own ? `${own.asleep ? 'asleep' : 'awake'}${own.sensor ? ', a sensor' : ''}` : 'not known');
    this.#values.set(1, !own ? 'not known' : own.massKg > 0 ? `${own.massKg.toPrecision(4)} kg` : 'fixed');
    this.#values.set(2, contactsText(source, teller.contacts(id!), id!));
    this.#values.set(3, jointsText(source, teller, id!));
    this.#values.set(4, `${state.ageTicks.toFixed(1)} ticks`);
    this.#values.set(5, !confirmed ? 'not known'
      : `${confirmed.errorMm.toFixed(1)} mm, ${confirmed.errorDeg.toFixed(2)}° at tick ${confirmed.tick}`);
  }
  #keep(teller: Teller | null): void {
    const mirror = teller?.mirrorStats() ? teller : null;
    if (mirror === this.#kept) return;
    if (this.#kept && this.#kept.state !== constants.STATE_DISCONNECTED) this.#kept.setConfirmed(false);
    mirror?.setConfirmed(true);
    this.#kept = mirror;
  }
}

function tellerOf(source: Source | null): Teller | null {
  const client: object | null = source?.kind === 'live' ? (source as Live).client : null;
  return client && 'bodyState' in client ? (client as Teller) : null;
}
function called(source: Source, id: bigint): string {
  if (id === constants.NO_BODY) return 'the world';
  const body = source.body(id);
  return body?.name || [body?.templateName, body?.memberName].filter(Boolean).join('/') || nameOf(id);
}
function contactsText(source: Source, contacts: Contacts | null, id: bigint): string {
  if (!contacts) return 'not known';
  // Names come last: a call of the client may move the arrays.
  const touched = new Map<bigint, number>();
  for (let i = 0; i < contacts.count; ++i) {
    const other = contacts.bodies[2 * i] === id ? contacts.bodies[2 * i + 1]! : contacts.bodies[2 * i]!;
    if (contacts.touching[i]) touched.set(other, (touched.get(other) ?? 0) + contacts.impulses[i]!);
  }
  const strongest = [...touched].sort((a, b) => b[1] - a[1]).slice(0, MOST_LISTED);
  const texts = strongest.map(([other, impulse]) => `${called(source, other)} ${impulse.toFixed(2)} N s`);
  return listed(touched.size, texts);
}
function jointsText(source: Source, teller: Teller, id: bigint): string {
  const joints = teller.joints(id);
  if (!joints) return 'not known';
  const all = Array.from({ length: Math.min(joints.count, MOST_LISTED) }, (_, i) => ({
    kind: joints.kinds[i]!, other: joints.bodies.subarray(4 * i, 4 * i + 2).find((each) => each !== id) ?? id,
    force: joints.forces[i]!,
  }));
  const { count } = joints;
  return listed(count, all.map(({ kind, other, force }) =>
    `${teller.jointKind(kind)} to ${called(source, other)} ${force.toFixed(0)} N`));
}
function listed(count: number, some: string[]): string {
  return count === 0 ? 'none' : `${count}: ${some.join(', ')}${count > some.length ? ', …' : ''}`;
}
