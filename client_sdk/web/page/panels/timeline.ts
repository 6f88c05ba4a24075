// The timeline of the last 60 s. A click, or the arrow keys, set the cursor.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Frame, Panel, Shell } from '../source.js';
import { Pace, Text, colours, fold, make } from './dom.js';
import { STEPS, STEP_MS, type History, type Mark, type MarkKind } from './history.js';

const HEIGHT_PX = 150;
// A letter says what a mark is, and a dash which line: not the colour alone.
const LETTERS: Record<MarkKind, string> = { join: 'J', slip: 'S', diverged: 'D', away: 'A' };
const CAPTION = 'J joined, S slip of the server, D diverged, A away. Left: ms and mm; right: ticks.';

const line = (label: string, colour: string, dash: number[], scale = 'ms'): uPlot.Series => ({
  label, scale, dash, width: 1.5, stroke: () => colours.get(colour), points: { show: false },
  value: (_plot, value) => (value === null ? '' : value.toFixed(1)),
});

/** A scale from 0, to `least` or what there is. */
const upTo = (least: number) => (_plot: uPlot, _low: number, most: number): [number, number] =>
  [0, Math.max(least, 1.1 * most)];

function optionsOf(width: number, marks: (plot: uPlot) => void): uPlot.Options {
  const axis = { stroke: () => colours.get('muted'), grid: { stroke: () => colours.get('line'), width: 1 },
                 ticks: { show: false }, font: '11px system-ui' };
  return {
    width, height: HEIGHT_PX, padding: [14, 0, 0, 0], legend: { live: true }, cursor: { y: false, drag: { x: false } },
    scales: { x: { time: false, range: [-60, 0] }, ms: { range: upTo(20) }, ticks: { range: upTo(10) } },
    axes: [{ ...axis, size: 24, values: (_plot, at) => at.map((s) => `${s} s`) }, { ...axis, scale: 'ms', size: 36 },
           { ...axis, scale: 'ticks', side: 1, size: 30, grid: { show: false } }],
    series: [{ label: 'time', value: (_plot, s) => (s === null ? '' : `${s.toFixed(1)} s`) },
             line('script ms', 'script', []), line('rollback ms', 'rollback', [6, 3]), line('late ms', 'warn', [2, 2]),
             line('RTT ms', 'in', [8, 2, 2, 2]), line('correction mm', 'bad', [4, 4]),
             line('depth ticks', 'out', [1, 3], 'ticks')],
    hooks: { draw: [marks] },
  };
}

export function timeline(shell: Shell, history: History): Panel {
  const data: uPlot.AlignedData = [history.times, history.scriptMs, history.rollbackMs, history.lateMs, history.rttMs,
                                   history.correctionMm, history.depth];
  const chart = make('div', { class: 'chart', tabindex: 0, role: 'application',
                              'aria-label': 'The last 60 seconds. Arrow keys move the cursor, Escape takes it away.' });
  const readout = new Text(make('p', { class: 'readout', 'aria-live': 'polite' })), pace = new Pace(4);
  const element = fold('timeline', 'Timeline', innerWidth > 700, chart, readout.element,
                       make('p', { class: 'legend' }, CAPTION));
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
  function say(): void {
    const step = cursorAtMs === null ? -1 : stepOf(cursorAtMs);
    if (step < 0) return readout.set('');
    const near = (mark: Mark): boolean => Math.abs(mark.atMs - cursorAtMs!) < 2 * STEP_MS;
    const { ticks, scriptMs, rollbackMs, depth, lateMs, rttMs, correctionMm, marks } = history;
    const parts = [`tick ${ticks[step]!.toFixed(0)}`, `script ${scriptMs[step]!.toFixed(1)} ms`,
                   `rollbacks ${rollbackMs[step]!.toFixed(1)} ms, ${depth[step]!.toFixed(1)} ticks deep`,
                   `late ${lateMs[step]!.toFixed(0)} ms`, `RTT ${rttMs[step]!.toFixed(0)} ms`,
                   `correction ${correctionMm[step]!.toFixed(1)} mm`, ...marks.filter(near).map(({ text }) => text)];
    readout.set(parts.join(' · '));
  }
  function open(): void {
    if (!element.open || chart.clientWidth === 0) return;
    if (plot) return plot.setSize({ width: chart.clientWidth, height: HEIGHT_PX });
    plot = new uPlot(optionsOf(chart.clientWidth, drawMarks), data, chart);
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
      if (!history.update(frame) || !plot || !element.open || !pace.due(frame.now)) return;
      plot.setData(data);
    },
    dispose(): void {
      sized.disconnect();
      plot?.destroy();
      history.dispose();
    },
  };
}
