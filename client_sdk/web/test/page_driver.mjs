// The built page in a headless Chromium that draws by software, for tests: what it shows, fetches and complains of.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

import { PACKAGE, Server, until as soon } from './server.mjs';

export { Server };
/** A browser that draws by software on a busy machine takes its time. */
export const until = (what, condition, seconds = 60) => soon(what, condition, seconds);

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGS = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-sandbox',
              '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
              '--disable-dev-shm-usage'];
/** Of a server: it gives the built page away, and lets clients be mirrors. */
export const WITH_PAGE = ['--web', join(PACKAGE, 'dist-page'), '--allow-mirror'];
// While a server is away, the browser itself notes each try to reach it.
const AWAY = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|WebSocket connection to/;
export const PICTURES = process.env.ORRERY_PAGE_PICTURES;

/** Why these tests cannot be run; false: they can. */
export function cannot() {
  if (!existsSync(CHROMIUM)) return `there is no ${CHROMIUM}`;
  return existsSync(join(PACKAGE, 'dist-page/index.html')) ? false : 'the page is not built: npm run page';
}

export class Browser {
  #browser;
  #painter;  // an empty page that decodes pictures

  static async start() {
    const browser = new Browser();
    browser.#browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS, headless: true });
    browser.#painter = await browser.#browser.newPage();
    return browser;
  }
  close() { return this.#browser.close(); }

  /** Opens `url`; `screen`: options of Playwright's context. Where nobody looks at pictures, little is drawn. */
  async open(url, screen = { viewport: PICTURES ? { width: 1280, height: 800 } : { width: 720, height: 450 } }) {
    const context = await this.#browser.newContext(screen);
    await context.addInitScript(noteModules);
    const page = new Page(await context.newPage());
    await page.goto(PICTURES || url.includes('#') ? url : `${url}#quality=low`);
    return page;
  }

  /** Of PNG pictures of one size: how many colours each has, and the part of pixels that differ from the first one. */
  look(...pictures) {
    return this.#painter.evaluate(async (texts) => {
      let first;
      const seen = [];
      for (const text of texts) {
        const image = new Image();
        image.src = `data:image/png;base64,${text}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
        first ??= pixels;
        const differ = pixels.reduce((sum, pixel, i) => sum + (pixel === first[i] ? 0 : 1), 0);
        seen.push({ colours: new Set(pixels).size, differ: differ / pixels.length });
      }
      return seen;
    }, pictures.map((picture) => picture.toString('base64')));
  }
}

/** In the page: keeps the memories of its WebAssembly modules. */
function noteModules() {
  const { instantiate } = WebAssembly, memories = (globalThis.modulesMemories = []);
  WebAssembly.instantiate = async (...all) => {
    const made = await instantiate(...all), { memory } = (made.instance ?? made).exports;
    if (memory) memories.push(memory);
    return made;
  };
}

export class Page {
  errors = [];
  elsewhere = [];
  away = false;  // a server is stopped on purpose
  #page;

  constructor(page) {
    this.#page = page;
    page.setDefaultTimeout(90_000);
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !(this.away && AWAY.test(message.text()))) this.errors.push(message.text());
    });
  }
  get page() { return this.#page; }
  get keyboard() { return this.#page.keyboard; }
  locator(selector) { return this.#page.locator(selector); }

  async goto(url) {
    const { host } = new URL(url);
    const note = (address) => {
      const to = new URL(address);
      if (!['data:', 'blob:'].includes(to.protocol) && to.host !== host) this.elsewhere.push(address);
    };
    this.#page.on('request', (request) => note(request.url()));
    this.#page.on('websocket', (socket) => note(socket.url()));
    await this.#page.goto(url, { waitUntil: 'commit' });
  }
  /** Calls a function in the page with `orrery`, which the page offers to its console, and one argument. */
  ask(what, argument) {
    return this.#page.evaluate(new Function('given', `return (${what})(globalThis.orrery, given);`), argument);
  }
  hasBodies() {
    return until('bodies are drawn', () => this.ask((orrery) => (orrery?.shell.source()?.sample()?.count ?? 0) > 0))
      .catch(async ({ message }) => {
        throw new Error(`${message}; ${this.errors}; the page says: ${await this.#page.innerText('body')}`);
      });
  }
  /** From opening the link to the first picture with bodies. */
  firstPictureMs() {
    return until('a first picture', () => this.#page.evaluate(() => Number(document.body.dataset.firstPictureMs ?? 0)));
  }
  /** A picture of the middle of the page, without its panels. */
  async middle() {
    await this.#page.addStyleTag({ content: '.testing .panels, .testing .ui { visibility: hidden }' });
    await this.#page.evaluate(() => document.body.classList.add('testing'));
    try {
      return await this.#page.screenshot();
    } finally {
      await this.#page.evaluate(() => document.body.classList.remove('testing'));
    }
  }
  /** What the scripts of the next frames' callbacks take, as the browser traces them. */
  async frames(count) {
    const browser = this.#page.context().browser(), all = [];
    while (all.length < count) {
      await browser.startTracing(this.#page, { categories: ['devtools.timeline'] });
      await new Promise((resolve) => setTimeout(resolve, 5000));
      const { traceEvents } = JSON.parse(await browser.stopTracing());
      for (const { name, dur, tdur } of traceEvents)
        if (name === 'FireAnimationFrame' && dur) all.push({ wallMs: dur / 1000, threadMs: tdur / 1000 });
    }
    return all;
  }
  /** Drops a file on the page. */
  async drop(name, bytes) {
    const transfer = await this.#page.evaluateHandle(([file, text]) => {
      const files = new DataTransfer();
      files.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], file));
      return files;
    }, [name, Buffer.from(bytes).toString('base64')]);
    for (const kind of ['dragenter', 'dragover', 'drop'])
      await this.#page.dispatchEvent('body', kind, { dataTransfer: transfer });
  }
  /** Keeps a picture for people, where ORRERY_PAGE_PICTURES says. */
  async keep(name) {
    if (!PICTURES) return;
    mkdirSync(PICTURES, { recursive: true });
    await this.#page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }
  /** Bytes of the JavaScript heap after a collection, and of the modules' memories. */
  async memory() {
    const session = await this.#page.context().newCDPSession(this.#page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    const modules = await this.#page.evaluate(() =>
      globalThis.modulesMemories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0));
    return { script: usedSize, modules };
  }
  close() { return this.#page.context().close(); }
}
