// Opens recordings as something to look at.
import type { Source } from './source.js';

/** Rejects with what is wrong with the bytes. */
export async function openRecording(_bytes: Uint8Array, _name: string): Promise<Source> {
  throw new Error('This build of the page plays no recordings');
}
