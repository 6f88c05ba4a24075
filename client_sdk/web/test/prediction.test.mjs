// A mirror in WebAssembly that predicts, over a WebSocket with a round trip of 100 ms and stalls of another, beside a
// second driver: its world has the hashes of the server, and its rollbacks are measured.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { Client, constants } from '../dist/client.js';
import { Relay } from './relay.mjs';
import { PACKAGE, Server, until } from './server.mjs';

const wasm = join(PACKAGE, 'dist/orrery_client_sim.wasm');
const SECONDS = 15, DELAY_MS = 50, STALLS = 0.05;

test('a mirror that predicts has the hashes of the server, at 100 ms and with stalls', async (t) => {
  const server = await Server.start({ options: ['--allow-mirror'] });
  let relay, mirror, other;
  try {
    relay = await Relay.start(server.port, { delayMs: DELAY_MS, stalls: STALLS });
    const url = `ws://127.0.0.1:${relay.port}/play`;
    mirror = await Client.connect({ ...server.options, url, wasm, mode: 'mirror', prediction: { maxRollbackMs: 30 } });
    other = await Client.connect({ ...server.options, url });
    await until('own body', () => mirror.ownBody() !== null);
    mirror.setMirrorEvents(constants.MIRROR_HITS | constants.MIRROR_SPAWNS, 1);
    const told = [0, 0, 0, 0];  // by certainty
    mirror.on('world', ({ certainty }) => ++told[certainty]);
    const times = [];
    let rollbacks = mirror.mirrorStats().rollbacks, last = 0, backs = 0, mostBack = 0;
    const begun = performance.now();
    for (let now = begun; now < begun + 1000 * SECONDS; now = performance.now()) {
      const s = (now - begun) / 1000;
      mirror.setControl([0.8, 0.5 * Math.sin(s)]);
      other.setControl([Math.floor(s) % 3 === 2 ? -1 : 1, Math.floor(2 * s) % 2 === 0 ? 0.6 : -0.6]);
      const { tick } = mirror.sample();
      backs += tick < last ? 1 : 0;  // the picture goes back
      mostBack = Math.max(mostBack, last - tick);
      last = tick;
      const stats = mirror.mirrorStats();
      if (stats.rollbacks > rollbacks) times.push(stats.lastRollbackMs);
      rollbacks = stats.rollbacks;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const stats = mirror.mirrorStats(), { rttS } = mirror.stats();
    const mean = (sum) => Number(sum) / Math.max(1, Number(stats.rollbacks));
    const high = times.sort((a, b) => a - b)[Math.floor(0.95 * times.length)] ?? 0;
    t.diagnostic(`RTT ${(1000 * rttS).toFixed(0)} ms; the relay stalled ${relay.stalled} of ${relay.chunks} chunks`);
    t.diagnostic(`hashes ${stats.hashesCompared}, divergences ${stats.divergences}, rollbacks ${stats.rollbacks}, ` +
      `as predicted ${stats.ticksAsPredicted}; causes: others ${stats.othersControls}, own ${stats.ownControls}, other commands ${stats.otherCommands}`);
    t.diagnostic(`rollback: depth mean ${mean(stats.ticksAgain).toFixed(1)}, max ${stats.maxDepth} ticks; ` +
      `mean ${mean(stats.sumRollbackMs).toFixed(2)}, 95 % ${high.toFixed(2)}, ` +
      `max ${stats.maxRollbackMs.toFixed(2)} ms`);
    t.diagnostic(`correction: mean ${mean(stats.sumCorrectionMm).toFixed(1)}, ` +
      `max ${stats.maxCorrectionMm.toFixed(1)} mm; cuts ${stats.cuts}`);
    t.diagnostic(`events certain, predicted, confirmed, cancelled: ${told.join()}; ` +
      `the picture went back ${backs} times, ${mostBack.toFixed(2)} ticks at most`);

    assert.ok(relay.stalled > 10);
    assert.ok(rttS > 0.09, `RTT ${rttS} s`);
    assert.ok(stats.hashesCompared > 600n, `${stats.hashesCompared} hashes`);
    assert.equal(stats.divergences, 0n);
    assert.equal(stats.states, 1n);
    assert.ok(stats.rollbacks > 0n && stats.othersControls > 0n);
    assert.ok(stats.ticksAsPredicted > 0n);
    assert.ok(stats.lastRollbackMs > 0 && stats.maxRollbackMs >= stats.lastRollbackMs);
    assert.ok(stats.sumRollbackMs >= stats.maxRollbackMs);
    assert.ok(stats.predictedTick > stats.confirmedTick);
    assert.ok(told[constants.CERTAINTY_PREDICTED] > 0, `events ${told}`);
    assert.equal(stats.eventsDropped, 0n);
  } finally {
    mirror?.close();
    other?.close();
    await relay?.stop();
    await server.stop();
  }
});

test('a mirror predicts no more than it can step again in maxRollbackMs', async () => {
  const server = await Server.start({ options: ['--allow-mirror'] });
  let relay, mirror, other;
  try {
    relay = await Relay.start(server.port, { delayMs: DELAY_MS, stalls: 0 });
    const url = `ws://127.0.0.1:${relay.port}/play`;
    mirror = await Client.connect({ ...server.options, url, wasm, mode: 'mirror', prediction: { maxRollbackMs: 0.001 } });
    const ahead = () => Number(mirror.mirrorStats().predictedTick - mirror.mirrorStats().confirmedTick);
    await until('it is ahead by the round trip', () => ahead() > 4);
    other = await Client.connect({ ...server.options, url });
    const turned = performance.now();
    await until('a rollback has been measured, and it is ahead by a tick alone', () => {
      other.setControl([1, Math.sin((performance.now() - turned) / 100)]);
      return mirror.mirrorStats().rollbacks > 0n && ahead() <= 1;
    });
    assert.equal(mirror.mirrorStats().divergences, 0n);
  } finally {
    mirror?.close();
    other?.close();
    await relay?.stop();
    await server.stop();
  }
});
