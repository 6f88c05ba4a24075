// What `orrery replay export --gltf` writes opens in three.js, with the poses that the recording has.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { AnimationMixer, LoopOnce, Quaternion } from 'three';
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';

import { ORRERY } from './server.mjs';

globalThis.self ??= globalThis; // which the loader asks for its URL

const TICKS = 300;
const TOLERANCES = [0.002, 0.2]; // m and degrees
// A body of each shape; the crates of a player come and go.
const SCENE = {
  scene_version: 1,
  name: 'shapes',
  shapes: [
    { name: 'ground', plane: {} },
    { name: 'box', box: { half_extents: [0.5, 0.3, 0.4] } },
    { name: 'ball', sphere: { radius: 0.4 } },
    { name: 'pill', capsule: { radius: 0.2, half_height: 0.4 } },
    { name: 'can', cylinder: { radius: 0.3, half_height: 0.4 } },
    { name: 'rock', hull: { points: [[-0.5, 0, -0.5], [0.5, 0, -0.5], [0, 0, 0.6], [0, 0.8, 0], [0.2, 0.5, 0.3]] } },
    { name: 'hammer', compound: { children: [{ shape: 'pill' }, { shape: 'box', position: [0, 0.6, 0] }] } },
    { name: 'ramp', mesh: { vertices: [[-2, 1, -2], [-2, 1, 2], [2, 0, 2], [2, 0, -2]], indices: [0, 1, 2, 0, 2, 3] } },
    { name: 'field', height_field: { columns: 3, heights: [0, 0.2, 0, 0.3, 0, 0.1, 0, 0.2, 0] } },
  ],
  bodies: [
    { name: 'ground', type: 'static', shape: 'ground' },
    { name: 'ramp', type: 'static', shape: 'ramp' },
    { name: 'field', type: 'static', shape: 'field', position: [6, 0.1, 0] },
    ...['box', 'ball', 'pill', 'can', 'rock', 'hammer'].map((shape, i) => ({
      name: shape,
      shape,
      position: [i - 2.5, 3 + i, 0.1 * i],
      linear_velocity: [1, 0, 0.5 * i],
      angular_velocity: [3, i, 1],
    })),
  ],
  templates: [{ name: 'crate', bodies: [{ name: 'crate', shape: 'box' }] }],
  slots: [{ name: 'one', template: 'crate', position: [-5, 4, 0] }],
};
const COMMANDS = {
  commands: [
    { tick: 60, kind: 'join', slot: 'one' },
    { tick: 200, kind: 'leave', slot: 'one' },
    { tick: 220, kind: 'spawn', template: 'crate', position: [5, 6, 3], angular: [0, 0, 5] },
  ],
};

let folder, recording;
const run = (...options) => execFileSync(ORRERY, options, { encoding: 'utf8', maxBuffer: 1 << 28 });

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  writeFileSync(join(folder, 'shapes.json'), JSON.stringify(SCENE));
  writeFileSync(join(folder, 'commands.json'), JSON.stringify(COMMANDS));
  run('run', join(folder, 'shapes.json'), '--ticks', String(TICKS), '--commands', join(folder, 'commands.json'),
    '--record', folder);
  recording = join(folder, readdirSync(folder).find((name) => name.endsWith('.orr')));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The bodies after a tick by their ids, from `orrery replay state`. */
function bodiesAt(tick) {
  const bodies = new Map();
  const lines = run('replay', 'state', recording, '--tick', String(tick), '--list', 'bodies', '--json').trim();
  for (const line of lines.split('\n')) {
    const { index, fields } = JSON.parse(line);
    // Index 0 is the world; a body without flags is gone.
    if (index > 0 && fields.flags !== 0) bodies.set(`${index}:${fields.generation}`, fields);
  }
  return bodies;
}

let files = 0;
async function open(tolerances, ...options) {
  const path = join(folder, `${++files}.glb`);
  run('replay', 'export', recording, '--gltf', path, '--tolerance', String(tolerances[0]), '--tolerance-deg',
    String(tolerances[1]), ...options);
  const bytes = readFileSync(path);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const gltf = await new GLTFLoader().parseAsync(buffer, '');
  const mixer = new AnimationMixer(gltf.scene);
  for (const clip of gltf.animations) {
    const action = mixer.clipAction(clip).setLoop(LoopOnce);
    action.clampWhenFinished = true; // at the last tick it is not begun again
    action.play();
  }
  const nodes = new Map();
  gltf.scene.traverse((node) => node.userData.body && nodes.set(node.userData.body, node));
  return { gltf, mixer, nodes, json: gltf.parser.json };
}

function checkPoses({ mixer, nodes }, tick, first) {
  mixer.setTime(Math.fround((tick - first) / 60)); // times of keys are of single precision
  const bodies = bodiesAt(tick);
  const shown = new Set();
  for (const [id, node] of nodes) {
    if (node.scale.x === 0) continue;
    assert.deepEqual(node.scale.toArray(), [1, 1, 1], id);
    const body = bodies.get(id);
    assert.ok(body, `body ${id} is shown at tick ${tick}, and is not there`);
    shown.add(id);
    const off = Math.hypot(...node.position.toArray().map((x, i) => x - body.position[i]));
    assert.ok(off <= TOLERANCES[0] + 1e-5, `body ${id} at tick ${tick} is off by ${off} m`);
    const turn = node.quaternion.angleTo(new Quaternion(...body.orientation));
    assert.ok(turn <= (TOLERANCES[1] / 180) * Math.PI + 1e-3, `body ${id} at tick ${tick} is turned by ${turn}`);
  }
  for (const id of bodies.keys()) assert.ok(shown.has(id), `body ${id} is there at tick ${tick}, and is not shown`);
}

test('poses at ten ticks are those of the recording, and bodies are shown while they are there', async () => {
  const whole = await open(TOLERANCES, '--rate', '60');
  assert.equal(whole.nodes.size, 3 + 6 + 2);
  assert.equal(whole.json.scenes[0].extras.first_tick, 0);
  for (const tick of [0, 1, 33, 59, 60, 130, 199, 200, 240, TICKS]) checkPoses(whole, tick, 0);
});

test('a part at a lower rate has the poses of its samples', async () => {
  const part = await open(TOLERANCES, '--rate', '20', '--from', '90', '--to', '250');
  assert.equal(part.json.scenes[0].extras.first_tick, 90);
  for (const tick of [90, 93, 120, 201, 240, 250]) checkPoses(part, tick, 90);
});

test('each shape is a mesh of the right size, and a larger tolerance takes fewer keys', async () => {
  const { gltf, json } = await open(TOLERANCES, '--rate', '60');
  const half = new Map();
  gltf.scene.traverse((node) => {
    if (!node.isMesh) return;
    node.geometry.computeBoundingBox();
    const { min, max } = node.geometry.boundingBox;
    const size = max.sub(min).multiplyScalar(0.5).toArray();
    half.set(node.userData.name ?? node.name, size.map((x) => Number(x.toFixed(4))));
  });
  assert.deepEqual(half.get('box'), [0.5, 0.3, 0.4]);
  assert.deepEqual(half.get('ball'), [0.4, 0.4, 0.4]);
  assert.deepEqual(half.get('pill'), [0.2, 0.6, 0.2]);
  assert.deepEqual(half.get('can'), [0.3, 0.4, 0.3]);
  assert.deepEqual(half.get('rock'), [0.5, 0.4, 0.55]);
  assert.deepEqual(half.get('hammer'), [0.5, 0.75, 0.4]);
  assert.deepEqual(half.get('ramp'), [2, 0.5, 2]);
  assert.deepEqual(half.get('field'), [1, 0.15, 1]);
  const keys = (of) => of.animations[0].samplers.reduce((sum, sampler) => sum + of.accessors[sampler.input].count, 0);
  const coarse = await open([0.05, 5], '--rate', '60');
  assert.ok(keys(coarse.json) < 0.7 * keys(json), `${keys(coarse.json)} keys, and ${keys(json)}`);
});
