// The package against a server that runs: joining, driving, coming back, and the example.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { WebSocket as NpmWebSocket } from 'ws';

import { Client, ConnectionError, constants } from '../dist/client.js';
import { PACKAGE, Server, until } from './server.mjs';

let server;
before(async () => { server = await Server.start(); });
after(() => server?.stop());

const positionOf = (client) => {
  const own = client.ownBody(), samples = client.sample();
  const i = own !== null && samples ? samples.ids.subarray(0, samples.count).indexOf(own) : -1;
  return i < 0 ? null : [...samples.positions.subarray(3 * i, 3 * i + 3)];
};
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));

for (const [name, WebSocket] of [["Node's WebSocket", undefined], ['ws of npm', NpmWebSocket]]) {
  test(`a player joins and drives, by ${name}`, async () => {
    const client = await Client.connect({ ...server.options, ...(WebSocket ? { WebSocket } : {}) });
    try {
      assert.equal(client.state, constants.STATE_PLAYING);
      const session = client.session();
      assert.equal(session.sceneName, 'yard');
      assert.equal(session.tickRateHz, 60);
      const start = await until('own body', () => positionOf(client));
      client.setControl([1, 0]);
      await until('the vehicle has moved 1 m', () => distance(positionOf(client), start) > 1);
      const samples = client.sample();
      assert.equal(samples.count, client.session().bodyCount);
      assert.equal(samples, client.sample());  // the same object, with the same views
      assert.equal(samples.positions, client.sample().positions);
      assert.equal(BigInt(samples.indices[0]) | (BigInt(samples.indices[1]) << 32n), samples.ids[0]);
      for (let i = 0; i < samples.count; ++i)
        assert.ok(Math.abs(Math.hypot(...samples.orientations.subarray(4 * i, 4 * i + 4)) - 1) < 1e-4);
      const own = client.body(client.ownBody());
      assert.equal(own.type, constants.BODY_DYNAMIC);
      assert.equal(own.slot, session.slot);
      assert.ok(client.shape(own.shape));
      const stats = client.stats();
      assert.ok(stats.snapshotsReceived > 10n && stats.snapshotsUndecodable === 0n);
      assert.ok(stats.rttS > 0 && stats.rttS < 1);
    } finally {
      client.close();
    }
    assert.equal(client.state, constants.STATE_DISCONNECTED);
    assert.equal(client.sample(), null);  // a closed client is harmless
    assert.equal(client.session(), null);
    client.poll();
  });
}

test('samples stay right when the memory of the module grows', async () => {
  // The module's instance, so that its memory can be made to grow.
  const { instantiate } = WebAssembly;
  let instance;
  WebAssembly.instantiate = async (...parts) => (instance = await instantiate(...parts));
  const client = await Client.connect(server.options).finally(() => (WebAssembly.instantiate = instantiate));
  try {
    await until('own body', () => positionOf(client));
    const before = client.sample(), ids = [...before.ids.subarray(0, before.count)];
    assert.notEqual(instance.exports.malloc(32 << 20), 0);
    assert.equal(before.positions.length, 0);  // the views are those of the memory as it was
    const now = client.sample();
    assert.deepEqual([...now.ids.subarray(0, now.count)], ids);
    assert.ok(positionOf(client).every(Number.isFinite));
    for (let i = 0; i < 4; ++i) client.send(1, new Uint8Array(15_000), true);
    assert.throws(() => client.send(1, new Uint8Array(70_000)), /too large/);
    assert.throws(() => client.send(1, new Uint8Array(20_000)), /too many messages/);
  } finally {
    client.close();
  }
});

test('a client comes back after its server was started again, and after it was killed', async () => {
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    let own = await Server.start();
    const client = await Client.connect(own.options);
    try {
      const reconnecting = [];
      let connected = 0;
      client.on('reconnecting', ({ text }) => reconnecting.push(text));
      client.on('connected', () => ++connected);
      await own.stop(signal);
      await until('the loss is noticed', () => reconnecting.length > 0);
      own = await Server.start({ httpPort: own.port });
      await until('connected again', () => connected > 0, 20);
      await until('own body', () => positionOf(client));
      assert.equal(client.state, constants.STATE_PLAYING);
    } finally {
      client.close();
      await own.stop();
    }
  }
});

test('a tokenUrl that answers with no token is asked again', async () => {
  let own = await Server.start(), pages = 0, wanted = 0;
  const gate = createServer(async (_request, answer) => {
    if (pages < wanted) return ++pages, answer.end('<p>log in</p>');
    const token = await fetch(own.options.tokenUrl, { method: 'POST' }).catch(() => null);
    answer.writeHead(token?.ok ? 200 : 503).end(token?.ok ? new Uint8Array(await token.arrayBuffer()) : '');
  });
  await new Promise((resolve) => gate.listen(0, '127.0.0.1', resolve));
  let client;
  try {
    client = await Client.connect({ url: own.options.url, tokenUrl: `http://127.0.0.1:${gate.address().port}/` });
    for (const signal of ['SIGKILL', 'SIGTERM']) {
      let connected = 0;
      const off = client.on('connected', () => ++connected);
      [pages, wanted] = [0, 2];
      await own.stop(signal);
      own = await Server.start({ httpPort: own.port });
      await until('connected again', () => connected > 0, 20);
      off();
      assert.equal(pages, 2);
    }
  } finally {
    client?.close();
    gate.close();
    gate.closeAllConnections();
    await own.stop();
  }
});

test('a url that is none is an error, and no timer polls on', async () => {
  const token = new Uint8Array(await (await fetch(server.options.tokenUrl, { method: 'POST' })).arrayBuffer());
  const { setInterval } = globalThis;
  let timers = 0;
  globalThis.setInterval = (...parts) => (++timers, setInterval(...parts));
  try {
    await assert.rejects(Client.connect({ url: 'no url', token }), { name: 'SyntaxError' });
  } finally {
    globalThis.setInterval = setInterval;
  }
  assert.equal(timers, 0);
});

test('without a tokenUrl the stop of the server is an end, with its reason', async () => {
  const own = await Server.start();
  const token = new Uint8Array(await (await fetch(own.options.tokenUrl, { method: 'POST' })).arrayBuffer());
  assert.equal(token.length, 2048);
  const client = await Client.connect({ url: own.options.url, token });
  const ended = new Promise((resolve) => client.on('disconnected', resolve));
  await own.stop();
  const { reason, text } = await ended;
  assert.equal(reason, constants.END_SERVER_STOPPED, text);
  client.close();
  const begun = performance.now();
  await assert.rejects(Client.connect({ url: own.options.url, token }), (error) =>
    error instanceof ConnectionError && error.reason === constants.END_NO_ANSWER);
  assert.ok(performance.now() - begun < 5000);  // the failure is told, before the time of the token is over
});

test('the example drives the yard from Node', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(PACKAGE, 'dist/examples/drive_node.js'), server.address, '3']);
  const at = [...stdout.matchAll(/x (-?[\d.]+) {2}y (-?[\d.]+) {2}z (-?[\d.]+) m {2}RTT/g)].map((m) => m.slice(1, 4).map(Number));
  assert.ok(at.length >= 3, stdout);
  assert.ok(distance(at[0], at.at(-1)) > 0.5, stdout);
});
