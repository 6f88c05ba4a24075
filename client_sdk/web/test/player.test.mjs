// A recording in WebAssembly: it is what the native program says of it, hash by hash and body by body, and of damage it
// names the same byte.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { Player, RecordingError } from '../dist/player.js';
import { ORRERY, PACKAGE, ROOT } from './server.mjs';

const TICKS = 700, KEYFRAME = 600;  // one each 10 s
const BODIES = ['wrecking_ball', 'link_7', 'seesaw'];
const COMMANDS = { commands: [
  { tick: 5, kind: 'join', slot: 'player_1' },
  { tick: 20, kind: 'control', slot: 'player_1', channels: [1, 0.3] },
  { tick: 200, kind: 'control', slot: 'player_1', channels: [-1, -0.8] },
  { tick: 400, kind: 'leave', slot: 'player_1' },
] };
let folder, recording, told;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  const commands = join(folder, 'commands.json');
  writeFileSync(commands, JSON.stringify(COMMANDS));
  const lines = execFileSync(ORRERY, ['run', join(ROOT, 'deploy/scenes/yard.json'), '--ticks', `${TICKS}`, '--commands',
    commands, '--bodies', BODIES.join(), '--bodies-every', '50', '--json', '--record', folder], { encoding: 'utf8' });
  told = lines.split('\n').filter((line) => line.startsWith('{"tick"')).map((line) => JSON.parse(line));
  recording = readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.orr'))));
});
after(() => rmSync(folder, { recursive: true }));

/** What `orrery verify` says of a file. */
function verified(bytes) {
  const path = join(folder, 'other.orr');
  writeFileSync(path, bytes);
  return JSON.parse(spawnSync(ORRERY, ['verify', '--json', path], { encoding: 'utf8' }).stdout.trim().split('\n')[0]);
}
async function opened(bytes, use) {
  const player = await Player.open(bytes);
  try {
    return await use(player);
  } finally {
    player.close();
  }
}
/** The numbers of a body, by its name. */
function numbersOf(player, name) {
  const samples = player.sample();
  for (let i = 0; i < samples.count; ++i) {
    if (player.body(samples.ids[i]).name !== name) continue;
    const part = (array, each) => [...array.subarray(each * i, each * (i + 1))];
    return { position: part(samples.positions, 3), orientation: part(samples.orientations, 4),
             linear_velocity: part(samples.linearVelocities, 3), angular_velocity: part(samples.angularVelocities, 3) };
  }
  throw new Error(`no body ${name}`);
}
function bodiesAreThose(player, tick) {
  const lines = told.filter((line) => line.tick === tick);
  assert.equal(lines.length, BODIES.length);
  for (const { body, tick: _, ...numbers } of lines) {
    for (const key of Object.keys(numbers)) numbers[key] = numbers[key].map(Math.fround);
    assert.deepEqual(numbersOf(player, body), numbers, `${body} at tick ${tick}`);
  }
}
const cutOff = () => recording.subarray(0, recording.length * 0.6);
const allTheWay = (player) => { while (player.step(64)); };

test('a recording is the same, with the bodies of the native program', () => opened(recording, (player) => {
  const info = player.info();
  const { tick: at, lastTick, keyframes, complete, sceneName, room } = info;
  assert.deepEqual([at, lastTick, keyframes, complete, sceneName, room], [0, TICKS, 1, true, 'yard', 'run']);
  assert.equal(info.tickRateHz, 60);
  assert.equal(info.engineVersion, info.programVersion);
  assert.equal(info.bytes, recording.length);
  for (let tick = 50; tick <= TICKS; tick += 50) {
    assert.equal(player.step(50), true);
    bodiesAreThose(player, tick);
  }
  const verdict = player.verdict();
  assert.deepEqual(verdict, { state: 'same', ticksCompared: TICKS, ticksEqual: TICKS, keyframesCompared: 1,
    difference: null, brokenAt: null, bytesChecked: 0, text: '' });
  assert.equal(verified(recording).result, 'same');
  assert.equal(player.step(), false);
  assert.equal(player.stepTimes(), null);
  assert.ok(player.sceneBytes().length > 1000);
  assert.ok(player.shape(0) && !player.shape(info.shapeCount));
}));

test('a seek leads to the same bodies, forward by a keyframe and back', () => opened(recording, (player) => {
  player.measureSteps(true);
  assert.equal(player.seek(80, 50), false);
  assert.equal(player.info().tick, 50);
  assert.equal(player.seek(80, 50), true);
  for (const tick of [650, 50, 400, 600, 0, 350]) {
    assert.equal(player.seek(tick), true);
    assert.equal(player.info().tick, tick);
    if (tick > 0) bodiesAreThose(player, tick);
  }
  assert.equal(player.verdict().state, 'sameSoFar');
  player.seek(190);
  const [a, b] = [player.sample(0).positions.slice(), player.sample(1).positions.slice()];
  assert.notDeepEqual(a, b);
  assert.equal(player.sample(0.25).tick, 189.25);
  player.seek(0);
  allTheWay(player);
  assert.equal(player.verdict().state, 'same');
  const { steps, solverMs } = player.stepTimes();
  assert.ok(steps > 100 && solverMs > 0, `${steps} steps, ${solverMs} ms`);
}));

test('a byte that was flipped is named with its place, by stepping and by reading ahead', async () => {
  for (const share of [0.2, 0.5, 0.7, 0.95]) {
    const bytes = Uint8Array.from(recording), at = Math.floor(share * bytes.length);
    bytes[at] ^= 4;
    const { result, corrupt_at_byte: place } = verified(bytes);
    assert.equal(result, 'unreadable');
    assert.ok(place <= at);
    await opened(bytes, (player) => {
      while (player.check(10_000));
      assert.equal(player.verdict().state, 'damaged');
      assert.equal(player.verdict().brokenAt, place);
    });
    await opened(bytes, (player) => {
      allTheWay(player);
      const { state, brokenAt, text, ticksEqual } = player.verdict();
      assert.equal(state, 'damaged');
      assert.equal(brokenAt, place);
      assert.match(text, new RegExp(`^byte ${place}: `));
      assert.equal(ticksEqual, player.info().lastTick);
      assert.ok(ticksEqual < TICKS);
    });
  }
});

test('of a recording that was cut off, all whole ticks are the same', () => opened(cutOff(), (player) => {
  assert.equal(player.info().complete, false);
  allTheWay(player);
  const { state, ticksEqual, brokenAt, text } = player.verdict();
  assert.equal(state, 'endMissing');
  assert.equal(ticksEqual, verified(cutOff()).ticks);
  assert.ok(brokenAt <= cutOff().length && text.startsWith(`byte ${brokenAt}: `));
}));

for (const form of ['format-1', 'in-chunks']) {
  test(`a recording is the same in another form: ${form}`, async () => {
    const [from, to] = [join(folder, 'from.orr'), join(folder, `${form}.orr`)];
    writeFileSync(from, recording);
    execFileSync(join(dirname(ORRERY), 'change_replay'), [from, to, form]);
    const bytes = readFileSync(to);
    assert.equal(bytes[4], form === 'format-1' ? 1 : 2);
    const { result, ancillary } = verified(bytes);
    assert.equal(result, 'same');
    assert.equal(ancillary.notes, form === 'format-1' ? 0 : 1);
    await opened(bytes, (player) => {
      assert.equal(player.info().lastTick, TICKS);
      for (const tick of [TICKS, 50, 650, 400]) {
        assert.equal(player.seek(tick), true);
        bodiesAreThose(player, tick);
      }
      allTheWay(player);
      player.seek(0);
      allTheWay(player);
      assert.equal(player.verdict().state, 'same');
      while (player.check(10_000));
      assert.equal(player.verdict().bytesChecked, bytes.length);
    });
  });
}

test('what cannot be played is refused with a reason', async () => {
  await assert.rejects(Player.open(new TextEncoder().encode('{"name": "yard"}')), /not a replay/);
  await assert.rejects(Player.open(new Uint8Array()), RecordingError);
  await assert.rejects(Player.open(recording, join(PACKAGE, 'dist/orrery_client.wasm')), /unsupported/);
  const player = await Player.open(recording);
  player.close();
  player.close();
  assert.throws(() => player.step(), /invalid argument/);
  assert.equal(player.sample(), null);
});
