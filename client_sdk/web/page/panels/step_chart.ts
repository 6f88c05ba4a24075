// The chart below the timeline: the time of the world's steps by part, one part upon the other.
import uPlot from 'uplot';
import type { Source } from '../source.js';
import { sightOf } from '../sight.js';
import { Text, colours, make } from './dom.js';
import type { StepParts } from './step_parts.js';
import { PARTS, type Hatch, type Part } from './step_parts.js';

const HEIGHT_PX = 56, LEAST_MS = 2, MOST_MS = 60;
const TILE = 6;  // px of a hatch

function strokesOf(context: OffscreenCanvasRenderingContext2D, hatch: Hatch): void {
  const line = (x: number, y: number, toX: number, toY: number): void => {
    context.moveTo(x, y);
    context.lineTo(toX, toY);
  };
  if (hatch === 'level') line(0, 1.5, TILE, 1.5);
  // Beyond the edges, so that the tiles join.
  for (let at = -TILE; at <= TILE; at += TILE) {
    if (hatch === 'rising') line(at - 1, TILE + 1, at + TILE + 1, -1);
    if (hatch === 'falling') line(at - 1, -1, at + TILE + 1, TILE + 1);
  }
  if (hatch === 'dots') context.rect(1, 1, 1.5, 1.5);
}
function fillOf({ colour, hatch }: Part): CanvasPattern | string {
  const ink = colours.get(colour);
  if (hatch === 'full') return ink;
  const size = Math.round(TILE * devicePixelRatio), tile = new OffscreenCanvas(size, size);
  const context = tile.getContext('2d')!;
  context.scale(size / TILE, size / TILE);
  context.globalAlpha = 0.25;
  context.fillStyle = context.strokeStyle = ink;
  context.fillRect(0, 0, TILE, TILE);
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  strokesOf(context, hatch);
  context.stroke();
  return context.createPattern(tile, 'repeat')!;
}

/** The fills, made anew when the colours are others. */
class Fills {
  #made = new Map<string, CanvasPattern | string>();
  of(part: Part): CanvasPattern | string {
    const key = `${part.hatch} ${colours.get(part.colour)} ${devicePixelRatio}`;
    let fill = this.#made.get(key);
    if (!fill) this.#made.set(key, (fill = fillOf(part)));
    return fill;
  }
}

export class StepChart {
  readonly element: HTMLElement;
  readonly #chart = make('div', { class: 'chart steps', role: 'img',
                                  'aria-label': 'Time of the world’s steps in the last 60 seconds, by part' });
  readonly #note = new Text(make('p', { class: 'note' }));
  readonly #legend = make('p', { class: 'legend' }, 'Steps of the world, ms a frame:');
  readonly #swatches: readonly HTMLCanvasElement[];
  readonly #fills = new Fills();
  readonly #data: uPlot.AlignedData;
  readonly #moved: (plot: uPlot) => void;
  readonly #clicked: (step: number | null) => void;
  #plot: uPlot | null = null;
  #source: Source | null | undefined;

  /** `moved`: the pointer has; `clicked`: at a step, or at none. */
  constructor(times: Float64Array, parts: StepParts, moved: (plot: uPlot) => void,
              clicked: (step: number | null) => void) {
    this.#data = [times, ...parts.stacked];
    this.#moved = moved;
    this.#clicked = clicked;
    this.#swatches = PARTS.map(({ label, title }) => {
      const swatch = make('canvas', { width: 20, height: 10, 'aria-hidden': 'true' });
      this.#legend.append(make('span', { title }, swatch, ` ${label}`));
      return swatch;
    });
    this.element = make('div', { class: 'step-times' }, this.#chart, this.#legend, this.#note.element);
  }
  get plot(): uPlot | null {
    return this.#plot;
  }
  /** Once the timeline is open. */
  fit(width: number): void {
    if (this.#plot) return this.#plot.setSize({ width, height: HEIGHT_PX });
    this.#plot = new uPlot(this.#optionsOf(width), this.#data, this.#chart);
    this.#plot.over.addEventListener('click', () => this.#clicked(this.#plot?.cursor.idx ?? null));
  }
  update(source: Source | null): void {
    if (source !== this.#source) {
      this.#source = source;
      const stepped = sightOf(source) !== null;
      this.#chart.hidden = this.#legend.hidden = !stepped;
      this.#note.element.hidden = stepped || source === null;
      this.#note.set('Times of steps: none. The server steps the world, and this page shows its snapshots.');
    }
    if (this.#chart.hidden) return;
    this.#plot?.setData(this.#data);
    this.#swatches.forEach((swatch, i) => {
      const context = swatch.getContext('2d')!;
      context.clearRect(0, 0, swatch.width, swatch.height);
      context.fillStyle = this.#fills.of(PARTS[i]!);
      context.fillRect(0, 0, swatch.width, swatch.height);
    });
  }
  dispose(): void {
    this.#plot?.destroy();
  }

  #optionsOf(width: number): uPlot.Options {
    const axis = { stroke: () => colours.get('muted'), grid: { stroke: () => colours.get('line'), width: 1 },
                   ticks: { show: false }, font: '11px system-ui', gap: 3 };
    const most = (_plot: uPlot, _low: number, high: number): [number, number] =>
      [0, Math.min(MOST_MS, Math.max(LEAST_MS, 1.1 * high))];
    const fill = (i: number) => () => this.#fills.of(PARTS[i]!) as string;  // uPlot hands it to the canvas
    return {
      width, height: HEIGHT_PX, padding: [4, 24, 0, 0], legend: { show: false },
      cursor: { y: false, drag: { x: false }, sync: { key: 'timeline' } },
      scales: { x: { time: false, range: [-60, 0] }, ms: { range: most } },
      axes: [{ ...axis, size: 4, values: () => [] }, { ...axis, scale: 'ms', size: 30, space: 20 }],
      series: [{}, ...PARTS.map(({ label, colour }, i): uPlot.Series => ({
        label, scale: 'ms', width: 1, stroke: () => colours.get(colour), points: { show: false },
        ...(i === 0 ? { fill: fill(0) } : {}),
      }))],
      bands: PARTS.slice(1).map((_, i): uPlot.Band => ({ series: [i + 2, i + 1], fill: fill(i + 1) })),
      hooks: { setCursor: [this.#moved] },
    };
  }
}
