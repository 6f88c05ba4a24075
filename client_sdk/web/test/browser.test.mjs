// The browser example in a headless Chromium, from the server's own web folder: it connects, and draws.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';

import { PACKAGE, Server, until } from './server.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** A page of a browser of its own, by the DevTools protocol. */
class Page {
  #next = 1;
  #waiting = new Map();

  static async open(url, folder) {
    const page = new Page();
    page.process = spawn(CHROMIUM, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0',
      `--user-data-dir=${folder}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const endpoint = await new Promise((resolve, reject) => {
      let text = '';
      page.process.once('exit', (code) => reject(new Error(`chromium ended with ${code}: ${text}`)));
      page.process.stderr.on('data', (part) => {
        const found = /DevTools listening on (ws:\S+)/.exec((text += part));
        if (found) resolve(found[1]);
      });
    });
    page.socket = new WebSocket(endpoint);
    await new Promise((resolve, reject) => { page.socket.onopen = resolve; page.socket.onerror = reject; });
    page.socket.onmessage = ({ data }) => {
      const { id, result, error } = JSON.parse(data);
      const [resolve, reject] = page.#waiting.get(id) ?? [];
      page.#waiting.delete(id);
      if (error) reject?.(new Error(error.message));
      else resolve?.(result);
    };
    const { targetId } = await page.call('Target.createTarget', { url });
    ({ sessionId: page.session } = await page.call('Target.attachToTarget', { targetId, flatten: true }));
    return page;
  }
  call(method, params) {
    const id = this.#next++;
    this.socket.send(JSON.stringify({ id, method, params, ...(this.session ? { sessionId: this.session } : {}) }));
    return new Promise((resolve, reject) => this.#waiting.set(id, [resolve, reject]));
  }
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value;
  }
  async close() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await ended;
  }
}

test('the browser example connects and draws the yard', { skip: existsSync(CHROMIUM) ? false : `there is no ${CHROMIUM}` }, async () => {
  const server = await Server.start({ options: ['--web', join(PACKAGE, 'dist')] });
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  let page;
  try {
    page = await Page.open(`http://${server.address}/examples/browser/index.html`, folder);
    const bodies = await until('bodies are drawn', () => page.evaluate('Number(document.body?.dataset.bodies ?? 0)').catch(() => 0), 40)
      .catch(async (error) => { throw new Error(`${error.message}; the page says: ${await page.evaluate('document.body?.innerText')}`); });
    assert.ok(bodies > 50, `${bodies} bodies`);
    const colours = await page.evaluate(`(() => {
      const canvas = document.querySelector('#yard'), found = new Set();
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 4).join());
      return [...found];
    })()`);
    assert.ok(colours.includes('255,209,102,255'), `the own vehicle is not drawn: ${colours.slice(0, 20)}`);
    assert.ok(colours.length > 2);
  } finally {
    await page?.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
