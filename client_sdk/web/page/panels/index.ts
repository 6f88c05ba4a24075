// All panels of the page, in the places that the layout gives them.
import './panels.css';
import type { SlowNetwork } from '../../src/client.js';
import type { Panel, Shell } from '../source.js';
import { make } from './dom.js';
import { History } from './history.js';
import { inspector } from './inspector.js';
import { netStrip } from './net_strip.js';
import { networkSliders } from './network_sliders.js';
import { replayBar } from './replay_bar.js';
import { timeline } from './timeline.js';
import { toggles } from './toggles.js';
import { Traffic } from './traffic.js';

/** The panels above the picture, beside it and below it. `network` is the one that the client's sockets go through. */
export function panels(shell: Shell, network: SlowNetwork): Panel {
  const traffic = new Traffic(network);
  const above = [netStrip(shell, traffic)];
  const beside = [inspector(shell), toggles(shell), networkSliders(shell, network)];
  const below = [replayBar(shell), timeline(shell, new History(traffic))];
  const all = [...above, ...beside, ...below];
  const put = (name: string, some: Panel[]): HTMLElement =>
    make('div', { class: name }, ...some.map(({ element }) => element));
  const element = make('div', { class: 'panels' }, put('above', above), put('beside', beside), put('below', below));
  keepKeysApart(element);
  return {
    element,
    update(frame): void {
      for (const panel of all) panel.update(frame);
    },
    dispose(): void {
      for (const panel of all) panel.dispose();
    },
  };
}

/** A control that has the focus takes the keys that press or move it, and gives the focus back after a click: then the
 * keys drive. */
function keepKeysApart(element: HTMLElement): void {
  let pointed = false;
  const giveBack = ({ target }: Event): void => {
    if (pointed && target instanceof HTMLElement && !target.matches('[type=search], .chart')) target.blur();
  };
  element.addEventListener('pointerdown', () => { pointed = true; });
  element.addEventListener('keydown', (event) => {
    pointed = false;
    if (event.code === 'Space' || event.code.startsWith('Arrow')) event.stopPropagation();
  });
  element.addEventListener('change', giveBack);
  element.addEventListener('click', giveBack);
}
