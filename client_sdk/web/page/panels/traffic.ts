// What passed through the client's socket, in steps of one tick of this machine's clock.
import type { SlowNetwork } from '../../src/client.js';

export const LOST = 1;
/** After a gap: the room sends each tick. */
export const LATE = 2;

// A browser's own unevenness is not the network's.
const TOLERANCE_MS = 12;

export class Traffic {
  readonly length = 256;
  readonly bytesIn = new Float32Array(this.length);
  readonly bytesOut = new Float32Array(this.length);
  readonly marks = new Uint8Array(this.length);
  /** Of the newest step; the ring's place is `step % length`. */
  step = 0;
  /** The longest time by which a message came later than a tick after the one before, since take(). */
  #latestMs = 0;
  #lastMs = -1;
  #tickMs = 1000 / 60;

  constructor(network: SlowNetwork) {
    network.onPassed = (outward, bytes, lost) => this.#note(performance.now(), outward, bytes, lost);
  }

  /** Moves on to `nowMs`; what no message came in stays empty. */
  advance(nowMs: number, tickRateHz: number): void {
    this.#tickMs = 1000 / tickRateHz;
    const step = Math.floor(nowMs / this.#tickMs), first = Math.max(this.step + 1, step - this.length + 1);
    if (step < this.step) this.step = step;  // another tick rate
    for (let i = first; i <= step; ++i) {
      const at = i % this.length;
      this.bytesIn[at] = this.bytesOut[at] = this.marks[at] = 0;
    }
    this.step = step;
  }
  /** The lateness since the call before, ms. */
  takeLateMs(): number {
    const late = this.#latestMs;
    this.#latestMs = 0;
    return late;
  }
  /** The mean of the last `steps` whole steps. */
  meanOf(bytes: Float32Array, steps: number): number {
    let sum = 0;
    for (let i = 1; i <= steps; ++i) sum += bytes[(this.step - i + this.length) % this.length]!;
    return sum / steps;
  }
  /** How many of the last `steps` steps have the mark. */
  countOf(mark: number, steps: number): number {
    let count = 0;
    for (let i = 1; i <= steps; ++i) count += this.marks[(this.step - i + this.length) % this.length]! & mark ? 1 : 0;
    return count;
  }

  #note(nowMs: number, outward: boolean, bytes: number, lost: boolean): void {
    this.advance(nowMs, 1000 / this.#tickMs);
    const at = this.step % this.length;
    (outward ? this.bytesOut : this.bytesIn)[at]! += bytes;
    this.marks[at]! |= lost ? LOST : 0;
    if (outward) return;
    const late = this.#lastMs < 0 ? 0 : nowMs - this.#lastMs - this.#tickMs;
    this.#lastMs = nowMs;
    if (late < TOLERANCE_MS) return;
    this.#latestMs = Math.max(this.#latestMs, late);
    this.marks[at]! |= LATE;
  }
}
