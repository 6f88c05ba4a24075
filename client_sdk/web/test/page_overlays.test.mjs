// What the page draws beside the bodies, and what its inspector tells, in a headless Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Browser, Server, WITH_PAGE, cannot, until } from './page_driver.mjs';

const skip = cannot();
const MOST_MS = 1, SLACK = 5;  // of script in a frame; the browser draws by software on the same machine
const WIDE = { viewport: { width: 720, height: 900 } };

let server, browser, page;
async function open(link = '') {
  const opened = await browser.open(`http://${server.address}/#quality=low${link}`, WIDE);
  await opened.hasBodies();
  return opened;
}
before(async () => {
  if (skip) return;
  server = await Server.start({ options: WITH_PAGE });
  browser = await Browser.start();
  page = await open();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const toggle = (name) => page.locator(`#show-${name}`).click();
const drawn = () => page.ask(({ view }) => view.overlays.drawn);
const frames = () => page.page.evaluate(() => new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(resolve))));
/** Selects what has `word` in its label. */
async function select(word) {
  await page.locator('#body-search').fill(word);
  await page.locator('.inspector .results button').first().click();
  await page.locator('#body-search').fill('');
  await page.keyboard.press('Escape');
}
const known = () => page.locator('.inspector .details').innerText();
/** What the timeline says at the cursor, which is set at the end. */
async function atCursor() {
  await page.locator('.timeline .chart').first().press('ArrowRight');
  return page.locator('.timeline .readout').innerText();
}

test('each toggle changes the picture, and leaves nothing behind', { skip }, async () => {
  await page.keyboard.down('KeyW');  // what sleeps has no contacts to be drawn
  await page.keyboard.down('KeyA');
  await toggle('contacts');
  await until('contacts of what is awake', async () => (await drawn()).contacts > 3);
  await page.keep('contacts');
  await toggle('ghost');
  await until('five parts of the car, as confirmed', async () => (await drawn()).ghosts === 5);
  await page.keep('ghost');
  await page.keyboard.up('KeyW');
  await page.keyboard.up('KeyA');
  await toggle('contacts');
  await toggle('ghost');
  await until('none are left', async () => {
    const { contacts, ghosts } = await drawn();
    return contacts + ghosts === 0;
  });

  for (const [name, least] of [['joints', 30], ['bounds', 80], ['sleep', 0]]) {
    const off = await page.middle();
    await toggle(name);
    await frames();
    assert.ok(name === 'sleep' || (await drawn())[name] > least, `${name}: ${(await drawn())[name]}`);
    await until(`${name} change the picture`, async () =>
      (await browser.look(off, await page.middle()))[1].differ > 0.002);
    await page.keep(name);
    await toggle(name);
    await frames();
    assert.equal((await drawn())[name] ?? 0, 0);
  }
  assert.deepEqual(page.errors, []);
});

test('the inspector tells of contacts, joints, mass, sleep and the error', { skip }, async () => {
  await select('wheel_front_left');
  const text = await until('what the mirror knows', async () => {
    const shown = await known();
    return /server\s+\d/.test(shown) && shown;
  });
  assert.match(text, /state\s+(asleep|awake)/);
  assert.match(text, /mass\s+\d+(\.\d+)? kg/);
  assert.match(text, /contacts\s+1: ground \d+\.\d\d N s/);
  assert.match(text, /joints\s+2: hinge to rover\/chassis/);
  assert.match(text, /server\s+\d+\.\d mm/);
  assert.match(text, /cost\s+none: a mirror is sent commands alone/);
  assert.doesNotMatch(text, /updates|baseline/);
  assert.doesNotMatch(text, /\bage\b/);
  await toggle('bounds');
  await until('one box', async () => (await drawn()).bounds === 1);
  await page.keep('inspector_wheel');
  await toggle('bounds');
  await page.locator('.inspector').getByText('Clear').click();
});

test('the timeline tells where the time of the steps goes', { skip }, async () => {
  const numbers = await until('times of steps', async () => {
    const [, ...all] = /steps (\S+) ms a frame: collision (\S+), solver (\S+), rigs (\S+), rest (\S+), hash and states (\S+)/
      .exec(await atCursor()) ?? [];
    return all.length > 0 && all.map(parseFloat);
  });
  const [sum, ...parts] = numbers;
  assert.ok(Math.abs(sum - parts.reduce((a, b) => a + b)) < 0.05, numbers.join());
  assert.ok(parts[1] > 0, numbers.join());  // the solver
  const legend = await page.locator('.step-times .legend').innerText();
  for (const name of ['collision', 'solver', 'rigs', 'rest', 'hash and states']) assert.ok(legend.includes(name), legend);
  assert.ok(await page.locator('.step-times .chart canvas').isVisible());
  await page.keep('step_times');
  await page.keyboard.press('Escape');
});

test('all of it takes little script time', { skip }, async (t) => {
  for (const name of ['contacts', 'joints', 'bounds', 'sleep', 'ghost']) await toggle(name);
  await page.keyboard.down('KeyW');
  await page.keyboard.down('KeyA');
  await page.ask((orrery) => {
    const { overlays } = orrery.view, { update } = Object.getPrototypeOf(overlays);
    orrery.took = [];
    overlays.update = (...all) => {
      const start = performance.now();
      update.apply(overlays, all);
      orrery.took.push(performance.now() - start);
    };
  });
  await until('60 frames', () => page.ask(({ took }) => took.length > 60));
  const sorted = await page.ask(({ took }) => took.slice(20).sort((a, b) => a - b));
  await page.keyboard.up('KeyW');
  await page.keyboard.up('KeyA');
  const at = (part) => sorted[Math.floor(part * (sorted.length - 1))];
  t.diagnostic(`script of the overlays: median ${at(0.5).toFixed(2)}, 90 % ${at(0.9).toFixed(2)} ms`);
  assert.ok(at(0.5) < SLACK * MOST_MS, `${at(0.5)} ms`);
  await page.keep('all');
});

test('a client of snapshots says why there is nothing, and the age of a state', { skip }, async () => {
  await page.close();
  page = await open('&mode=snapshots');
  await until('the toggles are off', () => page.locator('#show-contacts').isDisabled());
  assert.match(await page.locator('.show').innerText(), /Snapshots tell of poses alone/);
  await select('wheel_front_left');
  const text = await until('the age', async () => {
    const shown = await known();
    return /\bage\b/.test(shown) && shown;
  });
  assert.match(text, /age\s+\d+\.\d ticks, \d+ ms/);
  assert.doesNotMatch(text, /mass|joints|server/);
  assert.match(text, /cost\s+\d+(\.\d)? B in the last second/);
  assert.match(text, /updates\s+\d+ in the last second; (the newest snapshot has it|left out of)/);
  assert.match(text, /baseline\s+(none: coded whole|\d+ ticks?, \d+ ms older)/);
  await page.keyboard.down('KeyW');
  await until('it costs something as it turns', async () => /cost\s+\d{2,} B/.test(await known()));
  await page.keep('inspector_snapshots');
  await page.keyboard.up('KeyW');
  assert.match(await page.locator('.step-times').innerText(), /^Times of steps: none\. The server steps the world/);
  assert.doesNotMatch(await atCursor(), /steps/);
  assert.deepEqual(page.errors, []);
});
