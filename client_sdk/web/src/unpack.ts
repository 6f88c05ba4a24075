// Zstandard of a recording's chunks.
import { Decompress } from 'fzstd';

const MOST_IN_A_BLOCK = 128 * 1024;

/** Decompresses a frame. False, or an error: it is damaged, or does not fill `out` exactly. Block by block: what a
 * frame says of its size is not what it holds. */
export function unpack(frame: Uint8Array, out: Uint8Array): boolean {
  let filled = 0;
  new Decompress((part) => {
    if (part.length > MOST_IN_A_BLOCK || part.length > out.length - filled) throw new Error('a frame is too long');
    out.set(part, filled);
    filled += part.length;
  }).push(frame, true);
  return filled === out.length;
}
