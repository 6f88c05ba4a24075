// The built server, for a test: `orrery serve` on loopback with free ports. ORRERY_BIN names the program.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
export const ROOT = join(PACKAGE, '../..');
export const ORRERY = process.env.ORRERY_BIN ?? join(ROOT, 'build/release/bin/orrery');

export class Server {
  #process;
  #folder;
  #errors = '';

  /** Resolves once the server listens. `address` is that of HTTP. `scene`: of deploy/scenes, or a path. */
  static async start({ httpPort = 0, scene = 'yard', options = [] } = {}) {
    const server = new Server();
    server.#folder = mkdtempSync(join(tmpdir(), 'orrery-'));
    const path = isAbsolute(scene) ? scene : join(ROOT, 'deploy/scenes', `${scene}.json`);
    server.#process = spawn(ORRERY, ['serve', path, '--port', '0', '--http-port', String(httpPort), '--record',
      server.#folder, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
    server.#process.stderr.on('data', (text) => (server.#errors += text));
    const lines = createInterface({ input: server.#process.stdout });
    await new Promise((resolve, reject) => {
      server.#process.once('error', reject);
      server.#process.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${server.#errors}`)));
      lines.once('line', (line) => {
        server.address = / http=(\S+)/.exec(line)?.[1];
        server.address ? resolve() : reject(new Error(`the first line names no http=: ${line}`));
      });
    });
    server.port = Number(server.address.split(':').at(-1));
    server.options = { url: `ws://${server.address}/play`, tokenUrl: `http://${server.address}/token` };
    return server;
  }

  /** Ends the server's process; its recording stays until stop(). */
  async end(signal = 'SIGTERM') {
    const { exitCode } = this.#process;
    if (exitCode === null && this.#process.signalCode === null) {
      const ended = new Promise((resolve) => this.#process.once('exit', resolve));
      this.#process.kill(signal);
      await ended;
    }
  }
  recording() {
    const name = readdirSync(this.#folder).find((each) => each.endsWith('.orr'));
    return readFileSync(join(this.#folder, name));
  }
  async stop(signal = 'SIGTERM') {
    await this.end(signal);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function until(what, condition, seconds = 15) {
  const end = performance.now() + 1000 * seconds;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
