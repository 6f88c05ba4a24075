// The last 60 s in steps of 100 ms: what the timeline shows. Nothing is allocated as it goes on.
import { constants, type Client } from '../../src/client.js';
import { sightOf } from '../sight.js';
import type { Frame, Live, Source } from '../source.js';
import { StepParts } from './step_parts.js';
import type { Traffic } from './traffic.js';

export const STEP_MS = 100, STEPS = 600;
const HIDDEN_STEPS = 50;  // without a frame: nobody looked

export type MarkKind = 'join' | 'slip' | 'diverged' | 'away';
export interface Mark { kind: MarkKind; atMs: number; tick: number; text: string }
const MOST_MARKS = 200;

/** Step i of each array is that of `times[i]`; the last step is the newest. */
export class History {
  /** s before now. */
  readonly times = Float64Array.from({ length: STEPS }, (_, i) => ((i + 1 - STEPS) * STEP_MS) / 1000);
  readonly ticks = new Float64Array(STEPS);
  /** The longest script time of a frame, ms. */
  readonly scriptMs = new Float64Array(STEPS);
  /** The time of all rollbacks of the step, ms. */
  readonly rollbackMs = new Float64Array(STEPS);
  /** The mean depth of the rollbacks, ticks. */
  readonly depth = new Float64Array(STEPS);
  /** By how much the latest message was late, ms. */
  readonly lateMs = new Float64Array(STEPS);
  readonly rttMs = new Float64Array(STEPS);
  /** The mean correction of the own body, mm. */
  readonly correctionMm = new Float64Array(STEPS);
  readonly stepParts = new StepParts(STEPS);
  readonly marks: Mark[] = [];
  readonly #levels = [this.ticks, this.rttMs];  // which stay where no frame came
  readonly #sums = [this.scriptMs, this.rollbackMs, this.depth, this.lateMs, this.correctionMm];
  readonly #traffic: Traffic;
  #client: Client | null = null;
  #source: Source | null = null;  // whose steps are measured
  #frames = 0;
  #stop: (() => void)[] = [];
  #joined = new Map<number, number>();  // slot: when, ms
  #stepEndMs = -1;
  #mostScriptMs = 0;
  #rollbacks = 0;
  #again = 0;
  #sumMs = 0;
  #sumMm = 0;

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
  }

  /** Once a frame. True if there is a new step. `seen`: steps of the world are measured, which takes time. */
  update(frame: Frame, seen: boolean): boolean {
    const live = frame.source?.kind === 'live' ? (frame.source as Live) : null;
    if ((live?.client ?? null) !== this.#client) this.#follow(live?.client ?? null);
    const measured = seen ? frame.source : null;
    if (measured !== this.#source) {
      if (frame.source === this.#source) sightOf(frame.source)?.measureSteps(false);
      this.#measure(measured);
    }
    ++this.#frames;
    this.#mostScriptMs = Math.max(this.#mostScriptMs, frame.scriptMs);
    if (frame.now < this.#stepEndMs) return false;
    // A hidden page has no frames: its steps stay empty.
    const missed = this.#stepEndMs < 0 ? 0 : Math.floor((frame.now - this.#stepEndMs) / STEP_MS);
    for (let i = Math.min(missed, STEPS); i >= 0; --i) this.#shift();
    if (missed > HIDDEN_STEPS) this.stepParts.begin();
    this.#stepEndMs = (this.#stepEndMs < 0 ? frame.now : this.#stepEndMs) + (missed + 1) * STEP_MS;
    this.stepParts.add(sightOf(measured)?.stepTimes() ?? null, this.#frames, missed + 1);
    this.#frames = 0;
    this.#write(frame, live);
    while (this.marks[0] && this.marks[0].atMs < frame.now - STEP_MS * STEPS) this.marks.shift();
    return true;
  }
  dispose(): void {
    this.#follow(null);
  }

  #shift(): void {
    for (const levels of this.#levels) levels.copyWithin(0, 1);
    for (const sums of this.#sums) {
      sums.copyWithin(0, 1);
      sums[STEPS - 1] = 0;
    }
  }
  #write(frame: Frame, live: Live | null): void {
    const last = STEPS - 1;
    this.ticks[last] = frame.samples?.tick ?? 0;
    this.rttMs[last] = live ? 1000 * live.client.stats().rttS : 0;
    this.scriptMs[last] = this.#mostScriptMs;
    this.#mostScriptMs = 0;
    if (!live) return;
    this.lateMs[last] = this.#traffic.takeLateMs();
    const mirror = live.client.mirrorStats();
    if (!mirror) return;
    // The counts begin anew with a connection.
    const rollbacks = Number(mirror.rollbacks) - this.#rollbacks;
    if (rollbacks > 0) {
      this.rollbackMs[last] = mirror.sumRollbackMs - this.#sumMs;
      this.depth[last] = (Number(mirror.ticksAgain) - this.#again) / rollbacks;
      this.correctionMm[last] = (mirror.sumCorrectionMm - this.#sumMm) / rollbacks;
    }
    this.#rollbacks = Number(mirror.rollbacks);
    this.#again = Number(mirror.ticksAgain);
    this.#sumMs = mirror.sumRollbackMs;
    this.#sumMm = mirror.sumCorrectionMm;
  }

  #measure(source: Source | null): void {
    this.#source = source;
    this.stepParts.begin();
    sightOf(source)?.measureSteps(true);
  }
  #follow(client: Client | null): void {
    this.#stop.forEach((stop) => stop());
    this.#stop = [];
    this.#rollbacks = this.#again = this.#sumMs = this.#sumMm = 0;
    this.#client = client;
    if (!client) return;
    this.#stop = [
      client.on('slipped', ({ tick, lateNs }) =>
        this.#mark('slip', tick, `the server slipped by ${(Number(lateNs) / 1e6).toFixed(1)} ms`)),
      client.on('diverged', ({ tick, part }) => this.#mark('diverged', tick, `diverged in ${part}`)),
      client.on('reconnecting', ({ text }) => this.#mark('away', 0n, `connection lost: ${text}`)),
      client.on('connected', ({ tick }) => this.#mark('join', tick, 'joined')),
      client.on('bodyAdded', ({ tick, body }) => this.#added(client, tick, body)),
    ];
  }
  /** A player joins with several bodies. */
  #added(client: Client, tick: bigint, id: bigint): void {
    const slot = client.body(id)?.slot ?? constants.NO_SLOT, now = performance.now();
    if (slot === constants.NO_SLOT) return;
    const before = this.#joined.get(slot) ?? -Infinity;
    this.#joined.set(slot, now);
    if (now - before > 1000) this.#mark('join', tick, `slot ${slot} joined`);
  }
  #mark(kind: MarkKind, tick: bigint, text: string): void {
    if (this.marks.length === MOST_MARKS) this.marks.shift();
    this.marks.push({ kind, atMs: performance.now(), tick: Number(tick), text });
  }
}
