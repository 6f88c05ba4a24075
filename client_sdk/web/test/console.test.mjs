// The console of the control port in a headless Chromium, before rooms that are none (tests/e2e/control_fake.cpp).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { CHROMIUM, cannot } from './page_driver.mjs';
import { ORRERY } from './server.mjs';

const skip = cannot();
const KEYS = { read: '1'.repeat(64), operate: '2'.repeat(64), admin: '3'.repeat(64) };
const RECORDING = 'yard-20260101T000000Z-r1.orr';

let fake, folder, browser, url;
before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  mkdirSync(join(folder, 'recordings'));
  writeFileSync(join(folder, 'recordings', RECORDING), Buffer.alloc(100_000, 7));
  writeFileSync(join(folder, 'keys'), Object.entries(KEYS).map(([level, key]) => `${level} ${level} ${key}\n`).join(''), { mode: 0o600 });
  fake = spawn(join(dirname(ORRERY), 'control_fake'), [join(folder, 'keys'), join(folder, 'recordings')], { stdio: ['pipe', 'pipe', 'ignore'] });
  url = await new Promise((resolve, reject) => {
    fake.once('error', reject);
    createInterface({ input: fake.stdout }).once('line', (line) => resolve(`http://${line}/`));
  });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'], headless: true });
});
after(async () => {
  await browser?.close();
  fake?.stdin.end();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** A page that has signed in. `faults`: what the browser complains of, such as a style that the policy forbids. */
async function open(key, viewport = { width: 1200, height: 900 }) {
  const context = await browser.newContext({ viewport, acceptDownloads: true });
  const page = await context.newPage(), faults = [];
  page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(url);
  await page.fill('#key', key);
  await page.click('#sign-in button');
  return { page, faults };
}

test('the console creates, shows, drains and stops rooms, and makes tokens', { skip }, async () => {
  const { page, faults } = await open(KEYS.admin);
  page.on('dialog', (dialog) => dialog.accept(dialog.type() === 'prompt' ? '60' : undefined));
  await page.click('#show-create');
  await page.selectOption('#create [name=scene]', 'yard');
  await page.fill('#create [name=name]', 'evening');
  await page.click('#create button.main');
  await page.waitForSelector('#room-title:text-is("Room evening")');
  assert.match(await page.textContent('#rooms tbody'), /evening.*yard.*open.*0\.41 \/ 1\.27 ms.*0\.31 ms.*on/s);
  assert.match(await page.textContent('#members tbody'), /fedcba9876543210.*player.*0/s);

  await page.click('#mint button.main');
  await page.waitForSelector('#token:not([hidden])');
  const [token] = await Promise.all([page.waitForEvent('download'), page.click('#save-token')]);
  assert.equal(token.suggestedFilename(), 'connect.token');
  const bytes = readFileSync(await token.path());
  assert.equal(bytes.length, 2048);
  assert.equal(bytes[100], (100 * 7) & 255);

  await page.click('#members button');
  await page.waitForSelector('#note.said');
  await page.click('#drain');
  await page.waitForSelector('#rooms .tag:text-is("draining")');
  await page.click('#stop');
  await page.waitForSelector('#no-rooms:not([hidden])');
  assert.equal(await page.isVisible('#room'), false);
  assert.deepEqual(faults, []);
});

test('the console downloads recordings, and keeps its key to itself', { skip }, async () => {
  const { page, faults } = await open(KEYS.operate);
  const [recording] = await Promise.all([page.waitForEvent('download'), page.click('#recordings button')]);
  assert.equal(recording.suggestedFilename(), RECORDING);
  assert.equal(readFileSync(await recording.path()).length, 100_000);
  assert.equal(await page.isVisible('#drain-all'), false);
  const kept = await page.evaluate(() => JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage }]) +
    document.documentElement.outerHTML);
  assert.ok(!kept.includes(KEYS.operate));
  await page.reload();
  assert.equal(await page.isVisible('#console'), false);
  assert.deepEqual(faults, []);
});

test('the console shows a key of level read no buttons, and fits a phone', { skip }, async () => {
  const { page, faults } = await open(KEYS.read, { width: 390, height: 780 });
  await page.waitForSelector('#console:not([hidden])');
  for (const id of ['#show-create', '#drain-all', '#recordings button']) assert.equal(await page.isVisible(id), false, id);
  assert.match(await page.textContent('#facts'), /Engine version\d+/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.deepEqual(faults, []);
});

test('the console says that a key is wrong', { skip }, async () => {
  const { page } = await open('4'.repeat(64));
  await page.waitForSelector('#note:text("The key is none of the server\'s file")');
  assert.equal(await page.isVisible('#console'), false);
});
