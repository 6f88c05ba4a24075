// What the simulation knows of a body beside its pose, where the client can tell it.
import { constants, type Contacts } from '../../src/client.js';
import { ConfirmedWish, mirrorOf, tellerOf, type Sight } from '../sight.js';
import type { Source } from '../source.js';
import { nameOf } from './bodies.js';
import { costTexts } from './cost.js';
import { Values } from './dom.js';

const TERMS = [
  ['state', 'Whether it sleeps'],
  ['mass', 'kg'],
  ['contacts', 'What it touches, with the impulse of the last step in N s'],
  ['joints', 'What holds it, with the force in N'],
  ['age', 'By how much its newest state is older than the newest snapshot'],
  ['server', 'How far the prediction was from what the server has confirmed'],
  ['cost', 'What its own bits took of the snapshots'],
  ['updates', 'Snapshots that had it. One that does not move is left out; of many that do, those near the own body ' +
              'come first'],
  ['baseline', 'The state that its newest one was coded against: the closer, the fewer bits'],
] as const;
const MOST_LISTED = 4;

export class BodyState {
  readonly #values = new Values(TERMS);
  readonly element = this.#values.element;
  readonly #wish = new ConfirmedWish();

  /** `id`: null hides it, and a mirror keeps nothing for it. */
  show(source: Source | null, id: bigint | null): void {
    const teller = id === null ? null : tellerOf(source), state = teller?.bodyState(id!) ?? null;
    const mirror = id === null ? null : mirrorOf(source), values = this.#values;
    this.#wish.of(mirror);
    this.element.hidden = state === null;
    if (!teller || !state || !source) return;
    const { own, confirmed, ageTicks } = state;
    values.set(0, own && `${own.asleep ? 'asleep' : 'awake'}${own.sensor ? ', a sensor' : ''}`);
    values.set(1, own && (own.massKg > 0 ? `${own.massKg.toPrecision(4)} kg` : 'fixed'));
    values.set(2, contactsText(source, teller.contacts(id!), id!));
    values.set(3, jointsText(source, teller, id!));
    const ageMs = 1000 * ageTicks / source.tickRateHz();
    values.set(4, own ? null : `${ageTicks.toFixed(1)} ticks, ${ageMs.toFixed(0)} ms`);
    values.set(5, mirror && (!confirmed ? 'not confirmed yet'
      : `${confirmed.errorMm.toFixed(1)} mm, ${confirmed.errorDeg.toFixed(2)}° off at tick ${confirmed.tick}`));
    const texts = mirror || state.cost ? costTexts(state.cost, source.tickRateHz()) : null;
    values.set(6, texts && texts.cost);
    values.set(7, texts && texts.updates);
    values.set(8, texts && texts.baseline);
  }
}

function called(source: Source, id: bigint): string {
  if (id === constants.NO_BODY) return 'the world';
  const body = source.body(id);
  return body?.name || [body?.templateName, body?.memberName].filter(Boolean).join('/') || nameOf(id);
}
function contactsText(source: Source, contacts: Contacts | null, id: bigint): string | null {
  if (!contacts) return null;
  // Names come last: a call of the client may move the arrays.
  const touched = new Map<bigint, number>();
  let points = 0;
  for (let i = 0; i < contacts.count; ++i) {
    if (!contacts.touching[i]) continue;
    const other = contacts.bodies[2 * i] === id ? contacts.bodies[2 * i + 1]! : contacts.bodies[2 * i]!;
    touched.set(other, (touched.get(other) ?? 0) + contacts.impulses[i]!);
    ++points;
  }
  const strongest = [...touched].sort((a, b) => b[1] - a[1]).slice(0, MOST_LISTED);
  const texts = strongest.map(([other, impulse]) => `${called(source, other)} ${impulse.toFixed(2)} N s`);
  return listed(points, touched.size, texts);
}
function jointsText(source: Source, teller: Sight, id: bigint): string | null {
  const joints = teller.joints(id);
  if (!joints) return null;
  const { count } = joints;
  const all = Array.from({ length: Math.min(count, MOST_LISTED) }, (_, i) => ({
    kind: joints.kinds[i]!, other: joints.bodies.subarray(4 * i, 4 * i + 2).find((each) => each !== id) ?? id,
    force: joints.forces[i]!,
  }));
  return listed(count, count, all.map(({ kind, other, force }) =>
    `${teller.jointKind(kind)} to ${called(source, other)} ${force.toFixed(0)} N`));
}
/** `some` of `all` that there are. */
function listed(count: number, all: number, some: string[]): string {
  return count === 0 ? 'none' : `${count}: ${some.join(', ')}${all > some.length ? ', …' : ''}`;
}
