// The net strip, always there: round trip, jitter, what was held, slack, corrections, and the bytes of each tick.
import type { Frame, Live, Panel, Shell } from '../source.js';
import { Pace, Values, colours, draftOf, make } from './dom.js';
import { LATE, LOST, type Traffic } from './traffic.js';

const TERMS = [
  ['RTT', 'Round trip between this page and the server, smoothed'],
  ['jitter', 'By how much the round trip varies'],
  ['late', 'Messages of the last two seconds that came late; in brackets, those that were lost and sent again'],
  ['slack', 'By how many ticks the controls reach the server early. Below 0 they are too late.'],
  ['corrections', 'By how much the last rollback moved the own body; in brackets, the most. Only with prediction.'],
  ['in', 'Bytes a tick from the server, mean of the last second'],
  ['out', 'Bytes a tick to the server, mean of the last second'],
] as const;
const BARS = 120;  // ticks: two seconds at 60 Hz
const LEAST_SCALE_BYTES = 64;

const number = (value: number, digits = 0): string => value.toFixed(digits);

export function netStrip(shell: Shell, traffic: Traffic): Panel {
  const values = new Values(TERMS), texts = new Pace(4), bars = new Pace(20);
  const canvas = make('canvas', { role: 'img', 'aria-label': 'Bytes of each tick: above the line in, below it out' });
  const legend = make('p', { class: 'legend' }, '▮ bytes a tick: in above, out below · ○ late · × lost');
  const element = make('section', { class: 'net-strip', 'aria-label': 'Network' }, values.element,
                       make('div', { class: 'bars' }, canvas, legend));

  function write(live: Live): void {
    const stats = live.client.stats(), mirror = live.client.mirrorStats(), second = Math.round(live.tickRateHz());
    values.set(0, `${number(1000 * stats.rttS)} ms`);
    values.set(1, `±${number(1000 * stats.rttVariationS)} ms`);
    values.set(2, `${traffic.countOf(LATE, BARS)} (${traffic.countOf(LOST, BARS)})`);
    values.set(3, `${number(stats.inputSlackTicks, 1)} ticks`);
    values.set(4, mirror?.predictedTick
      ? `${number(mirror.lastCorrectionMm)} (${number(mirror.maxCorrectionMm)}) mm` : 'none');
    values.set(5, `${number(traffic.meanOf(traffic.bytesIn, second))} B`);
    values.set(6, `${number(traffic.meanOf(traffic.bytesOut, second))} B`);
  }
  return {
    element,
    update(frame: Frame): void {
      const source = shell.source();
      element.hidden = source?.kind === 'replay';
      if (source?.kind !== 'live') return;
      traffic.advance(frame.now, source.tickRateHz());
      if (texts.due(frame.now)) write(source as Live);
      if (bars.due(frame.now)) draw(canvas, traffic);
    },
    dispose(): void {},
  };
}

function draw(canvas: HTMLCanvasElement, traffic: Traffic): void {
  const context = draftOf(canvas);
  if (!context) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  const each = width / BARS, middle = Math.round(0.66 * height), { bytesIn, bytesOut, marks, length, step } = traffic;
  let mostIn = LEAST_SCALE_BYTES, mostOut = LEAST_SCALE_BYTES;
  for (let i = 0; i < BARS; ++i) {
    const at = (step - i + length) % length;
    mostIn = Math.max(mostIn, bytesIn[at]!);
    mostOut = Math.max(mostOut, bytesOut[at]!);
  }
  context.fillStyle = colours.get('line');
  context.fillRect(0, middle, width, 1);
  context.font = '10px system-ui';
  context.textAlign = 'center';
  for (let i = 0; i < BARS; ++i) {
    const at = (step - i + length) % length, x = width - each * (i + 1), wide = Math.max(1, each - 0.5);
    const up = ((middle - 9) * bytesIn[at]!) / mostIn, down = ((height - middle - 1) * bytesOut[at]!) / mostOut;
    context.fillStyle = colours.get('in');
    context.fillRect(x, middle - up, wide, up);
    context.fillStyle = colours.get('out');
    context.fillRect(x, middle + 1, wide, down);
    if (marks[at] === 0) continue;
    const lost = (marks[at]! & LOST) !== 0;
    context.fillStyle = colours.get(lost ? 'bad' : 'warn');
    context.fillText(lost ? '×' : '○', x + each / 2, 8);
  }
}
