// Drives the yard's vehicle from Node and prints where it is.
//
//   node dist/examples/drive_node.js [ADDRESS:PORT] [SECONDS]      of the server's `http=`; 127.0.0.1:7780 and 10
import { Client } from '@orrery/client';

const [address = '127.0.0.1:7780', seconds = '10'] = process.argv.slice(2);
const client = await Client.connect({
  url: `ws://${address}/play`,
  tokenUrl: `http://${address}/token`,
});
client.on('disconnected', ({ text }) => {
  console.error(`disconnected: ${text}`);
  process.exit(1);
});
client.on('reconnecting', ({ text }) => console.log(`reconnecting: ${text}`));
const session = client.session();
console.log(`${session?.sceneName}: ${session?.bodyCount} bodies, slot ${session?.slot}`);

const begun = performance.now(), end = begun + 1000 * Number(seconds);
while (performance.now() < end) {
  client.setControl([0.8, 0.5 * Math.sin((performance.now() - begun) / 1000)]);  // throttle, steering
  await new Promise((resolve) => setTimeout(resolve, 500));
  const own = client.ownBody(), samples = client.sample();
  if (own === null || samples === null) continue;
  const i = samples.ids.subarray(0, samples.count).indexOf(own);
  if (i < 0) continue;
  const [x, y, z] = samples.positions.subarray(3 * i, 3 * i + 3);
  const { rttS, snapshotsReceived } = client.stats();
  console.log(`tick ${samples.tick.toFixed(1)}  x ${x!.toFixed(2)}  y ${y!.toFixed(2)}  z ${z!.toFixed(2)} m  ` +
    `RTT ${(1000 * rttS).toFixed(1)} ms  ${snapshotsReceived} snapshots`);
}
client.close();
