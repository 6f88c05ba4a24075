import simWasm from '../dist/orrery_client_sim.wasm?url';
import { Client } from '../src/client.js';

const client = await Client.connect({
  url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/play`, tokenUrl: '/token',
  wasm: simWasm, mode: 'mirror', prediction: {},
});
document.title = `Orrery: ${client.session()?.sceneName}`;
