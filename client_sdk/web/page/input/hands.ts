// Hands: with a director's token, a body that is pressed follows the pointer until it is let go. A server with the
// option --hands pulls it; server/net/hand_messages.h describes the messages.
import { Vector3 } from 'three';
import { constants } from '../../src/client.js';
import { LiveSource } from '../connection.js';
import type { Source } from '../source.js';
import type { Pull } from '../view/pulls.js';
import type { Hit, View } from '../view/view.js';

const TYPE = 0x4844, MAGIC = 0x444e4148, VERSION = 1;
const GRAB = 1, MOVE = 2, RELEASE = 3, ENDED = 5, HEAD_BYTES = 8;
const NUMBERS = [0, 1, 2, 3];
const NONE: Pull[] = [];
const BOARD_KEY = 'orrery.hands';
const SEND_MS = 25, ALIVE_MS = 500;  // between messages: of all hands; of one whose pointer stands still
const STILL_M = 1e-3;  // a way that is nothing new

/** Whether we are a director in this source, whether its server has hands, and whether it gives pages of its own
 * machine a director's token. */
export function handsOf(source: Source | null): { director: boolean; there: boolean; given: boolean } {
  const client = source instanceof LiveSource ? source.client : null, value = client?.board(BOARD_KEY);
  const there = value?.[0] === VERSION;
  return { director: client?.session()?.role === constants.ROLE_DIRECTOR, there, given: there && value?.[1] === 1 };
}

interface Hand {
  number: number;
  pull: Pull;
  /** The plane in which it goes holds this point, m. */
  from: Vector3;
  x: number;
  y: number;
  sent: Vector3;
  sentAt: number;
}

export class Hands {
  readonly #view: View;
  readonly #canvas: HTMLElement;
  readonly #ended: (why: string) => void;
  readonly #hands = new Map<number, Hand>();  // by pointer; of those that the server has ended, the pointer alone
  readonly #pointers = new Set<number>();
  #live: LiveSource | null = null;
  #off = (): void => {};
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `ended`: is told why the server let go. */
  constructor(view: View, canvas: HTMLElement, ended: (why: string) => void) {
    this.#view = view;
    this.#canvas = canvas;
    this.#ended = ended;
    canvas.addEventListener('pointerdown', (event) => this.#press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.#move(event), { capture: true });
    for (const kind of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
      canvas.addEventListener(kind, (event) => this.#release(event), { capture: true });
  }

  /** From now on they act on this source; null, or one without a director's token: they do nothing. */
  of(source: Source | null): void {
    this.#off();
    this.#off = () => {};
    this.#hands.clear();
    const { director, there } = handsOf(source);
    this.#live = source instanceof LiveSource && director && there ? source : null;
    if (this.#live)
      this.#off = this.#live.client.on('message', ({ type, bytes }) => type === TYPE && this.#told(bytes));
  }

  /** What is to be drawn. */
  get pulls(): Pull[] {
    return this.#hands.size === 0 ? NONE : [...this.#hands.values()].map(({ pull }) => pull);
  }

  /** Sends where bodies are to go: by a timer, since a page that draws slowly still holds them. */
  #tell(): void {
    const now = performance.now();
    if (this.#hands.size === 0) clearInterval(this.#timer);
    for (const hand of this.#hands.values()) {
      this.#view.inPlane(hand.x, hand.y, hand.from, hand.pull.target);
      const quiet = now - hand.sentAt, still = hand.sent.distanceTo(hand.pull.target) < STILL_M;
      if (quiet > (still ? ALIVE_MS : SEND_MS * this.#hands.size)) this.#send(hand, MOVE);
    }
  }
  #press(event: PointerEvent): void {
    const { pointerId, clientX: x, clientY: y, button, ctrlKey, metaKey, shiftKey } = event;
    const live = this.#live, samples = live?.sample();
    if (!live || !samples || button !== 0 || ctrlKey || metaKey || shiftKey || this.#pointers.has(pointerId)) return;
    const used = new Set([...this.#hands.values()].map((hand) => hand.number));
    const number = NUMBERS.find((each) => !used.has(each));
    const hit = number === undefined ? null : this.#view.hit(x, y, samples);
    if (number === undefined || !hit || live.body(hit.id)?.type !== constants.BODY_DYNAMIC) return;
    event.stopImmediatePropagation();  // the eye stays
    this.#take(number, pointerId, x, y, hit);
  }
  #take(number: number, pointerId: number, x: number, y: number, { id, point, local }: Hit): void {
    const pull = { id, local, target: point.clone() };
    const hand = { number, pull, from: point, x, y, sent: point.clone(), sentAt: 0 };
    if (!this.#send(hand, GRAB)) return;
    this.#hands.set(pointerId, hand);
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tell(), SEND_MS);
    this.#pointers.add(pointerId);
    this.#canvas.setPointerCapture(pointerId);
    this.#canvas.style.cursor = 'grabbing';
  }
  #move(event: PointerEvent): void {
    if (!this.#pointers.has(event.pointerId)) return;
    event.stopImmediatePropagation();
    const hand = this.#hands.get(event.pointerId);
    if (!hand) return;
    hand.x = event.clientX;
    hand.y = event.clientY;
  }
  #release(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId)) return;
    event.stopImmediatePropagation();
    const hand = this.#hands.get(event.pointerId);
    this.#hands.delete(event.pointerId);
    if (this.#pointers.size === 0) this.#canvas.style.cursor = '';
    if (hand) this.#send(hand, RELEASE);
  }

  /** False: the client takes no message now. */
  #send(hand: Hand, kind: number): boolean {
    const { number, pull: { id, local, target } } = hand;
    const points = kind === GRAB ? [local, target] : kind === MOVE ? [target] : [];
    const start = HEAD_BYTES + (kind === GRAB ? 8 : 0);
    const view = new DataView(new ArrayBuffer(start + 12 * points.length)), bytes = new Uint8Array(view.buffer);
    view.setUint32(0, MAGIC, true);
    bytes.set([VERSION, kind, number, 0], 4);
    if (kind === GRAB) view.setBigUint64(HEAD_BYTES, id, true);
    points.flatMap((point) => point.toArray()).forEach((value, i) => view.setFloat32(start + 4 * i, value, true));
    try {
      this.#live?.client.send(TYPE, bytes);
    } catch {
      return false;  // a limit; a hand that the server hears nothing of lets go there
    }
    hand.sent.copy(target);
    hand.sentAt = performance.now();
    return this.#live !== null;
  }
  #told(bytes: Uint8Array): void {
    if (bytes.length < HEAD_BYTES || bytes[5] !== ENDED) return;
    for (const [pointer, hand] of this.#hands) if (hand.number === bytes[6]) this.#hands.delete(pointer);
    this.#ended(new TextDecoder().decode(bytes.subarray(HEAD_BYTES)));
  }
}
