// Opens recordings as something to look at.
import { Player } from '../src/player.js';
import { simModule } from './modules.js';
import { ReplaySource } from './panels/replay_source.js';
import type { Shell } from './source.js';

/** Rejects with what is wrong with the bytes. */
export async function openRecording(bytes: Uint8Array, name: string, cursor: Shell['cursor']): Promise<ReplaySource> {
  return new ReplaySource(await Player.open(bytes, await simModule()), name, cursor);
}
