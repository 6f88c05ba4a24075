// What the page's panels say and count, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LATE, LOST, Traffic } from '../page/panels/traffic.ts';
import { say } from '../page/panels/verdict.ts';

test('a verdict is said in so many words', () => {
  const verdict = { state: 'same', equal: 300, ticks: 300, tick: 0, part: '', recorded: 0n, found: 0n, byte: 0 };
  const text = (change) => { const said = say({ ...verdict, ...change }); return `${said.mark} ${said.text}`; };
  assert.equal(text({}), '✔ same: 300 of 300 ticks');
  assert.equal(text({ state: 'same so far', equal: 12 }), '… same so far: 12 of 300 ticks');
  assert.equal(text({ state: 'end missing' }), '! same: 300 of 300 ticks, but the end is missing');
  assert.equal(text({ state: 'differs', tick: 120, part: 'joints' }), '✘ DIFFERS at tick 120 in joints');
  assert.equal(text({ state: 'damaged', byte: 4711 }), '✘ damaged at byte 4711');
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
