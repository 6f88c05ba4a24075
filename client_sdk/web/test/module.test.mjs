// The module by itself: its layout is that of the header, its exports are the header's, and views survive its growth.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Client } from '../dist/client.js';
import * as layout from '../dist/layout.js';
import { load } from '../dist/wasm.js';
import { PACKAGE, ROOT } from './server.mjs';

const wasm = join(PACKAGE, 'dist/orrery_client.wasm');
const header = join(ROOT, 'client_sdk/include/orrery/client.h');
const tool = (...options) => execFileSync('python3', [join(PACKAGE, 'tools/layout.py'), header, ...options], { encoding: 'utf8' });

test('layout.ts is what the header gives now, and the module agrees', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  try {
    tool('--ts', join(folder, 'layout.ts'));
    assert.equal(readFileSync(join(PACKAGE, 'src/layout.ts'), 'utf8'), readFileSync(join(folder, 'layout.ts'), 'utf8'),
      'layout.ts is stale: cmake --preset web && npm run build');
  } finally {
    rmSync(folder, { recursive: true });
  }
  const memory = await load(wasm);
  assert.equal(memory.exports.orrery_web_layout() >>> 0, layout.LAYOUT);
  const at = memory.allocate(layout.ClientConfigLayout.sizeof);
  memory.exports.orrery_client_config_init(at);
  assert.equal(memory.u32(at), layout.ClientConfigLayout.sizeof);  // as the compiler knows it
});

test('a module of another header is refused', async () => {
  const bytes = readFileSync(wasm);
  // The number of the layout is a constant in the code: LEB128, signed, after i32.const (0x41).
  const leb = [];
  for (let value = layout.LAYOUT | 0; ; ) {
    const low = value & 0x7f;
    value >>= 7;
    const last = (value === 0 && !(low & 0x40)) || (value === -1 && (low & 0x40));
    leb.push(last ? low : low | 0x80);
    if (last) break;
  }
  const at = bytes.indexOf(Buffer.from([0x41, ...leb]));
  assert.notEqual(at, -1);
  bytes[at + 1] ^= 1;
  await assert.rejects(load(new Uint8Array(bytes)), /another orrery\/client\.h/);
});

test('the module exports every function of the header, and needs little of its host', async () => {
  const module = await WebAssembly.compile(readFileSync(wasm));
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  const declared = tool('--exports').trim().split('\n');
  assert.ok(declared.length > 25);
  for (const name of declared) assert.ok(names.includes(name), name);
  const imports = WebAssembly.Module.imports(module).map(({ name }) => name).sort();
  for (const name of imports) assert.ok(/^(fd_(close|seek|write|fdstat_get)|proc_exit|environ_(get|sizes_get))$/.test(name), imports.join());
});

test('views of the memory are taken again after it has grown', async () => {
  const memory = await load(wasm);
  const { bytes, view } = memory;
  const before = memory.allocate(64);
  memory.setU32(before, 0x12345678);
  memory.allocate(32 << 20);
  assert.equal(bytes.length, 0);  // the old view is detached
  assert.throws(() => view.getUint32(before));
  assert.equal(memory.u32(before), 0x12345678);
  assert.equal(memory.lend(new Uint8Array([1, 2, 3]), (at, size) => memory.bytes.slice(at, at + size).join()), '1,2,3');
});

test('a token that cannot be read, and none at all, are errors with a reason', async () => {
  await assert.rejects(Client.connect({ url: 'ws://127.0.0.1:9/play', token: new Uint8Array(2048), wasm }), /invalid token/);
  await assert.rejects(Client.connect({ url: 'ws://127.0.0.1:9/play', wasm }), /needs a token or a tokenUrl/);
});
