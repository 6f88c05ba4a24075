// A director pulls bodies about with the mouse, in a headless Chromium; a player's drag turns the eye alone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Browser, Server, WITH_PAGE, cannot, until } from './page_driver.mjs';
import { ORRERY } from './server.mjs';

const skip = cannot();
// Crates that lie free on top of others, where the eye sees them, and by how many pixels they are pulled.
const TOWER = { name: 'tower[5]', eye: '22,7,3,14,6.5,0', by: [-80, 20] };
const BLOCK = { name: 'block[26]', eye: '-24,7,14,-17,3.5,6', by: [80, -10] };

const SMALL = { width: 420, height: 300 };  // a picture is soon drawn, and no panels are before it

let server, browser, page, pulled;
before(async () => {
  if (skip) return;
  server = await Server.start({ options: [...WITH_PAGE, '--hands'] });
  browser = await Browser.start();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens the page before a crate. */
async function open(crate, more = '') {
  pulled = crate;
  const link = `#quality=low&eye=${crate.eye}${more}`;
  page = await browser.open(`http://${server.address}/${link}`, { viewport: SMALL });
  await page.hasBodies();
}
const becomes = (what, condition) => until(what, condition, 40);
const role = () => page.ask(({ shell }) => shell.source()?.client.session()?.role);
const lines = () => page.ask(({ view }) => view.pulls.drawn);
/** Where the crate is: in the world, m, and in the window; whether it is drawn there. */
const crate = () => page.ask(({ shell, view }, name) => {
  const source = shell.source(), samples = source?.sample();
  if (!samples) return null;
  const ids = [...samples.ids.subarray(0, samples.count)], at = ids.findIndex((id) => source.body(id)?.name === name);
  const place = [...samples.positions.subarray(3 * at, 3 * at + 3)], point = view.eye.target.clone().fromArray(place);
  point.project(view.eye.camera);
  const x = (1 + point.x) * innerWidth / 2, y = (1 - point.y) * innerHeight / 2;
  const free = document.elementFromPoint(x, y)?.id === 'view';
  return { place, x, y, drawn: free && view.hit(x, y, samples)?.id === ids[at] };
}, pulled.name);
const between = (a, b) => Math.hypot(...a.map((value, i) => value - b[i]));
const moved = async (from) => between((await crate()).place, from);
/** The crate, where a picture shows it and the eye stands still. */
async function shown() {
  const first = await crate();
  await page.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const next = first?.drawn && (await crate());
  return next?.drawn && Math.hypot(next.x - first.x, next.y - first.y) < 1 && next;
}

/** Presses the crate and draws the pointer away; `held` is asked before it is let go. */
async function drag(held) {
  const { x, y, place } = await becomes('the crate is drawn', shown), { mouse } = page.page, [right, down] = pulled.by;
  await mouse.move(x, y);
  await mouse.down();
  await mouse.move(x + right, y + down, { steps: 3 });
  try {
    await held(place);
  } finally {
    await mouse.up();
  }
}
/** `name`: of a picture. A browser that draws a frame a second may miss a press: then it is pressed again. */
async function pulls(name, tries = 3) {
  try {
    await drag(async (from) => {
      await becomes('a line is drawn', async () => (await lines()) === 1);
      await becomes('the crate comes along', async () => (await moved(from)) > 1);
      await page.keep(name);
    });
  } catch (error) {
    if (tries === 1) throw error;
    return pulls(name, tries - 1);
  }
  await becomes('the line is gone', async () => (await lines()) === 0);
  assert.deepEqual(page.errors, []);
}
const eye = () => page.ask(({ view }) => view.eye.camera.position.toArray());

test("a player's drag turns the eye and moves nothing; the button makes a director, who pulls", { skip }, async () => {
  await open(TOWER);
  const before = await eye();
  await drag(async (from) => {
    await becomes('the eye turns', async () => between(await eye(), before) > 0.5);
    assert.ok((await moved(from)) < 0.05);
    assert.equal(await lines(), 0);
  });
  await page.locator('#hands').click();
  await becomes('a director', async () => (await role()) === 2 && page.locator('#holding').isVisible());
  assert.equal(await page.ask(({ shell }) => shell.source().ownBody()), null);
  await pulls('hands');
  await page.close();
});

test('a link makes a director, of snapshots, too; the recording verifies', { skip }, async () => {
  await open(BLOCK, '&role=director&mode=snapshots');
  await becomes('a director', async () => (await role()) === 2);
  await pulls('hands_snapshots');
  assert.match(await page.page.evaluate(() => location.hash), /role=director/);
  await page.close();
  await server.end();
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  try {
    writeFileSync(join(folder, 'hands.orr'), server.recording());
    const file = join(folder, 'hands.orr');
    assert.match(execFileSync(ORRERY, ['verify', file, '--require-complete'], { encoding: 'utf8' }), /same/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
