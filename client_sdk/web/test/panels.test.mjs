// What the page's panels say and count, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ReplaySource } from '../page/panels/replay_source.ts';
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
