// A mirror in WebAssembly: its world has the server's hashes, tick by tick, and a scene steps to the golden hash.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Client, SlowNetwork } from '../dist/client.js';
import { load } from '../dist/wasm.js';
import { PACKAGE, ROOT, Server, until } from './server.mjs';

const wasm = join(PACKAGE, 'dist/orrery_client_sim.wasm');

test('the module steps a scene to its golden hash', async () => {
  const golden = /^30 ([0-9a-f]{16})$/m.exec(readFileSync(join(ROOT, 'tests/golden/scene_pyramid.txt'), 'utf8'))[1];
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  try {
    execFileSync('flatc', ['--binary', '-o', folder, join(ROOT, 'protocol/scene/scene.fbs'), join(ROOT, 'deploy/scenes/pyramid.json')]);
    const memory = await load(wasm);
    const hash = memory.lend(readFileSync(join(folder, 'pyramid.orscene')), (at, size) => memory.exports.orrery_web_scene_hash(at, size, 30));
    assert.equal(BigInt.asUintN(64, hash).toString(16).padStart(16, '0'), golden);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a mirror of a driven room has the hashes of the server', async () => {
  const server = await Server.start({ options: ['--allow-mirror'] });
  let client;
  try {
    client = await Client.connect({ ...server.options, wasm, mode: 'mirror' });
    client.setControl([1, 0.3]);
    await until('60 hashes are compared', () => client.mirrorStats().hashesCompared >= 60n);
    assert.equal(client.mirrorStats().divergences, 0n);
    assert.equal(client.sample().count, client.session().bodyCount);
    assert.ok(client.ownBody() !== null);
  } finally {
    client?.close();
    await server.stop();
  }
});

// ORRERY_MIRROR_SECONDS=600 is what is promised.
test('mirrors of two drivers on a slow network have the hashes of the server', async (t) => {
  const seconds = Number(process.env.ORRERY_MIRROR_SECONDS ?? 10);
  const server = await Server.start({ options: ['--allow-mirror'] });
  const clients = [];
  let steering;
  try {
    for (let i = 0; i < 2; ++i) {
      const network = new SlowNetwork({ rttMs: 100, jitterMs: 20, loss: 0.05 });
      const mirror = { wasm, mode: 'mirror', prediction: {}, WebSocket: network.WebSocket };
      clients.push(await Client.connect({ ...server.options, ...mirror }));
    }
    let turn = 0;
    steering = setInterval(() => {
      ++turn;
      clients.forEach((client, i) => client.setControl([Math.sin(0.7 * turn + i), Math.sin(0.3 * turn + 2 * i)]));
    }, 300);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    for (const client of clients) {
      const { hashesCompared, divergences, confirmedTick, rollbacks, ticksAgain, sumRollbackMs, maxRollbackMs, states } =
        client.mirrorStats();
      const mean = sumRollbackMs / Math.max(1, Number(rollbacks));
      t.diagnostic(`${confirmedTick} ticks confirmed, ${hashesCompared} hashes compared, ${divergences} differ; ` +
        `${rollbacks} rollbacks of ${(Number(ticksAgain) / Math.max(1, Number(rollbacks))).toFixed(1)} ticks, ` +
        `mean ${mean.toFixed(2)}, longest ${maxRollbackMs.toFixed(1)} ms; ${states} states`);
      assert.equal(divergences, 0n);
      assert.ok(hashesCompared > BigInt(Math.floor(20 * seconds)), `${hashesCompared} hashes`);
    }
  } finally {
    clearInterval(steering);
    for (const client of clients) client.close();
    await server.stop();
  }
});

test('a module without the simulation refuses to be a mirror', async () => {
  await assert.rejects(Client.connect({ url: 'ws://127.0.0.1:9/play', token: new Uint8Array(2048), mode: 'mirror',
    wasm: join(PACKAGE, 'dist/orrery_client.wasm') }), /orrery: unsupported/);
});
