// The replay bar: pause, step, scrub, speed, and the verdict. Over a live room, the cursor and the way to a recording.
import type { Frame, Panel, Shell } from '../source.js';
import { Pace, Text, button, make } from './dom.js';
import { ReplaySource } from './replay_source.js';
import { say } from './verdict.js';

const SPEEDS = [['0.25', '¼×'], ['1', '1×'], ['4', '4×'], ['Infinity', 'as fast as it goes']] as const;

export function replayBar(shell: Shell): Panel {
  const pace = new Pace(10), place = new Text(make('output')), mark = new Text(make('b', { class: 'mark' }));
  const result = new Text(), more = new Text(make('span', { class: 'more' }));
  const verdict = make('p', { class: 'verdict', role: 'status' }, mark.element, result.element, more.element);
  const scrub = make('input', { type: 'range', 'aria-label': 'Tick of the recording', step: 1 });
  const speed = make('select', { 'aria-label': 'Speed' },
                     ...SPEEDS.map(([value, label]) => make('option', { value }, label)));
  speed.value = '1';
  const file = make('input', { type: 'file', accept: '.orr', hidden: true, 'aria-label': 'Recording' });
  const open = button('Open a recording…', 'A file .orr is verified here; it may also be dropped on the page',
                      () => file.click());
  const back = button('−1', 'A tick back', () => step(-1)), on = button('+1', 'A tick on', () => step(1));
  const pause = button('Pause', 'Stops and goes on', () => {
    shell.cursor.paused = !shell.cursor.paused;
    show();
  });
  const player = make('div', { class: 'player' }, back, on, scrub, place.element, speed);
  const element = make('section', { class: 'replay-bar', 'aria-label': 'Replay' },
    make('div', { class: 'row' }, pause, player, open, file), verdict);

  const replay = (): ReplaySource | null => {
    const source = shell.source();
    return source instanceof ReplaySource ? source : null;
  };
  function step(ticks: number): void {
    shell.cursor.paused = true;
    replay()?.seek(replay()!.tick + ticks);
    show();
  }
  function show(): void {
    pause.textContent = shell.cursor.paused ? 'Go on' : 'Pause';
    pause.setAttribute('aria-pressed', String(shell.cursor.paused));
  }
  scrub.addEventListener('input', () => {
    shell.cursor.paused = true;
    replay()?.seek(Number(scrub.value));
    show();
  });
  speed.addEventListener('change', () => {
    const source = replay();
    if (source) source.speed = Number(speed.value);
  });
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    if (chosen) void read(chosen);
    file.value = '';
  });
  async function read(chosen: File): Promise<void> {
    await shell.openRecording(new Uint8Array(await chosen.arrayBuffer()), chosen.name);
  }
  function write(source: ReplaySource): void {
    scrub.min = String(source.firstTick);
    scrub.max = String(source.lastTick);
    scrub.value = String(source.tick);
    place.set(`tick ${source.tick} of ${source.lastTick}`);
    const said = say(source.verdict(), source.ticks);
    verdict.dataset['kind'] = said.kind;
    mark.set(said.mark);
    result.set(said.text);
    more.set(said.more);
  }
  let was: ReplaySource | null = null;
  return {
    element,
    update(frame: Frame): void {
      if (!pace.due(frame.now)) return;
      const source = replay();
      player.hidden = verdict.hidden = source === null;
      show();
      if (source !== was && source) source.speed = Number(speed.value);
      was = source;
      if (source) write(source);
    },
    dispose(): void {},
  };
}
