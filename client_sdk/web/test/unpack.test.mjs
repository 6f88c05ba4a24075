// A frame fills its room exactly, or is refused, whatever size it states; Node's own Zstandard makes the good ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constants, zstdCompressSync } from 'node:zlib';

import { unpack } from '../dist/unpack.js';

/** A frame of one segment that states a size, of blocks [type, size, ...bytes]: type 0 has them as they are, type 1
 * repeats one. */
function frame(stated, ...blocks) {
  const bytes = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, ...[0, 8, 16, 24].map((shift) => (stated >> shift) & 255)];
  blocks.forEach(([type, size, ...content], i) => {
    const header = (size << 3) | (type << 1) | (i === blocks.length - 1 ? 1 : 0);
    bytes.push(header & 255, (header >> 8) & 255, header >> 16, ...content);
  });
  return Uint8Array.from(bytes);
}
const refused = (bytes, room) => {
  let filled;
  try { filled = unpack(bytes, new Uint8Array(room)); } catch { filled = false; }
  assert.equal(filled, false);
};

test('a frame that holds what it states fills its room', () => {
  const out = new Uint8Array(2000);
  assert.equal(unpack(frame(2000, [1, 1990, 7], [0, 10, ...Array(10).fill(3)]), out), true);
  assert.deepEqual([out[0], out[1989], out[1990], out[1999]], [7, 7, 3, 3]);
  for (const size of [0, 1, 5000, 200_000, 5_000_000]) {
    const plain = Uint8Array.from({ length: size }, (_, i) => (i * i) >> 7), back = new Uint8Array(size);
    for (const checksum of [0, 1]) {
      const packed = zstdCompressSync(plain, { pledgedSrcSize: size,
        params: { [constants.ZSTD_c_checksumFlag]: checksum } });
      assert.equal(unpack(packed, back), true);
      assert.deepEqual(back, plain);
    }
  }
});

test('a frame that holds less or more than it states, or another size than asked for, is refused', () => {
  refused(frame(2000, [0, 10, ...Array(10).fill(3)]), 2000);
  refused(frame(2000, [1, 5000, 7]), 2000);
  refused(frame(2000, ...Array(5).fill([1, 1000, 7])), 2000);
  refused(frame(2000, [1, 2000, 7]), 1999);
  refused(frame(2000, [1, 2000, 7]), 2001);
  refused(frame(2000, [1, 2000, 7]).subarray(0, 12), 2000);
});

test('a small frame of very much ends at its first block', () => {
  const before = process.memoryUsage().arrayBuffers;
  refused(frame(0, ...Array(150).fill([1, 2_097_151, 7])), 0);
  refused(frame(300_000_000, ...Array(150).fill([1, 2_097_151, 7])).fill(0, 5, 9), 1000);
  assert.ok(process.memoryUsage().arrayBuffers - before < 50_000_000);
});
