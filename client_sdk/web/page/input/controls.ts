// A player's control from keyboard, gamepad and touch: throttle, steering (right is positive) and brake.
import { Stick } from './stick.js';

const DEAD = 0.12;  // of a gamepad's sticks

const clamp = (value: number): number => Math.min(Math.max(value, -1), 1);
const alive = (value: number): number => (Math.abs(value) < DEAD ? 0 : (value - Math.sign(value) * DEAD) / (1 - DEAD));

export class Controls {
  /** Channels 0 to 2: throttle, steering, brake. The same array each time. */
  readonly channels = new Float32Array(3);
  /** Whether the last read() gave another control than the one before. */
  changed = false;
  readonly #held = new Set<string>();
  readonly #stick = new Stick();
  readonly #gone = new AbortController();

  constructor() {
    const { signal } = this.#gone;
    addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.code === 'Space' || event.code.startsWith('Arrow')) event.preventDefault();
      this.#held.add(event.code);
    }, { signal });
    addEventListener('keyup', (event) => this.#held.delete(event.code), { signal });
    addEventListener('blur', () => this.#held.clear(), { signal });
  }
  get element(): HTMLElement {
    return this.#stick.element;
  }

  read(): Float32Array {
    const { channels } = this, stick = this.#stick;
    let throttle = this.#key('KeyW', 'ArrowUp') - this.#key('KeyS', 'ArrowDown') + stick.y;
    let steer = this.#key('KeyD', 'ArrowRight') - this.#key('KeyA', 'ArrowLeft') + stick.x;
    let brake = this.#key('Space', 'Space') + stick.brake;
    const pads = navigator.getGamepads?.() ?? [];
    for (const pad of pads) {
      if (!pad?.connected || pad.mapping !== 'standard') continue;
      throttle += (pad.buttons[7]?.value ?? 0) - (pad.buttons[6]?.value ?? 0) - alive(pad.axes[1] ?? 0);
      steer += alive(pad.axes[0] ?? 0);
      brake += pad.buttons[0]?.value ?? 0;
    }
    const before = channels[0]! + 4 * channels[1]! + 16 * channels[2]!;
    channels[0] = clamp(throttle);
    channels[1] = clamp(steer);
    channels[2] = Math.min(brake, 1);
    this.changed = channels[0] + 4 * channels[1] + 16 * channels[2] !== before;
    return channels;
  }
  dispose(): void {
    this.#gone.abort();
  }

  #key(one: string, other: string): number {
    return this.#held.has(one) || this.#held.has(other) ? 1 : 0;
  }
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
