// What the page can see of a source's world beside the poses: of a mirror's world and of a recording's.
import { constants, type Client } from '../src/client.js';
import type { Player } from '../src/player.js';
import type { ReplaySource } from './panels/replay_source.js';
import type { Live, Source } from './source.js';

export type Sight = Pick<Player, 'contacts' | 'joints' | 'jointKind' | 'marks' | 'bodyState' | 'stepTimes' |
  'measureSteps'>;

function clientOf(source: Source | null): Client | null {
  return source?.kind === 'live' ? (source as Live).client : null;
}
/** The client of a source that is a mirror. */
export function mirrorOf(source: Source | null): Client | null {
  const client = clientOf(source);
  return client?.mirrorStats() ? client : null;
}
/** What tells of single bodies. A client of snapshots knows less than the others. */
export function tellerOf(source: Source | null): Sight | null {
  return source?.kind === 'replay' ? (source as ReplaySource).player : clientOf(source);
}
/** Null: the source has snapshots alone. */
export function sightOf(source: Source | null): Sight | null {
  return source?.kind === 'replay' ? tellerOf(source) : mirrorOf(source);
}

const wanted = new WeakMap<Client, Set<object>>();

/** A mirror keeps the bodies of its predicted ticks as long as somebody wants to see what the server has confirmed. */
export class ConfirmedWish {
  #client: Client | null = null;

  /** From now on it is for this mirror; null: for none. */
  of(client: Client | null): void {
    if (client === this.#client) return;
    this.#set(false);
    this.#client = client;
    this.#set(true);
  }
  #set(on: boolean): void {
    const client = this.#client;
    if (!client) return;
    const all = wanted.get(client) ?? new Set(), before = all.size > 0;
    wanted.set(client, all);
    if (on) all.add(this);
    else all.delete(this);
    if (all.size > 0 !== before && client.state !== constants.STATE_DISCONNECTED) client.setConfirmed(all.size > 0);
  }
}
