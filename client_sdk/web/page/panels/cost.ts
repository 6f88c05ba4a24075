// What a body takes of the network, in words.
import type { BodyState } from '../../src/client.js';

const ticksText = (ticks: number, tickRateHz: number): string =>
  `${ticks} ${ticks === 1 ? 'tick' : 'ticks'}, ${((1000 * ticks) / tickRateHz).toFixed(0)} ms`;

/** Null: there is nothing to say of it. */
export interface CostTexts { cost: string; updates: string | null; baseline: string | null }

/** `cost`: null is that of a mirror. */
export function costTexts(cost: BodyState['cost'], tickRateHz: number): CostTexts {
  if (!cost) return { cost: 'none: a mirror is sent commands alone', updates: null, baseline: null };
  const { bytesLastSecond, updatesLastSecond, leftOut, baselineAgeTicks } = cost;
  const times = leftOut === 1 ? 'one snapshot' : `${leftOut} snapshots`;
  return {
    cost: `${bytesLastSecond.toFixed(bytesLastSecond < 10 ? 1 : 0)} B in the last second`,
    updates: `${updatesLastSecond} in the last second; ${leftOut === 0 ? 'the newest snapshot has it'
                                                                    : `left out of ${times} since`}`,
    baseline: baselineAgeTicks === 0 ? 'none: coded whole' : `${ticksText(baselineAgeTicks, tickRateHz)} older`,
  };
}
