// What the page's parts share: what is looked at, and what the page offers to its panels.
import type { Body, Client, ConnectOptions, Samples, Shape } from '../src/client.js';

/** What is looked at: a live room or a recording. */
export interface Source {
  readonly kind: 'live' | 'replay';
  readonly name: string;
  /** Views, valid at once. */
  sample(): Samples | null;
  body(id: bigint): Body | null;
  shape(index: number): Shape | null;
  ownBody(): bigint | null;
  tickRateHz(): number;
}
export interface Live extends Source {
  readonly kind: 'live';
  readonly client: Client;
}

export interface Panel {
  readonly element: HTMLElement;
  update(frame: Frame): void;
  dispose(): void;
}
/** `scriptMs`: the script's time in the frame before, ms. */
export interface Frame {
  now: number;
  source: Source | null;
  samples: Samples | null;
  scriptMs: number;
  selected: bigint | null;
}

/** What is drawn beside the bodies. */
export interface Show { contacts: boolean; joints: boolean; bounds: boolean; sleep: boolean; ghost: boolean }
/** Of what is wished but not drawn: why. */
export type Hints = Record<keyof Show, string>;

/** What main.ts offers to panels. */
export interface Shell {
  source(): Source | null;
  selected: bigint | null;
  select(id: bigint | null): void;
  readonly show: Show;
  readonly hints: Hints;
  cursor: { paused: boolean; tick: number | null };
  onChange(listener: () => void): () => void;
  openRecording(bytes: Uint8Array, name: string): Promise<void>;
  reconnect(options: Partial<ConnectOptions>): Promise<void>;
}
