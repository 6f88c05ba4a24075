// A worse network than there is: delay, jitter and loss around a WebSocket, in both directions, to be changed while it
// runs. Over TCP nothing is lost for good: a lost message, and all behind it, is held until it has been sent again,
// which takes a round trip.
import type { WebSocketLike } from './client.js';

export interface Slowness {
  /** Is added to the round trip, half of it in each direction. */
  rttMs: number;
  /** At most this much is added to the way of a message, evenly spread. Messages keep their order. */
  jitterMs: number;
  /** The part of the messages, 0 to 1, that is lost at first. */
  loss: number;
}

/** Time and chance, which a test replaces. */
export interface SlowClock {
  now(): number;
  after(ms: number, call: () => void): void;
  /** In [0, 1). */
  random(): number;
}

const realClock: SlowClock = {
  now: () => performance.now(),
  after: (ms, call) => void setTimeout(call, ms),
  random: Math.random,
};

// A lost message is missed by the ones behind it, and no way is so short that this takes no time.
const LEAST_HOLD_MS = 10;
// TCP's handshake and that of the WebSocket.
const ROUND_TRIPS_TO_OPEN = 2;

/** Settings and counts for all the sockets of a client, which opens a new one when it reconnects:
 * `Client.connect({ ..., WebSocket: network.WebSocket })`. */
export class SlowNetwork implements Slowness {
  rttMs: number;
  jitterMs: number;
  loss: number;
  /** Messages of both directions, and how many of them were lost at first. */
  messages = 0;
  lost = 0;
  /** Is told of each message when it is sent, or has come. */
  onPassed: ((outward: boolean, bytes: number, lost: boolean) => void) | null = null;
  readonly clock: SlowClock;
  readonly WebSocket: new (url: string) => WebSocketLike;

  constructor(slowness: Partial<Slowness> = {}, Inner: new (url: string) => WebSocketLike = globalThis.WebSocket,
              clock = realClock) {
    this.rttMs = slowness.rttMs ?? 0;
    this.jitterMs = slowness.jitterMs ?? 0;
    this.loss = slowness.loss ?? 0;
    this.clock = clock;
    const network = this;
    this.WebSocket = class extends SlowSocket {
      constructor(url: string) {
        super(new Inner(url), network);
      }
    };
  }

  /** Whether the next message is lost. */
  loses(): boolean {
    ++this.messages;
    const lost = this.loss > 0 && this.clock.random() < this.loss;
    this.lost += lost ? 1 : 0;
    return lost;
  }
  /** How long a message is under way in one direction. */
  wayMs(lost: boolean): number {
    const jitter = this.jitterMs > 0 ? this.jitterMs * this.clock.random() : 0;
    return this.rttMs / 2 + jitter + (lost ? Math.max(this.rttMs, LEAST_HOLD_MS) : 0);
  }
}

/** What is under way in one direction, in order. */
class Way {
  readonly #clock: SlowClock;
  readonly #queue: { dueMs: number; call: () => void }[] = [];
  #waits = false;  // for a timer
  #delivers = false;

  constructor(clock: SlowClock) {
    this.#clock = clock;
  }

  /** `call` comes `ms` from now, but not before what was put earlier. */
  put(ms: number, call: () => void): void {
    if (ms <= 0 && this.#queue.length === 0 && !this.#delivers) return call();
    const last = this.#queue.at(-1)?.dueMs ?? -Infinity;
    this.#queue.push({ dueMs: Math.max(last, this.#clock.now() + ms), call });
    this.#wait();
  }
  /** Delivers what is due. A page that is hidden calls it for its messages, since its timers are slow. */
  deliver(): void {
    if (this.#delivers) return;
    this.#delivers = true;
    try {
      while (this.#queue[0] && this.#queue[0].dueMs <= this.#clock.now()) this.#queue.shift()!.call();
    } finally {
      this.#delivers = false;
      this.#wait();
    }
  }
  drop(): void {
    this.#queue.length = 0;
  }
  #wait(): void {
    const first = this.#queue[0];
    if (!first || this.#waits || this.#delivers) return;
    this.#waits = true;
    this.#clock.after(Math.max(0, first.dueMs - this.#clock.now()), () => {
      this.#waits = false;
      this.deliver();
    });
  }
}

/** A WebSocket whose messages take as long as `network` says. */
export class SlowSocket implements WebSocketLike {
  onopen: ((event: any) => void) | null = null;
  onmessage: ((event: any) => void) | null = null;
  onerror: ((event: any) => void) | null = null;
  onclose: ((event: any) => void) | null = null;
  readonly #inner: WebSocketLike;
  readonly #network: SlowNetwork;
  readonly #out: Way;
  readonly #in: Way;
  #waitingBytes = 0;
  #closing = false;

  constructor(inner: WebSocketLike, network: SlowNetwork) {
    this.#inner = inner;
    this.#network = network;
    this.#out = new Way(network.clock);
    this.#in = new Way(network.clock);
    inner.onopen = (event) => this.#in.put(ROUND_TRIPS_TO_OPEN * network.rttMs, () => this.onopen?.(event));
    inner.onmessage = (event) => {
      const lost = network.loses();
      this.#in.put(network.wayMs(lost), () => {
        network.onPassed?.(false, event.data.byteLength ?? 0, lost);
        this.onmessage?.(event);
      });
      this.#in.deliver();
      this.#out.deliver();
    };
    inner.onerror = (event) => this.#in.put(network.rttMs / 2, () => this.onerror?.(event));
    inner.onclose = (event) => {
      this.#closing = true;
      this.#out.drop();
      this.#waitingBytes = 0;
      this.#in.put(network.rttMs / 2, () => this.onclose?.(event));
    };
  }

  get binaryType(): string {
    return this.#inner.binaryType;
  }
  set binaryType(type: string) {
    this.#inner.binaryType = type;
  }
  /** Of the socket within, and what is still on its way to it. */
  get bufferedAmount(): number {
    return this.#inner.bufferedAmount + this.#waitingBytes;
  }
  /** The caller may use `data` again at once. After close() nothing is sent, as with a WebSocket. */
  send(data: Uint8Array<ArrayBuffer>): void {
    if (this.#closing) return;
    const copy = data.slice();
    this.#waitingBytes += copy.length;
    const lost = this.#network.loses();
    this.#network.onPassed?.(true, copy.length, lost);
    this.#out.put(this.#network.wayMs(lost), () => {
      this.#waitingBytes -= copy.length;
      this.#inner.send(copy);
    });
  }
  /** What was sent before goes first. */
  close(code?: number): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#out.put(this.#network.rttMs / 2, () => this.#inner.close(code));
  }
}
