// What a session was given, played again in WebAssembly and in the native library: the same messages and samples, byte for
// byte, and the same events by kind, tick and body.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { EventLayout, OK, SamplesLayout } from '../dist/layout.js';
import { load } from '../dist/wasm.js';
import { ORRERY, PACKAGE, Server } from './server.mjs';

const NATIVE = process.env.ORRERY_STREAM_REPLAY ?? join(dirname(ORRERY), 'stream_replay');
const CONNECT = 0, OPENED = 1, RECEIVED = 2, POLL = 3, SAMPLE = 4, CONTROL = 5;
const CAPACITY = 65536;

/** Does operations with the functions of orrery/client.h, and keeps them and all that the client gives. */
class Player {
  operations = [];
  results = [];
  sent = [];

  static async create() {
    const player = new Player();
    const m = (player.m = await load(join(PACKAGE, 'dist/orrery_client.wasm')));
    const out = (player.out = m.allocate(16));
    assert.equal(m.exports.orrery_client_create_stream(0, out), OK);
    player.client = m.u32(out);
    player.event = m.allocate(EventLayout.sizeof);
    player.samples = m.allocate(SamplesLayout.sizeof);
    m.setU32(player.samples, SamplesLayout.sizeof);
    m.setU32(player.samples + SamplesLayout.capacity, CAPACITY);
    player.arrays = [['ids', 8], ['positions', 12], ['orientations', 16], ['linear_velocities', 12], ['angular_velocities', 12]]
      .map(([name, bytes]) => {
        const at = m.allocate(bytes * CAPACITY);
        m.setU32(player.samples + SamplesLayout[name], at);
        return [at, bytes];
      });
    return player;
  }

  do(kind, now, bytes = new Uint8Array()) {
    const head = Buffer.alloc(13);
    head.writeUInt8(kind, 0);
    head.writeBigUInt64LE(now, 1);
    head.writeUInt32LE(bytes.length, 9);
    this.operations.push(head, Buffer.from(bytes));
    const { m, client } = this, c = m.exports;
    if (kind === CONNECT) assert.equal(m.lend(bytes, (at, size) => c.orrery_client_connect(client, at, size, now)), OK);
    if (kind === OPENED) c.orrery_client_stream_opened(client, now);
    if (kind === RECEIVED) m.lend(bytes, (at, size) => c.orrery_client_stream_received(client, at, size, now));
    if (kind === POLL) c.orrery_client_poll(client, now);
    if (kind === CONTROL) m.lend(bytes, (at, size) => c.orrery_client_set_control(client, at, size / 4));
    if (kind === SAMPLE) this.#sample(now);
    this.#tell();
  }

  #put(letter, ...parts) {
    this.results.push(Buffer.from(letter), ...parts);
  }
  #copy(at, size) {
    return Buffer.from(this.m.bytes.slice(at, at + size));
  }
  #sample(now) {
    const status = Buffer.alloc(4);
    status.writeInt32LE(this.m.exports.orrery_client_sample(this.client, now, this.samples));
    const count = this.m.u32(this.samples + SamplesLayout.count);
    this.most = Math.max(this.most ?? 0, count);
    this.#put('S', status, this.#copy(this.samples + SamplesLayout.count, 4), this.#copy(this.samples + SamplesLayout.tick, 8),
      ...this.arrays.map(([at, bytes]) => this.#copy(at, bytes * count)));
  }
  #tell() {
    const { m, client, event, out } = this;
    m.setU32(event, EventLayout.sizeof);
    while (m.exports.orrery_client_next_event(client, event) === OK)
      this.#put('E', this.#copy(event + EventLayout.kind, 4), this.#copy(event + EventLayout.tick, 8), this.#copy(event + EventLayout.body, 8));
    while (m.exports.orrery_client_stream_next(client, out, out + 4) === OK) {
      const message = m.copy(out, out + 4);
      this.#put('M', this.#copy(out + 4, 4), Buffer.from(message));
      this.sent.push(message);
    }
  }
}

/** Two seconds of a drive on a server that runs. */
async function record() {
  const server = await Server.start();
  const player = await Player.create();
  const now = () => BigInt(Math.floor(performance.now() * 1e6));
  try {
    const token = new Uint8Array(await (await fetch(server.options.tokenUrl, { method: 'POST' })).arrayBuffer());
    player.do(CONNECT, now(), token);
    const socket = new WebSocket(server.options.url);
    socket.binaryType = 'arraybuffer';
    const flush = () => { for (const message of player.sent.splice(0)) socket.send(message); };
    socket.onmessage = ({ data }) => { player.do(RECEIVED, now(), new Uint8Array(data)); flush(); };
    await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
    player.do(OPENED, now());
    flush();
    const end = performance.now() + 2500;
    for (let i = 0; performance.now() < end; ++i) {
      player.do(CONTROL, now(), new Uint8Array(new Float32Array([0.9, 0.4 * Math.sin(i / 20)]).buffer));
      player.do(POLL, now());
      player.do(SAMPLE, now());
      flush();
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    socket.onmessage = null;
    socket.close(1000);
  } finally {
    await server.stop();
  }
  return player;
}

test('WebAssembly and the native client give the same bytes for the same messages', async () => {
  const player = await record();
  const results = Buffer.concat(player.results);
  assert.ok(player.most > 50, `${player.most} bodies`);
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  try {
    writeFileSync(join(folder, 'operations'), Buffer.concat(player.operations));
    execFileSync(NATIVE, [join(folder, 'operations'), join(folder, 'results')]);
    const native = readFileSync(join(folder, 'results'));
    assert.ok(results.length > 100_000);
    assert.equal(native.length, results.length);
    assert.ok(native.equals(results), 'the bytes differ');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
