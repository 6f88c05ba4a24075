// A joystick for a thumb, and a brake for the other one. They are shown where fingers point (style.css).
const REACH_PX = 46;

export class Stick {
  readonly element = document.createElement('div');
  /** -1 to 1: right, and ahead. */
  x = 0;
  y = 0;
  brake = 0;

  constructor() {
    this.element.className = 'sticks';
    this.element.innerHTML = `
      <div class="stick" aria-label="Joystick: ahead, back, left, right"><div class="knob"></div></div>
      <button class="brake" aria-label="Brake">Brake</button>`;
    const stick = this.element.querySelector<HTMLElement>('.stick')!;
    const knob = this.element.querySelector<HTMLElement>('.knob')!;
    const brake = this.element.querySelector<HTMLElement>('.brake')!;
    const move = (event: PointerEvent) => {
      if (!stick.hasPointerCapture(event.pointerId)) return;
      const box = stick.getBoundingClientRect();
      const x = (event.clientX - box.left - box.width / 2) / REACH_PX;
      const y = (box.top + box.height / 2 - event.clientY) / REACH_PX;
      this.#put(knob, x, y, Math.max(Math.hypot(x, y), 1));
    };
    stick.addEventListener('pointerdown', (event) => {
      stick.setPointerCapture(event.pointerId);
      move(event);
    });
    stick.addEventListener('pointermove', move);
    for (const end of ['pointerup', 'pointercancel'] as const)
      stick.addEventListener(end, () => this.#put(knob, 0, 0, 1));
    brake.addEventListener('pointerdown', () => void (this.brake = 1));
    for (const end of ['pointerup', 'pointercancel', 'pointerleave'] as const)
      brake.addEventListener(end, () => void (this.brake = 0));
    this.element.addEventListener('contextmenu', (event) => event.preventDefault());
  }
  #put(knob: HTMLElement, x: number, y: number, length: number): void {
    this.x = x / length;
    this.y = y / length;
    knob.style.transform = `translate(${REACH_PX * this.x}px, ${-REACH_PX * this.y}px)`;
  }
}
