// A recording in the page, in a headless Chromium, while no server runs: it is verified, scrubbed, and named if
// damaged.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { Client } from '../dist/client.js';
import { Browser, Server, WITH_PAGE, cannot, until } from './page_driver.mjs';
import { ORRERY, ROOT } from './server.mjs';

const skip = cannot();
const SECONDS = 5;
let browser, page, recording;

/** A drive of a client in Node. The recording of it is closed; each of its ticks has all hashes. */
async function record() {
  const server = await Server.start({ options: ['--fsync', 'none'] });
  try {
    const client = await Client.connect(server.options);
    client.setControl([1, 0.3]);
    await new Promise((resolve) => setTimeout(resolve, 1000 * SECONDS));
    client.close();
    await server.end();
    return server.recording();
  } finally {
    await server.stop();
  }
}
before(async () => {
  if (skip) return;
  recording = await record();
  const server = await Server.start({ options: WITH_PAGE });
  try {
    browser = await Browser.start();
    page = await browser.open(`http://${server.address}/`);
    await page.hasBodies();
    page.away = true;
  } finally {
    await server.stop();
  }
});
after(() => browser?.close());

const verdict = () => page.locator('.verdict').innerText();
const said = () => page.page.innerText('body');
const verdictMatches = (what, pattern) => until(what, async () => pattern.exec(await verdict()))
  .catch(async ({ message }) => { throw new Error(`${message}; the page says: ${await said()}`); });
const tick = () => page.ask(({ shell }) => shell.source().tick);

test('a recording is verified tick by tick, without a server', { skip }, async (t) => {
  await page.drop('drive.orr', recording);
  await verdictMatches('it begins', /same so far: \d+ of \d+ ticks/);
  const begun = performance.now(), from = await tick();
  await page.locator('.replay-bar select').selectOption({ label: 'as fast as it goes' });
  const [, equal, all] = await verdictMatches('it ends', /(?<!far)\s*same: (\d+) of (\d+) ticks/);
  const ticks = Number(all) - from, ms = performance.now() - begun;
  t.diagnostic(`${equal} of ${all} ticks are the same; ${(ticks / ms * 1000).toFixed(0)} ticks a second`);
  assert.equal(equal, all);
  assert.ok(Number(all) > 60 * SECONDS, all);
  assert.match(await verdict(), /✔/);
  await page.keep('replay');
});

test('it is scrubbed and stepped', { skip }, async () => {
  const { first, last } = await page.ask(({ shell }) => {
    const { firstTick, lastTick } = shell.source();
    return { first: firstTick, last: lastTick };
  });
  const middle = Math.floor((first + last) / 2), end = await page.middle();
  await page.locator('.replay-bar input[type=range]').fill(String(middle));
  await until('it is in the middle', async () => (await tick()) === middle);
  await page.locator('.replay-bar').getByText('+1', { exact: true }).click();
  await until('a tick on', async () => (await tick()) === middle + 1);
  await page.locator('.replay-bar').getByText('−1').click();
  await until('a tick back', async () => (await tick()) === middle);
  await until('the picture is another', async () => (await browser.look(end, await page.middle()))[1].differ > 0.002);
  assert.match(await verdict(), new RegExp(`same: ${last - first} of ${last - first} ticks`));
});

test('a recording of another engine differs, with its tick and subsystem', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-')), from = join(folder, 'from.orr'), to = join(folder, 'to.orr');
  try {
    writeFileSync(from, recording);
    execFileSync(join(dirname(ORRERY), 'change_replay'), [from, to, '111']);
    await page.drop('differs.orr', readFileSync(to));
  } finally {
    rmSync(folder, { recursive: true });
  }
  await page.locator('.replay-bar select').selectOption({ label: 'as fast as it goes' });
  await verdictMatches('the difference', /✘\s*DIFFERS at tick 111 in contacts/);
  await until('it goes on to the end', async () => (await tick()) === (await page.ask(({ shell }) => shell.source().lastTick)));
  assert.match(await verdict(), /recorded [0-9a-f]{16}, found [0-9a-f]{16}/);
  await page.keep('differs');
});

test('a recording of another build differs, with the first body of a keyframe', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  try {
    const other = join(dirname(ORRERY), 'orrery_changed'), yard = join(ROOT, 'deploy/scenes/yard.json');
    execFileSync(other, ['run', yard, '--ticks', '620', '--record', folder]);
    await page.drop('other.orr', readFileSync(join(folder, readdirSync(folder)[0])));
  } finally {
    rmSync(folder, { recursive: true });
  }
  await page.locator('.replay-bar select').selectOption({ label: 'as fast as it goes' });
  await verdictMatches('the difference', /✘\s*DIFFERS at tick 1 in bodies/);
  await verdictMatches('the body', /in the keyframe of tick 600, body \d+ \S+: \w+\.[xyzw] is \S+, recorded \S+;/);
  await page.keep('other');
});

test('a damaged recording is named with its place', { skip }, async () => {
  const damaged = Uint8Array.from(recording), at = Math.floor(0.6 * damaged.length);
  damaged[at] ^= 0x10;
  await page.drop('damaged.orr', damaged);
  const [, byte] = await verdictMatches('its place', /✘\s*damaged at byte (\d+)/);
  assert.ok(Number(byte) <= at && Number(byte) > at - 70000, `${byte} is not the place of ${at}`);
  await page.keep('damaged');

  await page.drop('cut.orr', recording.subarray(0, Math.floor(0.7 * recording.length)));
  await page.locator('.replay-bar select').selectOption({ label: 'as fast as it goes' });
  await verdictMatches('a part', /damaged at byte|the end is missing/);
  await page.drop('letter.orr', new TextEncoder().encode('Dear Sir or Madam'));
  await until('it says that this is none', async () => /letter.orr cannot be opened/.test(await said()));
});

test('the page has complained of nothing, and asked nobody else', { skip }, () => {
  assert.deepEqual(page.errors, []);
  assert.deepEqual(page.elsewhere, []);
});
