// The page: it connects, draws, takes the player's control, and offers all of that to its panels (Shell).
import { SlowNetwork, type ConnectOptions, type Samples } from '../src/client.js';
import { Connection, LiveSource, type State } from './connection.js';
import { acceptDrops } from './drop.js';
import { Controls, isTyping } from './input/controls.js';
import { Hands, handsOf } from './input/hands.js';
import { readLink, writeLink } from './link.js';
import { openRecording } from './recordings.js';
import { panels } from './panels/index.js';
import { solidsOf } from './solids.js';
import type { Frame, Shell, Source } from './source.js';
import { banner, element, note, showScene, showState, togglePanels, toggleSheet } from './ui.js';
import { View } from './view/view.js';

const LINK_MS = 400;  // after the last change, the address is written anew
const CLICK_PX = 6;
const TOLD_MS = 500;

const link = readLink(location.hash);
const canvas = element<HTMLCanvasElement>('view');
const controls = new Controls();
const listeners = new Set<() => void>();
let source: Source | null = null;
let samples: Samples | null = null;
let scriptMs = 0;

class PageShell implements Shell {
  selected = link.selected;
  readonly show = { contacts: false, joints: false, bounds: false, sleep: false, ghost: false };
  readonly hints = { contacts: '', joints: '', bounds: '', sleep: '', ghost: '' };
  readonly cursor = { paused: false, tick: link.tick };

  source(): Source | null {
    return source;
  }
  select(id: bigint | null): void {
    if (id === this.selected) return;
    this.selected = id;
    changed();
  }
  onChange(listener: () => void): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }
  async openRecording(bytes: Uint8Array, name: string): Promise<void> {
    try {
      const replay = await openRecording(bytes, name, this.cursor);
      connection.close();
      this.cursor.paused = false;
      look(replay);
      showState({ kind: 'recording' }, () => {});
    } catch (error) {
      note(`${name} cannot be opened.`, error instanceof Error ? error.message : String(error));
    }
  }
  async reconnect(options: Partial<ConnectOptions>): Promise<void> {
    await connection.connect(options);
  }
}
const shell = new PageShell(), network = new SlowNetwork(), panel = panels(shell, network);
const connection = new Connection(link, look, showConnection);
void connection.connect({ WebSocket: network.WebSocket });  // fetches go on while the view comes about
const view = new View(canvas, link.quality, shell, changed);

let pressedX = 0, pressedY = 0;
canvas.addEventListener('pointerdown', ({ clientX, clientY }) => {
  pressedX = clientX;
  pressedY = clientY;
}, { capture: true });
const hands = new Hands(view, canvas, (why) => note('The server let go.', `${why}.`));

/** From now on this is shown. */
function look(to: Source | null): void {
  source = to;
  samples = null;
  hands.of(to);
  if (to) showScene(to.name);
  if (to) void solidsOf(to).then((solids) => solids && view.know(to, solids), () => {});
  element('live').hidden = to?.kind !== 'replay';
  changed();
}
function showConnection(state: State): void {
  if (source?.kind === 'replay' && state.kind === 'ended') return;
  showState(state, () => void connection.connect());
  showHands(state);
}
/** What a director may do here, and the way to become one and back. */
function showHands(state: State): void {
  const { director, there, given } = handsOf(source), live = state.kind === 'live', button = element('hands');
  element('holding').hidden = !live || !director || !there;
  button.hidden = !live || link.token !== null || !(given || connection.director);
  button.textContent = connection.director ? 'Drive' : 'Take hold of things';
  if (!live || !director || state.notice !== null) return;
  if (there) note('Press a body and pull it.', 'A director has no seat: W A S D move the eye.');
  else note('Bodies cannot be held here.', "A director's token needs a server with the option --hands.");
}

let linkTimer: ReturnType<typeof setTimeout> | undefined;
function changed(): void {
  for (const listener of listeners) listener();
  clearTimeout(linkTimer);
  linkTimer = setTimeout(() => history.replaceState(null, '', address()), LINK_MS);
}
function address(): string {
  const { camera, target, following, placed } = view.eye;
  const tick = source?.kind === 'replay' ? shell.cursor.tick : null;
  const eye = placed ? { position: camera.position.toArray(), target: target.toArray(), following } : null;
  const { quality, snapshots } = link, { director } = connection;
  const hash = writeLink({ eye, tick, selected: shell.selected, quality, snapshots, director });
  return location.pathname + location.search + hash;
}

let frames = 0, sumMs = 0, toldAt = 0;
const told: Frame = { now: 0, source: null, samples: null, scriptMs: 0, selected: null };

function frame(now: number): void {
  requestAnimationFrame(frame);
  const start = performance.now(), channels = controls.read();
  const seated = drive(channels), right = seated ? 0 : channels[1]!, ahead = seated ? 0 : channels[0]!;
  samples = source?.kind === 'live' && shell.cursor.paused ? null : source?.sample() ?? null;
  view.draw(source, samples, shell.selected, hands.pulls, now, right, ahead);
  told.now = now;
  told.source = source;
  told.samples = samples;
  told.scriptMs = scriptMs;
  told.selected = shell.selected;
  panel.update(told);
  scriptMs = performance.now() - start;
  tell(now);
}

let seatedBefore: boolean | null = null;
/** Hands the control over; false: there is no seat of ours. */
function drive(channels: Float32Array): boolean {
  const client = source instanceof LiveSource ? source.client : null, seated = (source?.ownBody() ?? null) !== null;
  if (client && seated) {
    client.setControl(channels);
    if (controls.changed) client.poll();
  }
  if (seated !== seatedBefore) controls.element.hidden = !seated;
  seatedBefore = seated;
  const lost = seated && !view.eye.following, button = element('follow');
  if (button.hidden === lost) button.hidden = !lost;
  return seated;
}
/** For tests, and for a look into the page's own costs: means since it was told before. */
function tell(now: number): void {
  ++frames;
  if (samples) document.body.dataset['firstPictureMs'] ??= performance.now().toFixed(0);
  sumMs += scriptMs;
  if (now - toldAt < TOLD_MS) return;
  Object.assign(document.body.dataset, {
    bodies: samples?.count ?? 0, frames: Number(document.body.dataset['frames'] ?? 0) + frames,
    scriptMs: (sumMs / frames).toFixed(2),
  });
  toldAt = now;
  frames = sumMs = 0;
}

function follow(): void {
  view.eye.following = true;
  changed();
}
const KEYS: Record<string, () => void> = {
  '?': () => toggleSheet('keys'), f: follow, p: togglePanels, Escape: () => shell.select(null),
};
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key]?.();
});
addEventListener('click', ({ detail }) => {
  // The space bar brakes: it does not press the button that the mouse has pressed before.
  if (detail > 0 && document.activeElement instanceof HTMLButtonElement) document.activeElement.blur();
});

canvas.addEventListener('click', ({ clientX: x, clientY: y }) => {
  const shown = samples ?? source?.sample() ?? null;
  if (shown && Math.hypot(x - pressedX, y - pressedY) < CLICK_PX) shell.select(view.pick(x, y, shown));
});

async function share(): Promise<void> {
  const url = new URL(address(), location.href).href;
  try {
    await navigator.clipboard.writeText(url);
    note('The link is copied.', 'It holds the eye, the tick and the selection.');
  } catch {
    history.replaceState(null, '', url);
    note('The link is in the address line.');
  }
}
const press = (id: string, act: () => void) => element(id).addEventListener('click', act);
press('scene', () => toggleSheet('scenes'));
press('help', () => toggleSheet('keys'));
press('toggle', togglePanels);
press('follow', follow);
press('share', () => void share());
press('hands', () => {
  connection.director = !connection.director;
  changed();
  void connection.connect();
});
press('live', () => {
  look(null);
  banner('note', null);
  void connection.connect();
});

document.body.append(controls.element);
element('panels').append(panel.element);
// For the console of a developer, and for tests.
Object.assign(globalThis, { orrery: { shell, network, view, get scriptMs() { return scriptMs; } } });
acceptDrops((bytes, name) => void shell.openRecording(bytes, name));
if (link.eye) {
  view.eye.place(link.eye.position, link.eye.target);
  view.eye.following = link.eye.following;
}
if (link.token) history.replaceState(null, '', address());  // a token is used once
addEventListener('pagehide', () => connection.close());  // the seat is free at once
addEventListener('pageshow', ({ persisted }) => persisted && void connection.connect());
requestAnimationFrame(frame);
