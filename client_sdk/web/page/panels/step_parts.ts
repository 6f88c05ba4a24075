// Where the time of the world's steps went in the last 60 s: each part for itself, and one upon the other.
import type { StepTimes } from '../../src/client.js';

export type Hatch = 'full' | 'rising' | 'falling' | 'level' | 'dots';
/** A hatch says which part it is, and not the colour alone. */
export interface Part {
  key: Exclude<keyof StepTimes, 'steps'>; label: string; title: string; colour: string; hatch: Hatch;
}
/** From the lowest. */
export const PARTS: readonly Part[] = [
  { key: 'collisionMs', label: 'collision', title: 'Bounds, pairs and contacts', colour: 'in', hatch: 'full' },
  { key: 'solverMs', label: 'solver', title: 'Constraints and motion', colour: 'out', hatch: 'rising' },
  { key: 'rigsMs', label: 'rigs', title: 'Ropes, nets, ragdolls and vehicles', colour: 'rollback', hatch: 'level' },
  { key: 'restMs', label: 'rest', title: 'Commands, events and sleep', colour: 'good', hatch: 'dots' },
  { key: 'stateMs', label: 'hash and states', title: 'The hash, the states to go back to, and going back',
    colour: 'warn', hatch: 'falling' },
];

export class StepParts {
  /** ms a frame; PARTS[i] is that of ms[i]. */
  readonly ms: readonly Float64Array[];
  /** The sum of ms[0] to ms[i]. */
  readonly stacked: readonly Float64Array[];
  #before: StepTimes | null = null;

  constructor(length: number) {
    this.ms = PARTS.map(() => new Float64Array(length));
    this.stacked = PARTS.map(() => new Float64Array(length));
  }
  /** Something else is measured, or nobody looked for a while: the next sums are where it begins. */
  begin(): void {
    this.#before = null;
  }
  /** New places at the end, of these frames together. `times`: the sums now; null: not measured. */
  add(times: StepTimes | null, frames: number, places: number): void {
    const before = this.#before;
    let sum = 0;
    PARTS.forEach(({ key }, i) => {
      const ms = times && before && times.steps >= before.steps ? (times[key] - before[key]) / Math.max(1, frames) : 0;
      sum += ms;
      push(this.ms[i]!, ms, places);
      push(this.stacked[i]!, sum, places);
    });
    this.#before = times;
  }
  /** What took time at a place, in words; '': nothing. */
  text(at: number): string {
    const sum = this.stacked.at(-1)![at]!;
    if (sum <= 0) return '';
    const parts = PARTS.map(({ label }, i) => `${label} ${this.ms[i]![at]!.toFixed(2)}`);
    return `steps ${sum.toFixed(2)} ms a frame: ${parts.join(', ')}`;
  }
}

function push(values: Float64Array, value: number, places: number): void {
  const at = Math.max(0, values.length - places);
  values.copyWithin(0, values.length - at);
  values.fill(value, at);
}
