// Bodies by what they are called, and where they stand in the samples.
import { constants, type Body, type Samples, type Shape } from '../../src/client.js';
import type { Source } from '../source.js';

const MOST_FOUND = 50;

export interface Found { id: bigint; label: string }

/** Index and generation, as the logs of the server have them. */
export function nameOf(id: bigint): string {
  return `${id & 0xffffffffn}:${id >> 32n}`;
}

export function labelOf(id: bigint, body: Body): string {
  const slot = body.slot === constants.NO_SLOT ? '' : ` (slot ${body.slot})`;
  const called = body.name || [body.templateName, body.memberName].filter(Boolean).join('/') || body.materialName;
  return `${nameOf(id)} ${called}${slot}`.trim();
}

/** Finds bodies by index, name, template, material or slot. What a body is called does not change while it exists. */
export class BodySearch {
  #source: Source | null = null;
  readonly #texts = new Map<bigint, Found & { text: string }>();

  find(source: Source, samples: Samples, words: string): Found[] {
    if (source !== this.#source) this.#texts.clear();
    this.#source = source;
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean), found: Found[] = [];
    const ids = samples.ids.slice(0, samples.count);  // body() may make the module's memory grow
    for (const id of ids) {
      const entry = this.#textOf(source, id);
      if (entry && wanted.every((word) => entry.text.includes(word)) && found.push(entry) === MOST_FOUND) break;
    }
    return found;
  }
  #textOf(source: Source, id: bigint): (Found & { text: string }) | undefined {
    let entry = this.#texts.get(id);
    const body = entry ? null : source.body(id);
    if (body) {
      const label = labelOf(id, body);
      const text = `${label} ${body.templateName} ${body.memberName} ${body.materialName}`.toLowerCase();
      this.#texts.set(id, (entry = { id, label, text }));
    }
    return entry;
  }
}

/** The place of a body in the samples, or -1. `guess`: where it was before. */
export function placeOf(samples: Samples, id: bigint, guess: number): number {
  const index = Number(id & 0xffffffffn), generation = Number(id >> 32n), { indices, count } = samples;
  const isAt = (i: number): boolean => indices[2 * i] === index && indices[2 * i + 1] === generation;
  if (guess >= 0 && guess < count && isAt(guess)) return guess;
  for (let i = 0; i < count; ++i) if (isAt(i)) return i;
  return -1;
}

const length = (metres: number): string => `${metres.toFixed(2)} m`;
const SHAPES: Record<number, (shape: Shape) => string> = {
  [constants.SHAPE_SPHERE]: ({ radius }) => `sphere, radius ${length(radius)}`,
  [constants.SHAPE_BOX]: ({ halfExtents }) => `box, ${halfExtents.map((half) => (2 * half).toFixed(2)).join(' × ')} m`,
  [constants.SHAPE_CAPSULE]: ({ radius, halfHeight }) =>
    `capsule, radius ${length(radius)}, height ${length(2 * (halfHeight + radius))}`,
  [constants.SHAPE_CYLINDER]: ({ radius, halfHeight }) =>
    `cylinder, radius ${length(radius)}, height ${length(2 * halfHeight)}`,
  [constants.SHAPE_PLANE]: () => 'plane',
  [constants.SHAPE_HULL]: () => 'convex hull',
  [constants.SHAPE_MESH]: () => 'mesh',
  [constants.SHAPE_HEIGHT_FIELD]: () => 'height field',
  [constants.SHAPE_COMPOUND]: () => 'compound',
};
const TYPES: Record<number, string> = {
  [constants.BODY_FIXED]: 'fixed', [constants.BODY_KINEMATIC]: 'kinematic', [constants.BODY_DYNAMIC]: 'dynamic',
};

export function shapeText(shape: Shape | null): string {
  return shape ? (SHAPES[shape.type]?.(shape) ?? `shape of kind ${shape.type}`) : 'no shape';
}
export function typeText(type: number): string {
  return TYPES[type] ?? `kind ${type}`;
}
