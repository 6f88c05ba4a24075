// What is drawn beside the bodies.
import type { Panel, Shell } from '../source.js';
import { fold, make } from './dom.js';

const WHAT: readonly (readonly [keyof Shell['show'], string, string])[] = [
  ['contacts', 'Contacts', 'Points at which bodies touch, with the normal'],
  ['joints', 'Joints', 'Lines between the bodies that a joint holds together'],
  ['bounds', 'Bounds', 'The box of each body that the broad phase uses'],
  ['sleep', 'Sleep', 'Bodies that sleep are drawn paler'],
  ['ghost', 'Server’s state', 'The last confirmed pose of the selected body, beside the predicted one'],
];

export function toggles(shell: Shell): Panel {
  const list = make('ul', { class: 'toggles' });
  for (const [name, label, title] of WHAT) {
    const box = make('input', { type: 'checkbox', id: `show-${name}`, checked: shell.show[name] });
    box.addEventListener('change', () => { shell.show[name] = box.checked; });
    list.append(make('li', { title }, box, make('label', { for: `show-${name}` }, label)));
  }
  return { element: fold('show', 'Show', innerWidth > 700, list), update(): void {}, dispose(): void {} };
}
