// How fine the picture is, by how long frames take: fewer pixels, then no shadows, then fewer pixels still.
export interface Quality { pixelRatio: number; shadows: boolean }

const SLOW_MS = 25, SMOOTH_MS = 19;
const FRAMES = 45;  // of which the mean counts
const RETRY_S = 20;  // smooth for so long: the next finer one is tried; twice as long after each try that failed

export class Governor {
  #level = 0;
  #frames = 0;
  #sumMs = 0;
  #smoothMs = 0;
  #retryMs = 1000 * RETRY_S;
  #triedAt = -Infinity;
  readonly #fixed: boolean;

  /** Null: as fine as the machine can do. */
  constructor(fixed: 'high' | 'low' | null) {
    this.#fixed = fixed !== null;
    if (fixed === 'low') this.#level = 3;
  }
  get quality(): Quality {
    const full = Math.min(devicePixelRatio, 2);
    return [{ pixelRatio: full, shadows: true }, { pixelRatio: Math.min(full, 1), shadows: true },
            { pixelRatio: Math.min(full, 1), shadows: false }, { pixelRatio: 0.7, shadows: false }][this.#level]!;
  }
  /** After a frame; true: the quality is another now. */
  frame(ms: number, now: number): boolean {
    if (this.#fixed || ms > 1000) return false;  // hidden meanwhile
    this.#sumMs += ms;
    if (++this.#frames < FRAMES) return false;
    const mean = this.#sumMs / this.#frames;
    this.#smoothMs = mean < SMOOTH_MS ? this.#smoothMs + this.#sumMs : 0;
    this.#frames = this.#sumMs = 0;
    if (mean > SLOW_MS && this.#level < 3) {
      if (now - this.#triedAt < 2 * FRAMES * SLOW_MS) this.#retryMs *= 2;
      ++this.#level;
      return true;
    }
    if (this.#smoothMs < this.#retryMs || this.#level === 0) return false;
    this.#smoothMs = 0;
    this.#triedAt = now;
    --this.#level;
    return true;
  }
}
