// The page's own elements: the bar, the banner and the sheets of index.html.
import type { State } from './connection.js';

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** A message in the middle; `press` is offered by a button. Null: nothing. */
export function banner(kind: 'note' | 'wait' | 'ended', text: string | null, more = '',
                       action?: { text: string; press: () => void }): void {
  const box = element('banner');
  box.hidden = text === null;
  if (text === null) return;
  box.dataset['kind'] = kind;
  const strong = document.createElement('b'), rest = document.createElement('span');
  strong.textContent = text;
  rest.textContent = more;
  box.replaceChildren(strong, rest);
  if (!action) return;
  const button = document.createElement('button');
  button.textContent = action.text;
  button.addEventListener('click', action.press);
  box.append(button);
}

const NOTE_MS = 9000;
let noted: ReturnType<typeof setTimeout> | undefined;

/** A message that goes by itself. */
export function note(text: string, more = ''): void {
  const gone = () => banner('note', null);
  banner('note', text, more, { text: 'Dismiss', press: gone });
  clearTimeout(noted);
  noted = setTimeout(gone, NOTE_MS);
}

/** Says how the connection is. `again` connects anew. */
export function showState(state: State, again: () => void): void {
  clearTimeout(noted);
  const mode = element('mode');
  mode.dataset['kind'] = state.kind;
  document.body.dataset['state'] = state.kind;
  switch (state.kind) {
    case 'joining':
      mode.textContent = `${state.text} …`;
      if (element('banner').dataset['kind'] !== 'ended') banner('wait', null);  // that stays until there is a room
      return;
    case 'live':
      mode.textContent = state.mode === 'mirror' ? 'live, simulated here' : 'live, by snapshots';
      mode.title = state.mode === 'mirror' ? 'A mirror with prediction: controls act at once' : state.notice ?? '';
      return state.notice === null ? banner('wait', null)
        : note(`${state.notice}.`, 'The page shows snapshots: controls act after a round trip.');
    case 'recording':
      mode.textContent = 'a recording, verified here';
      return banner('wait', null);
    case 'reconnecting':
      mode.textContent = 'reconnecting …';
      return banner('wait', 'The connection is lost, and made anew.', state.text);
    case 'ended':
      mode.textContent = 'disconnected';
      return banner('ended', `${state.text}.`, state.advice, { text: 'Try again', press: again });
  }
}

export function showScene(name: string): void {
  element('scene').textContent = name;
  element('served').textContent = name;
  document.title = `${name} — Orrery`;
  for (const item of document.querySelectorAll<HTMLElement>('#scenes li'))
    item.toggleAttribute('aria-current', item.dataset['scene'] === name);
}

/** Opens and closes a sheet. */
export function toggleSheet(id: 'keys' | 'scenes'): void {
  const sheet = element<HTMLDialogElement>(id);
  if (sheet.open) sheet.close();
  else sheet.showModal();
}

/** Panels are seen where there is room, until the user decides. */
export function togglePanels(): void {
  const { dataset } = document.body, narrow = matchMedia('(max-width: 700px)').matches;
  const off = dataset['panels'] === 'off' || (dataset['panels'] === 'auto' && narrow);
  dataset['panels'] = off ? 'on' : 'off';
}
