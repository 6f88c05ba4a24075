// The WebAssembly modules, each fetched and compiled once: a recording can be opened when the server has gone.
import plainUrl from '../dist/orrery_client.wasm?url';
import simUrl from '../dist/orrery_client_sim.wasm?url';

const compiled = new Map<string, WebAssembly.Module>();

async function module(url: string): Promise<WebAssembly.Module> {
  let known = compiled.get(url);
  if (!known) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: HTTP status ${answer.status}`);
    compiled.set(url, (known = await WebAssembly.compile(await answer.arrayBuffer())));
  }
  return known;
}
/** Without and with the simulation. */
export const plainModule = (): Promise<WebAssembly.Module> => module(plainUrl);
export const simModule = (): Promise<WebAssembly.Module> => module(simUrl);
