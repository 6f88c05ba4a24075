// What there is to see: shapes of the gallery as triangles, and contacts, joints and states of a mirror's world.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client, Scene, constants as C } from '../dist/client.js';
import { Server, until } from './server.mjs';

async function play(scene, options, use) {
  const server = await Server.start({ scene: `gallery/${scene}`, options: ['--allow-mirror'] });
  let client;
  try {
    client = await Client.connect({ ...server.options, ...options });
    await use(client);
  } finally {
    client?.close();
    await server.stop();
  }
}

async function sceneOf(client) {
  const come = new Promise((resolve) => client.on('scene', ({ bytes }) => resolve(bytes)));
  client.requestScene();
  return Scene.open(await come);
}

/** The least and the most of each coordinate. */
function boxOf(positions) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  positions.forEach((x, i) => { low[i % 3] = Math.min(low[i % 3], x); high[i % 3] = Math.max(high[i % 3], x); });
  return [low, high];
}

const near = (a, b, most) => assert.ok(Math.abs(a - b) <= most, `${a} is not ${b}`);

for (const name of ['terrain', 'hulls', 'nonconvex', 'drive_bridge']) {
  test(`the shapes of ${name} have triangles that fill the boxes that the server tells`, async () => {
    await play(name, {}, async (client) => {
      const scene = await sceneOf(client), types = new Set();
      assert.equal(scene.shapeCount, client.session().shapeCount);
      for (let i = 0; i < scene.shapeCount; ++i) {
        const shape = scene.shape(i), { positions, normals, indices } = scene.triangles(i);
        types.add(shape.type);
        assert.equal(shape.type, client.shape(i).type);
        assert.equal(positions.length, normals.length);
        assert.ok(indices.every((index) => index < positions.length / 3));
        assert.equal(indices.length > 0, shape.type !== C.SHAPE_PLANE);
        assert.equal(scene.children(i).length > 0, shape.type === C.SHAPE_COMPOUND);
        if (![C.SHAPE_BOX, C.SHAPE_HULL, C.SHAPE_MESH, C.SHAPE_HEIGHT_FIELD, C.SHAPE_COMPOUND].includes(shape.type)) continue;
        // The box is about the body's origin: the farther side counts.
        const [low, high] = boxOf(positions), told = client.shape(i).halfExtents;
        for (let k = 0; k < 3; ++k) near(Math.max(-low[k], high[k]), told[k], 0.01 * told[k]);
      }
      assert.ok(types.size > 1);
      assert.equal(scene.triangles(scene.shapeCount), null);
      scene.close();
    });
  });
}

test('a mirror tells the joints of a bridge and the contacts of the car on it', async () => {
  await play('drive_bridge', { mode: 'mirror', prediction: {} }, async (client) => {
    client.setConfirmed(true);
    assert.equal(client.stepTimes(), null);
    client.measureSteps(true);
    client.setControl([1, 0]);
    await until('2 s of the game', () => client.mirrorStats().confirmedTick > 120n);
    const joints = client.joints();
    const kinds = Array.from(joints.kinds.subarray(0, joints.count), (kind) => client.jointKind(kind));
    assert.equal(kinds.filter((kind) => kind === 'ball_socket').length, 34);
    assert.equal(kinds.filter((kind) => kind === 'wheel').length, 4);
    const chassis = joints.bodies[4 * kinds.indexOf('wheel')], wheel = joints.bodies[4 * kinds.indexOf('wheel') + 1];
    assert.equal(client.joints(chassis).count, 4);

    const marks = client.marks();
    assert.equal(marks.count, client.session().bodyCount);
    const at = marks.ids.indexOf(wheel);
    assert.ok(marks.bounds[6 * at + 4] - marks.bounds[6 * at + 1] > 0.1);

    const contacts = await until('a wheel touches', () => {
      const found = client.contacts(wheel);
      return found.count > 0 && found.touching[0] === 1 ? found : null;
    });
    assert.equal(contacts.bodies[0], wheel);
    assert.ok(contacts.normals[1] < -0.7);  // to the ground
    const state = client.bodyState(wheel);
    near(contacts.points[0], state.position[0], 1);
    assert.ok(state.own.massKg > 1 && !state.own.asleep);
    assert.equal(client.contacts(0xffffn), null);
    assert.equal(client.bodyState(0xffffn), null);

    const confirmed = client.confirmed();
    assert.equal(confirmed.count, client.session().bodyCount);
    assert.equal(BigInt(confirmed.tick), client.bodyState(chassis).confirmed.tick);
    assert.ok(client.bodyState(chassis).tick >= client.bodyState(chassis).confirmed.tick);
    const i = confirmed.ids.indexOf(chassis);
    assert.deepEqual([...confirmed.positions.subarray(3 * i, 3 * i + 3)], client.bodyState(chassis).confirmed.position);
    assert.equal(client.contacts(), client.contacts());  // no new object a frame

    assert.equal(client.bodyState(chassis).cost, null);
    const { steps, ...times } = client.stepTimes();
    assert.ok(steps > 60, `${steps} steps`);
    assert.equal(Object.keys(times).length, 5);
    for (const [name, ms] of Object.entries(times)) assert.ok(ms > 0, `${name}: ${ms}`);
    client.measureSteps(false);
    assert.equal(client.stepTimes(), null);
  });
});

test('a client of snapshots knows the age of a state, and no contacts', async () => {
  await play('terrain', {}, async (client) => {
    const samples = client.sample();
    const state = client.bodyState(samples.ids[0]);
    assert.ok(state.ageTicks >= 0);
    assert.equal(state.own, null);
    assert.equal(state.confirmed, null);
    assert.ok(state.cost.bytesLastSecond >= 0 && state.cost.updatesLastSecond >= 0, JSON.stringify(state.cost));
    assert.equal(client.contacts(), null);
    assert.equal(client.joints(), null);
    assert.equal(client.marks(), null);
    assert.throws(() => client.setConfirmed(true), /wrong state/);
    assert.throws(() => client.measureSteps(true), /only a mirror/);
    assert.equal(client.stepTimes(), null);
  });
});
