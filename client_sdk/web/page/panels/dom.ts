// What the panels make their elements with.

type Attributes = Record<string, string | number | boolean>;

/** An element with attributes (`true`: without a value; `false`: left out) and what is in it. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {},
                                                            ...inner: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== false) element.setAttribute(name, value === true ? '' : String(value));
  element.append(...inner);
  return element;
}

export function button(text: string, title: string, press: () => void): HTMLButtonElement {
  const element = make('button', { type: 'button', title }, text);
  element.addEventListener('click', press);
  return element;
}

/** Text that is written only when it has changed. */
export class Text {
  readonly element: HTMLElement;
  #shown = '';
  constructor(element: HTMLElement = make('span')) {
    this.element = element;
  }
  set(text: string): void {
    if (text === this.#shown) return;
    this.#shown = text;
    this.element.textContent = text;
  }
}

/** A list of terms with their values, which set() writes by the term's place. */
export class Values {
  readonly element = make('dl', { class: 'values' });
  readonly #texts: Text[] = [];

  /** Each term with what it means. */
  constructor(terms: readonly (readonly [term: string, title: string])[]) {
    for (const [term, title] of terms) {
      const text = new Text(make('dd'));
      this.#texts.push(text);
      this.element.append(make('div', { title }, make('dt', {}, term), text.element));
    }
  }
  /** Null: the term is not shown. */
  set(place: number, text: string | null): void {
    const shown = this.#texts[place]!, row = shown.element.parentElement!;
    if (row.hidden !== (text === null)) row.hidden = text === null;
    if (text !== null) shown.set(text);
  }
}

/** True at most `hertz` times a second. */
export class Pace {
  readonly #leastMs: number;
  #lastMs = -Infinity;
  constructor(hertz: number) {
    this.#leastMs = 1000 / hertz;
  }
  due(nowMs: number): boolean {
    if (nowMs - this.#lastMs < this.#leastMs) return false;
    this.#lastMs = nowMs;
    return true;
  }
}

/** A part of the page that can be folded; it stays as it was left. `open`: at first. */
export function fold(name: string, title: string, open: boolean, ...inner: (Node | string)[]): HTMLDetailsElement {
  const key = `orrery.fold.${name}`, kept = localStorage.getItem(key);
  const element = make('details', { class: `panel ${name}`, open: kept === null ? open : kept === 'open' },
                       make('summary', {}, title), make('div', { class: 'inner' }, ...inner));
  element.addEventListener('toggle', () => localStorage.setItem(key, element.open ? 'open' : 'closed'));
  return element;
}

/** Draws into a canvas in CSS pixels, sharp on every screen. Null while it is not seen. */
export function draftOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  const { clientWidth: width, clientHeight: height } = canvas, context = canvas.getContext('2d');
  if (width === 0 || !context) return null;
  const wide = Math.round(width * devicePixelRatio), high = Math.round(height * devicePixelRatio);
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** The colours of panels.css, taken anew when the screen turns dark or light. */
export class Colours {
  #known = new Map<string, string>();
  constructor() {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#known.clear());
  }
  get(name: string): string {
    let colour = this.#known.get(name);
    if (colour === undefined) {
      colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
      this.#known.set(name, colour);
    }
    return colour;
  }
}
export const colours = new Colours();
