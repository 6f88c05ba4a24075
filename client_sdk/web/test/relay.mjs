// Forwards TCP in both directions with a delay, and stalls some of what it forwards: as a network does that loses
// packets under TCP, where what follows waits for the resend.
import { connect, createServer } from 'node:net';

/** A sequence of numbers in [0, 1) that is the same in every run. */
function numbers(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

export class Relay {
  chunks = 0;
  stalled = 0;
  #server;
  #sockets = new Set();

  /** `delayMs`: one way. A part `stalls` of the chunks (of small messages, one each) comes a round trip later. */
  static async start(port, { delayMs, stalls }) {
    const relay = new Relay(), random = numbers(1);
    const forward = (from, to) => {
      let due = 0;
      const later = (what) => {
        const stall = random() < stalls;
        ++relay.chunks;
        relay.stalled += stall ? 1 : 0;
        due = Math.max(due, performance.now() + delayMs + (stall ? 2 * delayMs : 0));
        relay.#at(due, what);
      };
      from.setNoDelay(true);
      from.on('data', (chunk) => later(() => to.destroyed || to.write(chunk)));
      from.on('end', () => later(() => to.end()));
      from.on('error', () => to.destroy());
      from.on('close', () => relay.#sockets.delete(from));
      relay.#sockets.add(from);
    };
    relay.#server = createServer((client) => {
      const server = connect(port, '127.0.0.1');
      forward(client, server);
      forward(server, client);
    });
    await new Promise((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    relay.port = relay.#server.address().port;
    return relay;
  }

  // By the time at which they are due, and in order of arrival among equals: so a direction keeps its order.
  #queue = [];
  #at(due, what) {
    let i = this.#queue.length;
    while (i > 0 && this.#queue[i - 1].due > due) --i;
    this.#queue.splice(i, 0, { due, what });
    setTimeout(() => {
      while (this.#queue.length > 0 && this.#queue[0].due <= performance.now()) this.#queue.shift().what();
    }, Math.ceil(due - performance.now()) + 1);
  }

  stop() {
    this.#queue.length = 0;
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}
