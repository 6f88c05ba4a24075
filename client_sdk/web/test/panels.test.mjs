// What the page's panels say and count, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { costTexts } from '../page/panels/cost.ts';
import { ReplaySource } from '../page/panels/replay_source.ts';
import { PARTS, StepParts } from '../page/panels/step_parts.ts';
import { LATE, LOST, Traffic } from '../page/panels/traffic.ts';
import { say } from '../page/panels/verdict.ts';

test('a verdict is said in so many words', () => {
  const verdict = { state: 'same', ticksEqual: 300, difference: null, brokenAt: null, text: '' };
  const text = (change) => { const said = say({ ...verdict, ...change }, 300); return `${said.mark} ${said.text}`; };
  assert.equal(text({}), '✔ same: 300 of 300 ticks');
  assert.equal(text({ state: 'sameSoFar', ticksEqual: 12 }), '… same so far: 12 of 300 ticks');
  assert.equal(text({ state: 'endMissing' }), '! same: 300 of 300 ticks, but the end is missing');
  const difference = { tick: 120, part: 'joints', recorded: 1n, found: 2n };
  assert.equal(text({ state: 'differs', difference }), '✘ DIFFERS at tick 120 in joints');
  assert.match(say({ ...verdict, state: 'differs', difference }, 300).more, /recorded 0{15}1, found 0{15}2/);
  assert.match(say({ ...verdict, state: 'differs', difference, text: 'body 3 crate: position.y' }, 300).more,
               /^body 3 crate: position.y; recorded 0{15}1/);
  assert.equal(text({ state: 'damaged', brokenAt: 4711 }), '✘ damaged at byte 4711');
});

/** A recording of 300 ticks at 60 Hz, of which no tick takes any time. */
class Recording {
  at = 0;
  checked = 0;
  parts = [];
  info() { return { tick: this.at, firstTick: 0, lastTick: 300, tickRateHz: 60 }; }
  step() { return ++this.at <= 300; }
  seek(tick, most) {
    this.at += Math.sign(tick - this.at) * Math.min(most, Math.abs(tick - this.at));
    return this.at === tick;
  }
  check() { return ++this.checked < 3; }
  sample(part) { this.parts.push(part); return null; }
}

test('a recording plays by the clock, jumps, and stops at its end', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const cursor = { paused: false, tick: null }, recording = new Recording();
  const source = new ReplaySource(recording, 'a recording', cursor);
  const frame = (ms) => { now += ms; source.sample(); return recording.at; };
  assert.equal(frame(100), 6);
  assert.equal(frame(25), 7);
  assert.ok(Math.abs(recording.parts.at(-1) - 0.5) < 1e-9);
  source.speed = 0.25;
  assert.equal(frame(100), 9);
  cursor.paused = true;
  assert.equal(frame(100), 9);
  assert.equal(recording.parts.at(-1), 1);
  source.seek(200.4);
  assert.equal(source.tick, 200);
  assert.equal(frame(16), 200);
  assert.equal(cursor.tick, 200);
  source.seek(-5);
  assert.equal(frame(16), 0);
  cursor.paused = false;
  source.speed = Infinity;
  assert.equal(frame(16), 300);
  assert.equal(frame(16), 300);
  assert.equal(recording.checked, 3);
  frame(16);
  assert.equal(recording.checked, 3);
});

test('traffic is counted by ticks; what comes late or was lost is marked', (t) => {
  let now = 100_000;
  t.mock.method(performance, 'now', () => now);
  const network = {}, traffic = new Traffic(network);
  traffic.advance(now, 100);
  for (let i = 0; i < 100; ++i) {
    network.onPassed(false, 40, false);
    network.onPassed(true, 12, i === 50);
    now += 10;
  }
  traffic.advance(now, 100);
  assert.equal(traffic.meanOf(traffic.bytesIn, 100), 40);
  assert.equal(traffic.meanOf(traffic.bytesOut, 100), 12);
  assert.equal(traffic.countOf(LATE, 100), 0);
  assert.equal(traffic.countOf(LOST, 100), 1);
  assert.ok(traffic.takeLateMs() < 1e-6);

  now += 40;
  network.onPassed(false, 200, false);
  traffic.advance(now + 10, 100);
  assert.equal(traffic.countOf(LATE, 100), 1);
  assert.equal(traffic.takeLateMs(), 40);
  assert.equal(traffic.takeLateMs(), 0);
  assert.equal(traffic.meanOf(traffic.bytesIn, 2), 100);

  now += 60_000;
  traffic.advance(now, 100);
  assert.equal(traffic.meanOf(traffic.bytesIn, traffic.length - 1), 0);
  assert.equal(traffic.countOf(LATE | LOST, traffic.length - 1), 0);
});

test('what a body costs is said by snapshots, and that a mirror is sent none', () => {
  const cost = { bytesLastSecond: 812.375, updatesLastSecond: 42, leftOut: 3, baselineAgeTicks: 7 };
  assert.deepEqual(costTexts(cost, 60), { cost: '812 B in the last second',
    updates: '42 in the last second; left out of 3 snapshots since', baseline: '7 ticks, 117 ms older' });
  const resting = { bytesLastSecond: 0, updatesLastSecond: 0, leftOut: 1, baselineAgeTicks: 0 };
  assert.deepEqual(costTexts(resting, 60), { cost: '0.0 B in the last second',
    updates: '0 in the last second; left out of one snapshot since', baseline: 'none: coded whole' });
  assert.match(costTexts({ ...cost, leftOut: 0 }, 60).updates, /; the newest snapshot has it$/);
  assert.deepEqual(costTexts(null, 60), { cost: 'none: a mirror is sent commands alone', updates: null, baseline: null });
});

test('the times of steps are those of a frame, one part upon the other', () => {
  const parts = new StepParts(4), sums = { steps: 0, ...Object.fromEntries(PARTS.map(({ key }) => [key, 0])) };
  const add = (steps, ms, frames, places = 1) => {
    sums.steps += steps;
    PARTS.forEach(({ key }, i) => { sums[key] += ms * (i + 1); });
    parts.add({ ...sums }, frames, places);
  };
  add(100, 50, 6);
  assert.equal(parts.text(3), '');  // what went before is not known
  add(6, 3, 6);
  assert.deepEqual(parts.ms.map((each) => each[3]), [0.5, 1, 1.5, 2, 2.5]);
  assert.deepEqual(parts.stacked.map((each) => each[3]), [0.5, 1.5, 3, 5, 7.5]);
  assert.equal(parts.text(3), 'steps 7.50 ms a frame: collision 0.50, solver 1.00, rigs 1.50, rest 2.00, hash and states 2.50');
  parts.add(null, 6, 1);  // not measured
  assert.equal(parts.text(3), '');
  assert.equal(parts.stacked[4][2], 7.5);  // it has moved on
  add(6, 3, 6);
  assert.equal(parts.text(3), '');
  add(6, 6, 6);
  assert.equal(parts.stacked[0][3], 1);
  add(12, 12, 2, 3);  // frames were rare: it is that of each place
  assert.deepEqual([...parts.ms[0]], [1, 6, 6, 6]);
  add(12, 3, 1, 600);
  assert.deepEqual([...parts.ms[0]], [3, 3, 3, 3]);
  parts.begin();  // another source
  add(6, 3, 6);
  assert.equal(parts.text(3), '');
  sums.steps = 0;
  add(6, 3, 6);  // sums that began anew
  assert.equal(parts.text(3), '');
});
