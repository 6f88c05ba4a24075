// A recording as something to look at: it plays by the clock, as far as the machine keeps up, and is verified by that.
import type { Body, Player, Samples, Shape, Verdict } from '../../src/player.js';
import type { Shell, Source } from '../source.js';

// Of a frame, stepping takes half: the picture goes on while a heavy recording is verified. After a pause of the page
// (it was hidden) nothing is caught up.
const LEAST_FRAME_MS = 16, LONGEST_FRAME_MS = 250, SEEK_TICKS = 4;
const CHECKED_BYTES = 64 * 1024;  // a frame: damage ahead is found without stepping

export class ReplaySource implements Source {
  readonly kind = 'replay';
  readonly name: string;
  readonly player: Player;
  readonly firstTick: number;
  readonly lastTick: number;
  /** Of the recorded time; Infinity: as fast as it goes. */
  speed = 1;
  readonly #cursor: Shell['cursor'];
  readonly #tickRateHz: number;
  #tick: number;
  #target: number | null = null;  // of a jump that is on its way
  #lastMs = performance.now();
  #owedTicks = 0;
  #checks = true;

  constructor(player: Player, name: string, cursor: Shell['cursor']) {
    const { tick, firstTick, lastTick, tickRateHz } = player.info();
    this.player = player;
    this.name = name;
    this.firstTick = firstTick;
    this.lastTick = lastTick;
    this.#tick = tick;
    this.#tickRateHz = tickRateHz;
    this.#cursor = cursor;
  }

  /** That is shown, or jumped to. */
  get tick(): number { return this.#target ?? this.#tick; }
  get ticks(): number { return this.lastTick - this.firstTick; }
  tickRateHz = (): number => this.#tickRateHz;
  verdict = (): Verdict => this.player.verdict();
  body = (id: bigint): Body | null => this.player.body(id);
  shape = (index: number): Shape | null => this.player.shape(index);
  ownBody = (): null => null;
  close = (): void => this.player.close();

  /** Plays on, and gives the bodies. */
  sample(): Samples | null {
    const now = performance.now(), passedMs = Math.min(now - this.#lastMs, LONGEST_FRAME_MS);
    const endMs = now + Math.max(passedMs, LEAST_FRAME_MS) / 2;
    this.#lastMs = now;
    if (this.#checks) this.#checks = this.player.check(CHECKED_BYTES);
    if (this.#target !== null) this.#jump(endMs);
    else if (!this.#cursor.paused) this.#play(passedMs, endMs);
    this.#cursor.tick = this.#tick;
    return this.player.sample(this.#target === null && !this.#cursor.paused ? this.#owedTicks % 1 : 1);
  }
  seek(tick: number): void {
    this.#target = Math.min(this.lastTick, Math.max(this.firstTick, Math.round(tick)));
    this.#owedTicks = 0;
  }

  #jump(endMs: number): void {
    while (this.#target !== null && performance.now() < endMs) {
      if (!this.player.seek(this.#target, SEEK_TICKS)) continue;
      this.#tick = this.#target;
      this.#target = null;
    }
  }
  #play(passedMs: number, endMs: number): void {
    const left = this.lastTick - this.#tick;
    this.#owedTicks = Math.min(left, this.#owedTicks + (this.speed * this.#tickRateHz * passedMs) / 1000);
    while (this.#owedTicks >= 1 && performance.now() < endMs) {
      this.player.step();
      ++this.#tick;
      --this.#owedTicks;
    }
    if (performance.now() >= endMs || this.#tick === this.lastTick) this.#owedTicks = 0;
  }
}
