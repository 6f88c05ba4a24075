// A link of the page says again what it was written from, and nothing in it is believed unread.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readLink, writeLink } from '../page/link.ts';

const EMPTY = { eye: null, tick: null, selected: null, token: null, quality: null, snapshots: false, director: false };

test('a link holds the eye, the tick, the selection and the ways to show', () => {
  const link = { eye: { position: [1.25, -2, 3], target: [0, 0.5, -7], following: true }, tick: 1234,
                 selected: (7n << 32n) | 5n, quality: 'high', snapshots: true, director: true };
  assert.deepEqual(readLink(writeLink(link)), { ...link, token: null });
  assert.equal(writeLink(EMPTY), '');
});

test('a token is read once and is never written', () => {
  const bytes = new Uint8Array(2048).map((_, i) => 255 - i % 251);
  const text = Buffer.from(bytes).toString('base64url');
  const link = readLink(`#token=${text}&tick=3`);
  assert.deepEqual(link.token, bytes);
  assert.equal(writeLink(link), '#tick=3');
});

test('a damaged link is an empty one', () => {
  for (const hash of ['', '#', '#eye=1,2,3', '#eye=1,2,3,4,5,x', '#tick=-1', '#body=0x5', '#token=AAAA', '#token=%', '#quality=fine'])
    assert.deepEqual(readLink(hash), EMPTY, hash);
});
