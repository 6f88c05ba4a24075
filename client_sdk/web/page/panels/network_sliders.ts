// A worse network than there is, and the ways to see the room: what prediction does can be seen here.
import type { ConnectOptions, SlowNetwork, Slowness } from '../../src/client.js';
import type { Frame, Live, Panel, Shell } from '../source.js';
import { Pace, Text, button, fold, make } from './dom.js';

interface Slider { name: keyof Slowness; label: string; most: number; step: number; scale: number; unit: string }
const SLIDERS: readonly Slider[] = [
  { name: 'rttMs', label: 'Delay', most: 500, step: 10, scale: 1, unit: 'ms round trip' },
  { name: 'jitterMs', label: 'Jitter', most: 200, step: 5, scale: 1, unit: 'ms' },
  { name: 'loss', label: 'Loss', most: 20, step: 0.5, scale: 100, unit: '%' },
];
const PRESETS: readonly (readonly [string, Slowness])[] = [
  ['As it is', { rttMs: 0, jitterMs: 0, loss: 0 }],
  ['Home', { rttMs: 30, jitterMs: 5, loss: 0.001 }],
  ['Mobile', { rttMs: 100, jitterMs: 20, loss: 0.05 }],
  ['Far', { rttMs: 250, jitterMs: 40, loss: 0.02 }],
];
const MODES: readonly (readonly [string, string, Partial<ConnectOptions>])[] = [
  ['predicted', 'Mirror, predicted', { mode: 'mirror', prediction: {} }],
  ['mirror', 'Mirror', { mode: 'mirror', prediction: undefined }],
  ['snapshots', 'Snapshots', { mode: 'snapshots', prediction: undefined }],
];
const MODE_HELP = 'A mirror steps the whole world here. Predicted, your control acts at once, and what others did ' +
  'in between corrects it. Snapshots are the server’s picture, a little later.';
const TCP_HELP = 'A WebSocket runs over TCP: a lost message and all behind it wait for one round trip.';

export function networkSliders(shell: Shell, network: SlowNetwork): Panel {
  const rows = SLIDERS.map((slider) => row(slider, network)), pace = new Pace(2);
  const presets = make('div', { class: 'row', role: 'group', 'aria-label': 'Networks' });
  for (const [label, slowness] of PRESETS)
    presets.append(button(label, `${slowness.rttMs} ms, ±${slowness.jitterMs} ms, ${100 * slowness.loss} %`, () => {
      Object.assign(network, slowness);
      rows.forEach(({ show }) => show());
    }));
  const mode = make('select', { id: 'mode' }, ...MODES.map(([value, label]) => make('option', { value }, label)));
  const note = new Text(make('p', { class: 'note', role: 'status' }));
  mode.addEventListener('change', () => {
    const options = MODES.find(([value]) => value === mode.value)![2];
    note.set('joining anew');
    shell.reconnect(options).then(() => note.set(''), (error: unknown) => note.set(String(error)));
  });
  const element = fold('network', 'Network', false, ...rows.map(({ line }) => line), presets,
    make('p', { class: 'legend' }, TCP_HELP), make('label', { for: 'mode' }, 'The room is seen by'), mode, note.element,
    make('p', { class: 'legend' }, MODE_HELP));
  return {
    element,
    update(frame: Frame): void {
      if (!element.open || !pace.due(frame.now)) return;
      const live = frame.source?.kind === 'live' ? (frame.source as Live) : null;
      mode.disabled = !live;
      const mirror = live?.client.mirrorStats() ?? null;
      if (live && document.activeElement !== mode)
        mode.value = !mirror ? 'snapshots' : mirror.predictedTick > 0n ? 'predicted' : 'mirror';
    },
    dispose(): void {},
  };
}

interface Row { line: HTMLElement; show(): void }
function row({ name, label, most, step, scale, unit }: Slider, network: SlowNetwork): Row {
  const id = `network-${name}`;
  const input = make('input', { type: 'range', id, min: 0, max: most, step }), output = make('output', { for: id });
  const show = (): void => {
    input.value = String(scale * network[name]);
    output.textContent = `${input.value} ${unit}`;
    input.setAttribute('aria-valuetext', output.textContent);
  };
  input.addEventListener('input', () => {
    network[name] = Number(input.value) / scale;
    show();
  });
  show();
  return { line: make('div', { class: 'slider' }, make('label', { for: id }, label), input, output), show };
}
