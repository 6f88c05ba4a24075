// The yard from above: W A S D drive, the space bar brakes. index.html?server=ADDRESS:PORT names the server's `http=`.
import { Client, constants, type Body, type Samples, type Shape } from '@orrery/client';

const canvas = document.querySelector<HTMLCanvasElement>('#yard')!;
const line = document.querySelector<HTMLDivElement>('#line')!;
const context = canvas.getContext('2d')!;
const server = new URLSearchParams(location.search).get('server') ?? location.host;
const PIXELS_PER_M = 14;

const keys = new Set<string>();
addEventListener('keydown', (event) => keys.add(event.code));
addEventListener('keyup', (event) => keys.delete(event.code));
addEventListener('blur', () => keys.clear());

function controls(): number[] {
  const held = (code: string) => (keys.has(code) ? 1 : 0);
  return [held('KeyW') - held('KeyS'), held('KeyA') - held('KeyD'), held('Space')];
}

interface Look { body: Body; shape: Shape | null }

// What a body looks like does not change while it exists.
const looks = new Map<bigint, Look>();
function lookOf(client: Client, id: bigint): Look | undefined {
  let look = looks.get(id);
  const body = look ? null : client.body(id);
  if (body) looks.set(id, (look = { body, shape: client.shape(body.shape) }));
  return look;
}

function colourOf(client: Client, id: bigint, body: Body): string {
  if (id === client.ownBody()) return '#ffd166';
  if (body.slot !== constants.NO_SLOT) return '#7fb3ff';
  return body.type === constants.BODY_DYNAMIC ? '#c98f5a' : '#4a525c';
}

function drawBody(shape: Shape, samples: Samples, i: number): void {
  const [x = 0, , z = 0] = samples.positions.subarray(3 * i, 3 * i + 3);
  const [qx = 0, qy = 0, qz = 0, qw = 1] = samples.orientations.subarray(4 * i, 4 * i + 4);
  const heading = Math.atan2(2 * (qx * qz + qw * qy), 1 - 2 * (qx * qx + qy * qy));
  context.save();
  context.translate(x, z);
  context.rotate(-heading);
  context.beginPath();
  if (shape.type === constants.SHAPE_SPHERE) {
    context.arc(0, 0, shape.radius, 0, 2 * Math.PI);
  } else if (shape.type === constants.SHAPE_CYLINDER || shape.type === constants.SHAPE_CAPSULE) {
    context.rect(-shape.radius, -shape.radius, 2 * shape.radius, 2 * shape.radius);
  } else {
    const [w, , d] = shape.halfExtents;
    context.rect(-w, -d, 2 * w, 2 * d);
  }
  context.fill();
  context.restore();
}

function draw(client: Client): void {
  client.setControl(controls());
  client.poll();
  const samples = client.sample();
  if (samples) {
    canvas.width = innerWidth;
    canvas.height = innerHeight;
    const own = client.ownBody();
    const at = own === null ? -1 : samples.ids.subarray(0, samples.count).indexOf(own);
    context.translate(canvas.width / 2, canvas.height / 2);
    context.scale(PIXELS_PER_M, PIXELS_PER_M);
    if (at >= 0) context.translate(-samples.positions[3 * at]!, -samples.positions[3 * at + 2]!);
    for (let i = 0; i < samples.count; ++i) {
      const look = lookOf(client, samples.ids[i]!);
      if (!look?.shape || look.shape.type === constants.SHAPE_PLANE) continue;
      context.fillStyle = colourOf(client, samples.ids[i]!, look.body);
      drawBody(look.shape, samples, i);
    }
    const { rttS, snapshotsReceived } = client.stats();
    line.textContent = `${samples.count} bodies, tick ${samples.tick.toFixed(0)}, RTT ${(1000 * rttS).toFixed(1)} ms, ` +
      `${snapshotsReceived} snapshots. W A S D drive, the space bar brakes.`;
    document.body.dataset['bodies'] = String(samples.count);
  }
  requestAnimationFrame(() => draw(client));
}

try {
  const client = await Client.connect({ url: `ws://${server}/play`, tokenUrl: `http://${server}/token` });
  client.on('bodyRemoved', ({ body }) => looks.delete(body));
  client.on('reconnecting', ({ text }) => (line.textContent = `reconnecting: ${text}`));
  client.on('disconnected', ({ text }) => (line.textContent = `disconnected: ${text}`));
  requestAnimationFrame(() => draw(client));
} catch (error) {
  line.textContent = String(error);
}
