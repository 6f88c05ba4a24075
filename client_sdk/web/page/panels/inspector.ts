// The inspector: a body is searched or clicked, and all that is known of it is shown.
import { constants, type Samples } from '../../src/client.js';
import type { Frame, Panel, Shell, Source } from '../source.js';
import { BodySearch, labelOf, nameOf, placeOf, shapeText, typeText } from './bodies.js';
import { BodyState } from './body_state.js';
import { Pace, Text, Values, button, fold, make } from './dom.js';

const TERMS = [
  ['id', 'Index and generation'],
  ['kind', 'How it moves, and the kind and size of its shape'],
  ['template', 'The template and the member of it that this body is'],
  ['material', 'The material, by which it is coloured'],
  ['slot', 'The player whose body this is'],
  ['user data', 'A number of the host program'],
  ['position', 'Centre of mass, m, world'],
  ['orientation', 'Yaw, pitch and roll about y, x and z, degrees'],
  ['velocity', 'x, y, z in m/s, world; and the speed'],
  ['turning', 'x, y, z in rad/s, world; and the rate'],
] as const;
const DYNAMIC_FROM = 6;  // the terms from here on change each tick

export function inspector(shell: Shell): Panel {
  const search = new BodySearch(), pace = new Pace(8), values = new Values(TERMS);
  const title = new Text(make('h3')), note = new Text(make('p', { class: 'note', role: 'status' }));
  const input = make('input', { type: 'search', id: 'body-search', placeholder: 'name, template, slot, index',
                                autocomplete: 'off', spellcheck: 'false' });
  const results = make('ul', { class: 'results', 'aria-label': 'Bodies found' });
  const state = new BodyState(), statePace = new Pace(4);
  const details = make('div', { class: 'details' }, title.element, values.element, state.element);
  const own = button('Own body', 'Selects the body that you drive',
                     () => shell.select(shell.source()?.ownBody() ?? null));
  const none = button('Clear', 'Selects nothing', () => shell.select(null));
  const element = fold('inspector', 'Inspector', innerWidth > 700,
    make('label', { for: 'body-search' }, 'Find a body'), make('div', { class: 'row' }, input, own, none), results,
    note.element, details);
  let shown: bigint | null = null, source: Source | null = null, place = -1;

  function find(): void {
    const now = shell.source(), samples = now?.sample();
    results.replaceChildren();
    if (!now || !samples || input.value.trim() === '') return note.set('');
    const found = search.find(now, samples, input.value);
    for (const { id, label } of found)
      results.append(make('li', {}, button(label, 'Selects this body', () => shell.select(id))));
    note.set(found.length === 0 ? 'No body is called so.' : '');
  }
  input.addEventListener('input', find);
  input.addEventListener('keydown', (event) => {
    event.stopPropagation();  // letters are no controls here
    if (event.key === 'Enter') results.querySelector('button')?.click();
    if (event.key === 'Escape') input.blur();
  });

  /** What stays the same while the body exists. False: it does not. */
  function writeBody(now: Source, id: bigint): boolean {
    const body = now.body(id);
    if (!body) return false;
    title.set(labelOf(id, body));
    values.set(0, nameOf(id));
    values.set(1, `${typeText(body.type)}; ${shapeText(now.shape(body.shape))}`);
    values.set(2, [body.templateName, body.memberName].filter(Boolean).join(' / ') || 'none');
    values.set(3, body.materialName || 'none');
    values.set(4, body.slot === constants.NO_SLOT ? 'none' : String(body.slot));
    values.set(5, String(body.userData));
    return true;
  }
  function writePose(samples: Samples, i: number): void {
    const { positions, orientations, linearVelocities, angularVelocities } = samples;
    values.set(DYNAMIC_FROM, three(positions, i));
    values.set(DYNAMIC_FROM + 1, angles(orientations, i));
    values.set(DYNAMIC_FROM + 2, `${three(linearVelocities, i)}; ${norm(linearVelocities, i)} m/s`);
    values.set(DYNAMIC_FROM + 3, `${three(angularVelocities, i)}; ${norm(angularVelocities, i)} rad/s`);
  }
  return {
    element,
    update(frame: Frame): void {
      if (statePace.due(frame.now)) state.show(frame.source, element.open ? frame.selected : null);
      if (!element.open || !frame.source || !pace.due(frame.now)) return;
      if (frame.selected !== shown || frame.source !== source) {
        shown = frame.selected;
        source = frame.source;
        details.hidden = shown === null || !writeBody(source, shown);
        note.set(shown === null ? 'Click a body in the picture, or find one by its name.' : '');
      }
      if (shown === null || details.hidden || !frame.samples) return;
      if (frame.samples.indices.length === 0) return;  // the module's memory has grown meanwhile
      place = placeOf(frame.samples, shown, place);
      if (place >= 0) return writePose(frame.samples, place);
      title.set(`${nameOf(shown)} is gone`);
    },
    dispose(): void {},
  };
}

function three(values: Float32Array, i: number): string {
  return `${values[3 * i]!.toFixed(3)}, ${values[3 * i + 1]!.toFixed(3)}, ${values[3 * i + 2]!.toFixed(3)}`;
}
function norm(values: Float32Array, i: number): string {
  return Math.hypot(values[3 * i]!, values[3 * i + 1]!, values[3 * i + 2]!).toFixed(2);
}
function angles(orientations: Float32Array, i: number): string {
  const x = orientations[4 * i]!, y = orientations[4 * i + 1]!, z = orientations[4 * i + 2]!;
  const w = orientations[4 * i + 3]!;
  const yaw = Math.atan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y));
  const pitch = Math.asin(Math.min(1, Math.max(-1, 2 * (w * x - y * z))));
  const roll = Math.atan2(2 * (x * y + w * z), 1 - 2 * (x * x + z * z));
  return [yaw, pitch, roll].map((angle) => `${((180 / Math.PI) * angle).toFixed(1)}°`).join(', ');
}
