// A recording as something to look at: it plays by the clock, as far as the machine keeps up.
import type { Body, Samples, Shape } from '../../src/client.js';
import type { Shell, Source } from '../source.js';
import type { Verdict } from './verdict.js';

/** A recording that is simulated here, tick by tick; each tick's hash is compared. */
export interface ReplayPlayer {
  readonly firstTick: number;
  readonly lastTick: number;
  readonly tick: number;
  readonly tickRateHz: number;
  step(ticks: number): void;
  seek(tick: number): void;
  verdict(): Verdict;
  sample(): Samples | null;
  body(id: bigint): Body | null;
  shape(index: number): Shape | null;
  close(): void;
}

// A frame's share of stepping: the picture goes on while a heavy recording is verified.
const STEPPING_MS = 12;
// After a pause of the page (hidden, or a long seek) nothing is caught up.
const LONGEST_FRAME_MS = 250;

export class ReplaySource implements Source {
  readonly kind = 'replay';
  readonly name: string;
  /** Of the recorded time; Infinity: as fast as it goes. */
  speed = 1;
  readonly #player: ReplayPlayer;
  readonly #cursor: Shell['cursor'];
  #lastMs = performance.now();
  #owedTicks = 0;

  constructor(player: ReplayPlayer, name: string, cursor: Shell['cursor']) {
    this.#player = player;
    this.name = name;
    this.#cursor = cursor;
  }

  get firstTick(): number { return this.#player.firstTick; }
  get lastTick(): number { return this.#player.lastTick; }
  get tick(): number { return this.#player.tick; }
  tickRateHz(): number { return this.#player.tickRateHz; }
  verdict(): Verdict { return this.#player.verdict(); }
  body(id: bigint): Body | null { return this.#player.body(id); }
  shape(index: number): Shape | null { return this.#player.shape(index); }
  ownBody(): bigint | null { return null; }
  close(): void { this.#player.close(); }

  /** Plays on, and gives the bodies. */
  sample(): Samples | null {
    this.#play(performance.now());
    return this.#player.sample();
  }
  seek(tick: number): void {
    this.#player.seek(Math.min(this.lastTick, Math.max(this.firstTick, Math.round(tick))));
    this.#owedTicks = 0;
    this.#cursor.tick = this.tick;
  }

  #play(now: number): void {
    const passed = Math.min(now - this.#lastMs, LONGEST_FRAME_MS);
    this.#lastMs = now;
    const left = this.lastTick - this.tick;
    if (this.#cursor.paused || left <= 0) return;
    this.#owedTicks = Math.min(left, this.#owedTicks + this.speed * this.tickRateHz() * passed / 1000);
    while (this.#owedTicks >= 1 && performance.now() - now < STEPPING_MS) {
      this.#player.step(1);
      --this.#owedTicks;
    }
    if (performance.now() - now >= STEPPING_MS) this.#owedTicks = 0;  // it plays slower than it was recorded
    this.#cursor.tick = this.tick;
  }
}
