// What the page costs, in a headless Chromium: script time of a frame for 10,000 bodies, and memory as time goes on.
// ORRERY_PAGE_MINUTES: for how long memory is watched; 5 is the promise, a few seconds the default.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Browser, Server, WITH_PAGE, cannot, until } from './page_driver.mjs';

const skip = cannot();
const MINUTES = Number(process.env.ORRERY_PAGE_MINUTES ?? 0.2);
const SCRIPT_MS = 4, FRAMES = 10;
const SLACK = 3;  // the browser, its drawing by software and the server share a machine's caches
const SMALL = { viewport: { width: 240, height: 160 } };  // to draw 10,000 bodies by software takes long
const TEN_THOUSAND = {
  scene_version: 1, name: 'ten_thousand', tick_rate_hz: 60,
  shapes: [{ name: 'ball', sphere: { radius: 0.5 } }, { name: 'crate', box: { half_extents: [0.5, 0.5, 0.5] } }],
  generators: [{ arena: { half_x: 105, half_z: 105, height: 10 } },
               { rain: { count: 10000, side: 100, pitch: 2, origin: [0, 0.6, 0], shapes: ['ball', 'crate'] } }],
};
const wait = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

async function withPage(options, use) {
  const server = await Server.start({ ...options, options: WITH_PAGE });
  let browser;
  try {
    browser = await Browser.start();
    const page = await browser.open(`http://${server.address}/#quality=low${options.link ?? ''}`, options.screen);
    await page.hasBodies();
    await use(page);
    assert.deepEqual(page.errors, []);
  } finally {
    await browser?.close();
    await server.stop();
  }
}

test('a frame of 10,000 bodies takes little script time', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  try {
    const scene = join(folder, 'ten_thousand.json');
    writeFileSync(scene, JSON.stringify(TEN_THOUSAND));
    await withPage({ scene, link: '&mode=snapshots', screen: SMALL }, async (page) => {
      await until('all bodies are there', () => page.ask(({ shell }) => shell.source().sample().count >= 10000), 30);
      // By the clock of the page, and by that of its thread: on a busy machine the latter is what the script takes.
      const frames = await page.frames(FRAMES);
      for (const clock of ['wallMs', 'threadMs']) {
        const times = frames.map((frame) => frame[clock]).sort((a, b) => a - b);
        const at = (part) => times[Math.floor(part * (times.length - 1))].toFixed(2);
        t.diagnostic(`script of a frame, ${clock}: least ${at(0)}, median ${at(0.5)}, 95 % ${at(0.95)} ms, ` +
          `of ${times.length} frames`);
        if (clock === 'threadMs') assert.ok(at(0.5) < SLACK * SCRIPT_MS, `median ${at(0.5)} ms`);
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('memory does not grow', { skip }, async (t) => {
  await withPage({}, async (page) => {
    await page.keyboard.down('KeyW');
    await page.keyboard.down('KeyA');
    await wait(MINUTES < 1 ? 8 : 40);  // until most code is compiled: that counts as memory of the script
    const before = await page.memory();
    await wait(60 * MINUTES);
    const later = await page.memory();
    for (const what of ['script', 'modules'])
      t.diagnostic(`${what}: ${(before[what] / 2 ** 20).toFixed(1)} MiB, ` +
        `${((later[what] - before[what]) / 2 ** 10).toFixed(0)} KiB more after ${MINUTES} min`);
    const growth = (later.script + later.modules) / (before.script + before.modules) - 1;
    assert.ok(growth < 0.05, `${(100 * growth).toFixed(1)} %`);
  });
});
