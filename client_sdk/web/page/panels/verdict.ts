// What the comparison of a recording's hashes has shown, said as plainly as the result of a test.

export interface Verdict {
  state: 'same so far' | 'same' | 'end missing' | 'differs' | 'damaged';
  /** Ticks whose hash was compared and equal, and ticks of the recording. */
  equal: number;
  ticks: number;
  /** Of the first difference. */
  tick: number;
  part: string;
  recorded: bigint;
  found: bigint;
  /** Where the file is damaged. */
  byte: number;
}
/** `mark` says it without colour. */
export interface Said { mark: '✔' | '✘' | '…' | '!'; kind: 'good' | 'bad' | 'open'; text: string; more: string }

const hex = (hash: bigint): string => hash.toString(16).padStart(16, '0');

export function say(verdict: Verdict): Said {
  const { state, equal, ticks, tick, part, recorded, found, byte } = verdict;
  switch (state) {
    case 'same so far':
      return { mark: '…', kind: 'open', text: `same so far: ${equal} of ${ticks} ticks`, more: '' };
    case 'same':
      return { mark: '✔', kind: 'good', text: `same: ${equal} of ${ticks} ticks`,
               more: 'Every tick was simulated here, and its hash is the recorded one.' };
    case 'end missing':
      return { mark: '!', kind: 'open', text: `same: ${equal} of ${ticks} ticks, but the end is missing`,
               more: 'The recording was not closed: its server was killed, or it still runs.' };
    case 'differs':
      return { mark: '✘', kind: 'bad', text: `DIFFERS at tick ${tick} in ${part}`,
               more: `recorded ${hex(recorded)}, found ${hex(found)}; ${equal} ticks are the same` };
    case 'damaged':
      return { mark: '✘', kind: 'bad', text: `damaged at byte ${byte}`,
               more: `${equal} ticks before it are the same` };
  }
}
