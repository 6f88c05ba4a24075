// The timeline of the last 60 s. A click, or the arrow keys, set the cursor.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Frame, Panel, Shell } from '../source.js';
import { Pace, Text, colours, fold, make } from './dom.js';
import { STEPS, STEP_MS, type History, type Mark, type MarkKind } from './history.js';
import { StepChart } from './step_chart.js';

const HEIGHT_PX = 104, MOST_MS = 120, MOST_TICKS = 30;
// A letter says what a mark is, and a dash which line: not the colour alone.
const LETTERS: Record<MarkKind, string> = { join: 'J', slip: 'S', diverged: 'D', away: 'A' };
interface Line { label: string; colour: string; dash: number[]; sign: string; scale: 'ms' | 'ticks' }
const LINES: readonly Line[] = [
  { label: 'script ms', colour: 'script', dash: [], sign: '━━', scale: 'ms' },
  { label: 'rollbacks ms', colour: 'rollback', dash: [6, 3], sign: '╍╍', scale: 'ms' },
  { label: 'late ms', colour: 'warn', dash: [2, 2], sign: '┅┅', scale: 'ms' },
  { label: 'RTT ms', colour: 'in', dash: [10, 2, 2, 2], sign: '━╍', scale: 'ms' },
  { label: 'correction mm', colour: 'bad', dash: [4, 4], sign: '╌╌', scale: 'ms' },
  { label: 'depth ticks (right)', colour: 'out', dash: [1, 3], sign: '┈┈', scale: 'ticks' },
];
const LETTERS_TOLD = 'J joined · S slip of the server · D diverged · A away';

/** A scale from 0 to what there is, but at least and at most so much: one long frame does not flatten the rest. */
const upTo = (least: number, limit: number) => (_plot: uPlot, _low: number, most: number): [number, number] =>
  [0, Math.min(limit, Math.max(least, 1.1 * most))];

function optionsOf(width: number, marks: (plot: uPlot) => void, moved: (plot: uPlot) => void): uPlot.Options {
  const axis = { stroke: () => colours.get('muted'), grid: { stroke: () => colours.get('line'), width: 1 },
                 ticks: { show: false }, font: '11px system-ui', gap: 3 };
  const line = ({ label, colour, dash, scale }: Line): uPlot.Series =>
    ({ label, scale, dash, width: 1.5, stroke: () => colours.get(colour), points: { show: false } });
  return {
    width, height: HEIGHT_PX, padding: [13, 0, 0, 0], legend: { show: false },
    cursor: { y: false, drag: { x: false }, sync: { key: 'timeline' } },
    scales: { x: { time: false, range: [-60, 0] }, ms: { range: upTo(20, MOST_MS) },
              ticks: { range: upTo(10, MOST_TICKS) } },
    axes: [{ ...axis, size: 20, values: (_plot, at) => at.map((s) => `${s} s`) }, { ...axis, scale: 'ms', size: 30 },
           { ...axis, scale: 'ticks', side: 1, size: 24, grid: { show: false } }],
    series: [{}, ...LINES.map(line)],
    hooks: { draw: [marks], setCursor: [moved] },
  };
}
function legend(): HTMLElement {
  const list = make('p', { class: 'legend' });
  for (const { label, colour, sign } of LINES) {
    const swatch = make('b', { 'aria-hidden': 'true' }, sign);
    swatch.style.color = `var(--${colour})`;
    list.append(make('span', {}, swatch, ` ${label}`));
  }
  list.append(make('span', {}, LETTERS_TOLD));
  return list;
}

export function timeline(shell: Shell, history: History): Panel {
  const data: uPlot.AlignedData = [history.times, history.scriptMs, history.rollbackMs, history.lateMs, history.rttMs,
                                   history.correctionMm, history.depth];
  const chart = make('div', { class: 'chart', tabindex: 0, role: 'application',
                              'aria-label': 'The last 60 seconds. Arrow keys move the cursor, Escape takes it away.' });
  const readout = new Text(make('p', { class: 'readout', 'aria-live': 'polite' })), pace = new Pace(4);
  const steps = new StepChart(history.times, history.stepParts, say, set);
  const element = fold('timeline', 'Timeline', innerWidth > 700, chart, readout.element, legend(), steps.element);
  let plot: uPlot | null = null;
  let cursorAtMs: number | null = null;  // of performance.now(): the cursor moves left with its moment

  const stepOf = (atMs: number): number => STEPS - 1 - Math.floor((performance.now() - atMs) / STEP_MS);

  function drawMarks({ ctx: context, bbox, valToPos }: uPlot): void {
    const now = performance.now();
    context.save();
    context.font = `${11 * devicePixelRatio}px system-ui`;
    context.textAlign = 'center';
    const upright = (atMs: number, colour: string, letter: string): void => {
      const x = valToPos((atMs - now) / 1000, 'x', true);
      if (x < bbox.left) return;
      context.fillStyle = context.strokeStyle = colours.get(colour);
      context.beginPath();
      context.moveTo(x, bbox.top);
      context.lineTo(x, bbox.top + bbox.height);
      context.stroke();
      context.fillText(letter, x, bbox.top - 3 * devicePixelRatio);
    };
    for (const { kind, atMs } of history.marks) upright(atMs, kind === 'join' ? 'good' : 'bad', LETTERS[kind]);
    if (cursorAtMs !== null) upright(cursorAtMs, 'fg', '▼');
    context.restore();
  }
  function set(step: number | null): void {
    const kept = step === null ? null : Math.min(STEPS - 1, Math.max(0, step));
    cursorAtMs = kept === null ? null : performance.now() - (STEPS - 1 - kept) * STEP_MS;
    shell.cursor.tick = kept === null || history.ticks[kept] === 0 ? null : Math.round(history.ticks[kept]!);
    say();
    plot?.redraw(false);
  }
  /** Of the step under the pointer, or else at the cursor. */
  function say(): void {
    const step = plot?.cursor.idx ?? (cursorAtMs === null ? -1 : stepOf(cursorAtMs));
    if (step < 0) return readout.set('A click sets the cursor.');
    const near = (mark: Mark): boolean => Math.abs(stepOf(mark.atMs) - step) <= 2;
    const { ticks, scriptMs, rollbackMs, depth, lateMs, rttMs, correctionMm, marks } = history;
    const parts = [`tick ${ticks[step]!.toFixed(0)}`, `script ${scriptMs[step]!.toFixed(1)} ms`,
                   `rollbacks ${rollbackMs[step]!.toFixed(1)} ms, ${depth[step]!.toFixed(1)} ticks deep`,
                   `late ${lateMs[step]!.toFixed(0)} ms`, `RTT ${rttMs[step]!.toFixed(0)} ms`,
                   `correction ${correctionMm[step]!.toFixed(1)} mm`, history.stepParts.text(step),
                   ...marks.filter(near).map(({ text }) => text)];
    readout.set(parts.filter(Boolean).join(' · '));
  }
  function open(): void {
    if (!element.open || chart.clientWidth === 0) return;
    steps.fit(chart.clientWidth);
    if (plot) return plot.setSize({ width: chart.clientWidth, height: HEIGHT_PX });
    plot = new uPlot(optionsOf(chart.clientWidth, drawMarks, say), data, chart);
    plot.over.addEventListener('click', () => set(plot?.cursor.idx ?? null));
  }
  chart.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (by === undefined && event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    set(by === undefined ? null : (cursorAtMs === null ? STEPS - 1 : stepOf(cursorAtMs)) + by);
  });
  const sized = new ResizeObserver(open);
  sized.observe(chart);

  return {
    element,
    update(frame: Frame): void {
      if (!history.update(frame, element.open) || !plot || !element.open || !pace.due(frame.now)) return;
      plot.setData(data);
      steps.update(frame.source);
      say();
    },
    dispose(): void {
      sized.disconnect();
      plot?.destroy();
      steps.dispose();
      history.dispose();
    },
  };
}
