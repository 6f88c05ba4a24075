// What the comparison of a recording's hashes has shown, said as plainly as the result of a test.
import type { Verdict } from '../../src/player.js';

/** `mark` says it without colour. */
export interface Said { mark: '✔' | '✘' | '…' | '!'; kind: 'good' | 'bad' | 'open'; text: string; more: string }

const hex = (hash = 0n): string => hash.toString(16).padStart(16, '0');

/** `ticks`: of the recording. */
export function say({ state, ticksEqual, difference, brokenAt, text: more }: Verdict, ticks: number): Said {
  const same = `${ticksEqual} of ${ticks} ticks`;
  switch (state) {
    case 'sameSoFar':
      return { mark: '…', kind: 'open', text: `same so far: ${same}`, more };
    case 'same':
      return { mark: '✔', kind: 'good', text: `same: ${same}`,
               more: 'each was simulated here, and has the recorded hash' };
    case 'endMissing':
      return { mark: '!', kind: 'open', text: `same: ${same}, but the end is missing`, more };
    case 'differs':
      return { mark: '✘', kind: 'bad', text: `DIFFERS at tick ${difference?.tick} in ${difference?.part}`,
               more: `${more ? `${more}; ` : ''}recorded ${hex(difference?.recorded)}, ` +
                     `found ${hex(difference?.found)}; same: ${same}` };
    case 'damaged':
      return { mark: '✘', kind: 'bad', text: `damaged at byte ${brokenAt}`,
               more: `${more ? `${more}; ` : ''}same before it: ${same}` };
  }
}
