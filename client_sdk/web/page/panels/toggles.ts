// What is drawn beside the bodies.
import { sightOf } from '../sight.js';
import type { Panel, Shell, Show, Source } from '../source.js';
import { JOINT_LOOKS, type JointLook } from '../view/joint_looks.js';
import { Text, fold, make } from './dom.js';

const WHAT: readonly (readonly [keyof Show, string, string])[] = [
  ['contacts', 'Contacts', 'Points of the selected body, or of all that are awake, with the normal; a ring: only near'],
  ['joints', 'Joints',
   'From bodies to the points at which joints hold them: of the selected body, or all'],
  ['bounds', 'Bounds', 'The box around the selected body, or around each one'],
  ['sleep', 'Sleep', 'Bodies that sleep are pale and hatched'],
  ['ghost', 'Server’s state', 'The last confirmed pose of the own bodies and of the selected one'],
];

/** Why nothing of it can be drawn; '': it can. */
function whyNot(source: Source | null, name: keyof Show): string {
  if (source && !sightOf(source)) return 'Snapshots tell of poses alone. A mirror knows the rest.';
  return source?.kind === 'replay' && name === 'ghost' ? 'Nothing is predicted in a recording.' : '';
}

export function toggles(shell: Shell): Panel {
  const list = make('ul', { class: 'toggles' }), note = new Text(make('p', { class: 'note', role: 'status' }));
  const key = make('ul', { class: 'joint-key', hidden: true }, ...JOINT_LOOKS.map(keyOf));
  const boxes = WHAT.map(([name, label, title]) => {
    const box = make('input', { type: 'checkbox', id: `show-${name}`, checked: shell.show[name] });
    box.addEventListener('change', () => { shell.show[name] = box.checked; });
    const item = make('li', {}, box, make('label', { for: `show-${name}` }, label));
    list.append(item);
    return { name, title, box, item };
  });
  const joints = boxes.find(({ name }) => name === 'joints')!.box;
  let source: Source | null | undefined, reasons = '';

  function enable(): void {
    const all = new Set<string>();
    for (const { name, title, box, item } of boxes) {
      const why = whyNot(source ?? null, name);
      box.disabled = why !== '';
      item.title = why || title;
      item.classList.toggle('off', box.disabled);
      all.add(why);
    }
    reasons = [...all].filter(Boolean).join(' ');
  }
  return {
    element: fold('show', 'Show', innerWidth > 700, list, key, note.element),
    update(frame): void {
      if (frame.source !== source) {
        source = frame.source;
        enable();
      }
      const { contacts, bounds } = shell.hints;
      note.set((contacts && bounds ? `${contacts}. ${bounds}` : contacts || bounds) || reasons);
      const keyed = shell.show.joints && !joints.disabled;
      if (key.hidden === keyed) key.hidden = !keyed;
    },
    dispose(): void {},
  };
}

/** A line as those of joints are drawn. */
function keyOf({ family, colour, dash }: JointLook): HTMLElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const line = (stroke: string, width: number): void => {
    const path = document.createElementNS(svg.namespaceURI, 'path');
    for (const [name, value] of Object.entries({ d: 'M0 5H36', stroke, 'stroke-width': String(width) }))
      path.setAttribute(name, value);
    if (dash > 0) path.setAttribute('stroke-dasharray', `${300 * dash} ${245 * dash}`);
    svg.append(path);
  };
  svg.setAttribute('viewBox', '0 0 36 10');
  line('#10151c', 6);
  line(`#${colour.getHexString()}`, 3);
  return make('li', {}, svg, family);
}
