// The worse network around a WebSocket, on a clock of the test's own: what comes when, and in which order.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SlowNetwork } from '../dist/slow_socket.js';

class FakeClock {
  time = 0;
  randoms = [];  // what random() is to say; then 0.999
  #timers = [];
  now() { return this.time; }
  random() { return this.randoms.shift() ?? 0.999; }
  after(ms, call) { this.#timers.push({ at: this.time + ms, call }); }
  get timers() { return this.#timers.length; }
  runTo(time) {
    for (;;) {
      const next = this.#timers.reduce((first, each) => (!first || each.at < first.at ? each : first), undefined);
      if (!next || next.at > time) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.time = Math.max(this.time, next.at);
      next.call();
    }
    this.time = time;
  }
}

/** The socket within: it notes what reaches it, and when. */
class Wire {
  static last;
  binaryType = 'blob';
  bufferedAmount = 0;
  sent = [];
  constructor(url) {
    this.url = url;
    Wire.last = this;
  }
  send(data) { this.sent.push([Wire.clock.time, data[0]]); }
  close(code) { this.sent.push([Wire.clock.time, `close ${code}`]); }
}

function make(slowness) {
  const clock = (Wire.clock = new FakeClock());
  const network = new SlowNetwork(slowness, Wire, clock), socket = new network.WebSocket('ws://there/play');
  const got = [];
  socket.onopen = () => got.push([clock.time, 'open']);
  socket.onmessage = ({ data }) => got.push([clock.time, data]);
  socket.onclose = ({ code }) => got.push([clock.time, `closed ${code}`]);
  return { clock, network, socket, wire: Wire.last, got };
}
const bytes = (value, size = 1) => new Uint8Array(size).fill(value);

test('without slowness all passes at once', () => {
  const { socket, wire, got, clock } = make({});
  wire.onopen({});
  socket.send(bytes(1));
  wire.onmessage({ data: 2 });
  socket.close(1000);
  wire.onclose({ code: 1000 });
  assert.deepEqual(wire.sent, [[0, 1], [0, 'close 1000']]);
  assert.deepEqual(got, [[0, 'open'], [0, 2], [0, 'closed 1000']]);
  assert.equal(clock.timers, 0);
  assert.equal(wire.url, 'ws://there/play');
});

test('each direction takes half of the round trip, and opening takes two', () => {
  const { socket, wire, got, clock } = make({ rttMs: 100 });
  wire.onopen({});
  clock.runTo(300);
  socket.send(bytes(1));
  wire.onmessage({ data: 2 });
  clock.runTo(1000);
  assert.deepEqual(wire.sent, [[350, 1]]);
  assert.deepEqual(got, [[200, 'open'], [350, 2]]);
});

test('a lost message and all behind it are held for a round trip', () => {
  const { socket, wire, got, clock, network } = make({ rttMs: 100, loss: 0.05 });
  clock.randoms = [0.9, 0.01, 0.9, 0.9, 0.9];
  for (let i = 1; i <= 5; ++i) {
    clock.runTo(40 * i);
    socket.send(bytes(i));
  }
  clock.runTo(1000);
  assert.deepEqual(wire.sent, [[90, 1], [230, 2], [230, 3], [230, 4], [250, 5]]);
  assert.equal(network.messages, 5);
  assert.equal(network.lost, 1);

  clock.randoms = [0.04, 0.9];
  wire.onmessage({ data: 6 });
  wire.onmessage({ data: 7 });
  clock.runTo(2000);
  assert.deepEqual(got, [[1150, 6], [1150, 7]]);
});

test('a loss is felt where there is no delay', () => {
  const { socket, wire, clock } = make({ loss: 0.5 });
  clock.randoms = [0.1, 0.9];
  socket.send(bytes(1));
  socket.send(bytes(2));
  clock.runTo(100);
  assert.deepEqual(wire.sent, [[10, 1], [10, 2]]);
});

test('jitter delays and keeps the order', () => {
  const { socket, wire, clock } = make({ rttMs: 20, jitterMs: 50 });
  clock.randoms = [0.8, 0.2, 0.9];
  for (let i = 1; i <= 3; ++i) socket.send(bytes(i));
  clock.runTo(100);
  assert.deepEqual(wire.sent, [[50, 1], [50, 2], [55, 3]]);
});

test('settings act on what is sent from then on, and never overtake', () => {
  const { socket, wire, clock, network } = make({ rttMs: 200 });
  socket.send(bytes(1));
  network.rttMs = 0;
  clock.runTo(10);
  socket.send(bytes(2));
  clock.runTo(150);
  socket.send(bytes(3));
  assert.deepEqual(wire.sent, [[100, 1], [100, 2], [150, 3]]);
});

test('what is sent is a copy, and counts as buffered until it has gone', () => {
  const { socket, wire, clock } = make({ rttMs: 100 });
  const data = bytes(1, 30);
  socket.send(data);
  data.fill(9);
  wire.bufferedAmount = 5;
  assert.equal(socket.bufferedAmount, 35);
  clock.runTo(50);
  assert.equal(socket.bufferedAmount, 5);
  assert.deepEqual(wire.sent, [[50, 1]]);
});

test('a close comes after what was sent before, and nothing after it', () => {
  const { socket, wire, clock } = make({ rttMs: 100, loss: 0.05 });
  clock.randoms = [0.01];
  socket.send(bytes(1));
  socket.close(1000);
  socket.close(1001);
  socket.send(bytes(2));
  clock.runTo(1000);
  assert.deepEqual(wire.sent, [[150, 1], [150, 'close 1000']]);
});

test('a close from there comes after the messages before it, and drops what waits', () => {
  const { socket, wire, clock, got } = make({ rttMs: 100 });
  socket.send(bytes(1));
  wire.onmessage({ data: 2 });
  wire.onclose({ code: 1006 });
  assert.equal(socket.bufferedAmount, 0);
  clock.runTo(1000);
  assert.deepEqual(wire.sent, []);
  assert.deepEqual(got, [[50, 2], [50, 'closed 1006']]);
});

test('a message delivers what is due, though timers are late as in a hidden page', () => {
  const { wire, got, clock } = make({ rttMs: 100 });
  wire.onmessage({ data: 1 });
  clock.time = 400;
  wire.onmessage({ data: 2 });
  assert.deepEqual(got, [[400, 1]]);
});

test('a message that is sent within the delivery of another is not lost', () => {
  const { socket, wire, clock, network } = make({ rttMs: 100 });
  socket.onmessage = () => socket.send(bytes(7));
  wire.onmessage({ data: 1 });
  clock.runTo(49);
  network.rttMs = 0;
  clock.runTo(60);
  assert.deepEqual(wire.sent, [[50, 7]]);
});

test('each message is told, when it is sent or has come', () => {
  const { socket, wire, clock, network } = make({ rttMs: 100, loss: 0.05 });
  const told = [];
  network.onPassed = (outward, size, lost) => told.push([clock.time, outward, size, lost]);
  clock.randoms = [0.9, 0.01];
  socket.send(bytes(1, 12));
  wire.onmessage({ data: new ArrayBuffer(30) });
  clock.runTo(1000);
  assert.deepEqual(told, [[0, true, 12, false], [150, false, 30, true]]);
});
