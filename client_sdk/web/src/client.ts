// A client of an Orrery room, over a WebSocket. It shows the bodies as they were a few ticks ago, between two snapshots,
// and sends the player's controls. All decoding is that of the C++ client SDK, in the WebAssembly module.
import * as C from './layout.js';
import { Look, type BodyState, type Contacts, type Joints, type Marks, type StepTimes } from './look.js';
import { readBody, readShape, SampleArrays, type Body, type BodyId, type Samples, type Shape } from './views.js';
import { load, type Exports, type Memory, type WasmSource } from './wasm.js';

export type { BodyState, Contacts, Joints, Marks, StepTimes } from './look.js';
export { Scene, type Child, type Triangles } from './scene.js';
export type { Body, BodyId, Samples, Shape } from './views.js';
export type { WasmSource } from './wasm.js';
export { SlowNetwork, SlowSocket, type SlowClock, type Slowness } from './slow_socket.js';
/** The constants of orrery/client.h without ORRERY_, and the layouts of its structs. */
export * as constants from './layout.js';

/** What each means is said at orrery_prediction of orrery/client.h. */
export interface PredictionOptions {
  /** A control acts so many ticks later, 0 to 6. */
  inputDelayTicks?: number;
  /** As many ticks are predicted as can be stepped again in this time; 0, the default: 8 ms. */
  maxRollbackMs?: number;
}

export interface ConnectOptions {
  /** Of the server's WebSocket: "ws://127.0.0.1:7780/play". */
  url: string;
  /** A connect token of 2,048 bytes. */
  token?: Uint8Array;
  /** Where a POST gives a fresh token: "http://127.0.0.1:7780/token". With it a lost connection is made anew. */
  tokenUrl?: string;
  /** The module; if it is left out, the one beside this file for the mode. */
  wasm?: WasmSource;
  /** Snapshots of the bodies (the default); or a mirror, which steps the whole world itself, where the room allows it. */
  mode?: 'snapshots' | 'mirror';
  /** For a mirror: the room's scene, JSON or binary. A mirror without it asks the server. */
  scene?: Uint8Array;
  /** For a mirror: the player's control acts at once, and what was predicted wrong is corrected. */
  prediction?: PredictionOptions | undefined;
  /** From a loss on, within so many seconds the connection is made anew. 30 with tokenUrl, otherwise 0. */
  reconnectSeconds?: number;
  /** In the place of the global WebSocket: that of the package `ws`, for example. */
  WebSocket?: new (url: string) => WebSocketLike;
  /** Called every 15 ms until the room is joined: session() and stats() tell how far that is. What it throws ends the
   * attempt. */
  joining?: (client: Client) => void;
  /** Whether a timer polls, every 15 ms. Otherwise the program calls poll(), best once in each frame. */
  autoPoll?: boolean;
}

/** What is used of a WebSocket. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
}

/** What happens to the connection or to a body. `tick` is the server's. */
export type ClientEvent =
  | { kind: 'connected'; tick: bigint }
  | { kind: 'disconnected'; tick: bigint; reason: number; text: string }
  | { kind: 'reconnecting'; text: string }
  | { kind: 'bodyAdded' | 'bodyRemoved'; tick: bigint; body: BodyId }
  | { kind: 'slipped'; tick: bigint; lateNs: bigint }
  | { kind: 'message'; type: number; bytes: Uint8Array<ArrayBuffer>; reliable: boolean }
  | { kind: 'board'; key: string; value: Uint8Array<ArrayBuffer>; removed: boolean }
  | { kind: 'scene'; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'diverged'; tick: bigint; part: string }
  | { kind: 'world'; tick: bigint; what: number; body: BodyId; other: BodyId; joint: bigint; point: number[];
      normal: number[]; impulse: number;
      /** constants.CERTAINTY_*: of an event that a mirror tells (setMirrorEvents). */
      certainty: number };
export type EventKind = ClientEvent['kind'];
export type EventOf<K extends EventKind> = Extract<ClientEvent, { kind: K }>;

export interface Session {
  tickRateHz: number; sceneHash: bigint; clientIndex: number; slot: number; engineVersion: number; shapeCount: number;
  bodyCount: number; sceneName: string; role: number; sceneBytes: number; sceneBytesHash: bigint;
}
export interface Stats {
  rttS: number; rttVariationS: number; delayTicks: number; inputSlackTicks: number; lateInputs: number;
  snapshotsReceived: bigint; snapshotsUndecodable: bigint; bytesSent: bigint; bytesReceived: bigint;
  messagesSent: bigint; messagesReceived: bigint; newestTick: bigint;
}

/** Of a mirror, in ticks; what each means is said at orrery_mirror_stats of orrery/client.h. */
export interface MirrorStats {
  confirmedTick: bigint; predictedTick: bigint; waitingTicks: bigint; hashesCompared: bigint; divergences: bigint;
  states: bigint; ticksAsPredicted: bigint; rollbacks: bigint; ticksAgain: bigint; lastDepth: number; maxDepth: number;
  /** Causes of rollbacks. */
  othersControls: bigint; ownControls: bigint; otherCommands: bigint;
  lastRollbackMs: number; maxRollbackMs: number; sumRollbackMs: number;
  lastCorrectionMm: number; maxCorrectionMm: number; sumCorrectionMm: number; cuts: number;
  eventsDropped: bigint;
}

/** The connection ended, or never came about: `reason` is one of constants.END_*. */
export class ConnectionError extends Error {
  readonly reason: number;
  constructor(reason: number, text: string) {
    super(text);
    this.reason = reason;
  }
}

const POLL_MS = 15;
const LATE_POLL_MS = 50;  // a page that is hidden is polled by its messages
const BROKEN = 1006;  // of WebSocket: closed without a word
const CLOSE_WAIT_MS = 100;
const TOKEN_WAIT_MS = 5000;  // for the answer of tokenUrl
const MAX_BUFFERED_BYTES = 256 * 1024;
const RETRY_MS = [100, 200, 400, 800, 1600];
const SCRATCH_BYTES = 256;  // more than any struct that client.ts reads

export class Client {
  readonly #memory: Memory;
  readonly #c: Exports;
  readonly #options: ConnectOptions;
  #client: number;  // 0 once closed: then every function of the module does nothing
  readonly #event: number;
  readonly #out: number;  // two pointers or sizes
  readonly #struct: number;
  readonly #controls: number;
  readonly #samples: SampleArrays;
  readonly #fillSamples = (at: number) => this.#c.orrery_web_sample(this.#client, performance.now(), at);
  readonly #look: Look;
  #socket: WebSocketLike | null = null;
  #streamNumber = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #polledAt = 0;
  #retry = 0;
  #restartedAt = 0;  // when a server that stopped was first missed; 0: it is there
  #hadWorld = false;
  #closed = false;
  #listeners = new Map<EventKind, Set<(event: any) => void>>();

  private constructor(memory: Memory, options: ConnectOptions) {
    this.#memory = memory;
    this.#c = memory.exports;
    this.#options = options;
    this.#event = memory.allocate(C.EventLayout.sizeof);
    this.#struct = memory.allocate(SCRATCH_BYTES);
    this.#out = memory.allocate(16);
    this.#controls = memory.allocate(4 * C.CONTROL_CHANNELS);
    this.#samples = new SampleArrays(memory);
    memory.setU32(this.#event, C.EventLayout.sizeof);
    this.#c.orrery_client_config_init(this.#struct);
    this.#check(this.#c.orrery_client_create_stream(this.#struct, this.#out));
    this.#client = memory.u32(this.#out);
    this.#look = new Look(memory, {
      contacts: (body, out) => this.#c.orrery_client_contacts(this.#client, body, out),
      joints: (body, out) => this.#c.orrery_client_joints(this.#client, body, out),
      marks: (out) => this.#c.orrery_client_marks(this.#client, out),
      bodyState: (id, out) => this.#c.orrery_client_get_body_state(this.#client, id, out),
      stepTimes: (out) => this.#c.orrery_client_get_step_times(this.#client, out),
    });
    this.#c.orrery_client_set_reconnect(this.#client, this.#reconnectSeconds);
    if (options.mode === 'mirror') this.#mirror();
  }

  /** Loads the module, connects and joins. Rejects with a ConnectionError if that does not come about. */
  static async connect(options: ConnectOptions): Promise<Client> {
    const name = options.mode === 'mirror' ? './orrery_client_sim.wasm' : './orrery_client.wasm';
    const memory = await load(options.wasm ?? new URL(name, import.meta.url));
    const client = new Client(memory, options);
    const token = options.token ?? (await client.#freshToken());
    return new Promise<Client>((resolve, reject) => {
      const { joining } = options;
      const watch = joining && setInterval(() => {
        try {
          joining(client);
        } catch (error) {
          clearInterval(watch);
          client.close();
          reject(error);
        }
      }, POLL_MS);
      const off = [
        () => clearInterval(watch),
        client.on('connected', () => { off.forEach((stop) => stop()); resolve(client); }),
        client.on('disconnected', ({ reason, text }) => {
          off.forEach((stop) => stop());
          client.close();
          reject(new ConnectionError(reason, text));
        }),
      ];
      try {
        client.#check(client.#begin(token));
        client.poll();  // a bad url is found here
      } catch (error) {
        clearInterval(watch);
        client.close();
        reject(error);
        return;
      }
      if (!client.#closed && (options.autoPoll ?? true)) client.#timer = setInterval(() => client.poll(), POLL_MS);
    });
  }

  /** Calls `listener` for each event of a kind, during poll(). Returns a function that ends this. */
  on<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): () => void {
    const all = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, all.add(listener));
    return () => void all.delete(listener);
  }

  /** constants.STATE_*. */
  get state(): number {
    return this.#closed ? C.STATE_DISCONNECTED : this.#c.orrery_client_get_state(this.#client);
  }

  /** Reads what has come, sends, and tells the events. A timer calls it unless autoPoll is false. */
  poll(): void {
    if (this.#closed) return;
    const now = performance.now();
    this.#polledAt = now;
    this.#c.orrery_web_poll(this.#client, now);
    this.#pump();
    while (!this.#closed && this.#c.orrery_client_next_event(this.#client, this.#event) === C.OK) this.#tell();
    if (!this.#closed) this.#pump();
  }

  /** Up to 8 numbers in [-1, 1], which stay until the next call. The scene says what a channel does. */
  setControl(channels: ArrayLike<number>): void {
    const count = Math.min(channels.length, C.CONTROL_CHANNELS), view = this.#memory.view;
    for (let i = 0; i < count; ++i) view.setFloat32(this.#controls + 4 * i, channels[i] ?? 0, true);
    if (!this.#closed) this.#c.orrery_client_set_control(this.#client, this.#controls, count);
  }

  /** All bodies as they are to be shown now, or null before the world is there. The same object each time. */
  sample(): Samples | null {
    return this.#closed ? null : this.#samples.read(this.#fillSamples);
  }

  /** Sends bytes to the room's program. A limit is an error, and nothing was sent. */
  send(type: number, bytes: Uint8Array, reliable = true): void {
    this.#check(this.#memory.lend(bytes, (at, size) =>
      this.#c.orrery_client_send(this.#client, type, at, size, reliable ? 1 : 0)));
  }

  /** A copy of the value that the board has for `key`; null: none. */
  board(key: string): Uint8Array<ArrayBuffer> | null {
    const status = this.#memory.lend(key, (at) =>
      this.#c.orrery_client_board_get(this.#client, at, this.#out, this.#out + 4));
    return status === C.OK ? this.#memory.copy(this.#out, this.#out + 4) : null;
  }
  boardKeys(): string[] {
    return Array.from({ length: this.#c.orrery_client_board_count(this.#client) }, (_, i) => {
      this.#c.orrery_client_board_at(this.#client, i, this.#out, 0, 0);
      return this.#memory.text(this.#out);
    });
  }

  /** What the server says of its room; null before its answer. */
  session(): Session | null {
    const L = C.SessionLayout, m = this.#memory, at = this.#sized(L.sizeof);
    if (this.#c.orrery_client_get_session(this.#client, at) !== C.OK) return null;
    return {
      tickRateHz: m.f32(at + L.tick_rate_hz), sceneHash: m.u64(at + L.scene_hash),
      clientIndex: Number(m.u64(at + L.client_index)), slot: m.u32(at + L.slot),
      engineVersion: m.u32(at + L.engine_version), shapeCount: m.u32(at + L.shape_count),
      bodyCount: m.u32(at + L.body_count), sceneName: m.text(at + L.scene_name), role: m.u32(at + L.role),
      sceneBytes: m.u32(at + L.scene_bytes), sceneBytesHash: m.u64(at + L.scene_bytes_hash),
    };
  }
  shape(index: number): Shape | null {
    const at = this.#sized(C.ShapeLayout.sizeof);
    return this.#c.orrery_client_get_shape(this.#client, index, at) === C.OK ? readShape(this.#memory, at) : null;
  }
  body(id: BodyId): Body | null {
    const at = this.#sized(C.BodyLayout.sizeof);
    return this.#c.orrery_client_get_body(this.#client, id, at) === C.OK ? readBody(this.#memory, at) : null;
  }
  /** The first body that was spawned for this player; null: none. */
  ownBody(): BodyId | null {
    const id = BigInt.asUintN(64, this.#c.orrery_client_own_body(this.#client));
    return id === C.NO_BODY ? null : id;
  }
  stats(): Stats {
    const L = C.ClientStatsLayout, m = this.#memory, at = this.#sized(L.sizeof);
    this.#c.orrery_client_get_stats(this.#client, at);
    return {
      rttS: m.f64(at + L.rtt_s), rttVariationS: m.f64(at + L.rtt_variation_s), delayTicks: m.f64(at + L.delay_ticks),
      inputSlackTicks: m.f64(at + L.input_slack_ticks), lateInputs: m.u32(at + L.late_inputs),
      snapshotsReceived: m.u64(at + L.snapshots_received), snapshotsUndecodable: m.u64(at + L.snapshots_undecodable),
      bytesSent: m.u64(at + L.bytes_sent), bytesReceived: m.u64(at + L.bytes_received),
      messagesSent: m.u64(at + L.datagrams_sent), messagesReceived: m.u64(at + L.datagrams_received),
      newestTick: m.u64(at + L.newest_tick),
    };
  }
  /** Null unless the mode is that of a mirror. */
  mirrorStats(): MirrorStats | null {
    const L = C.MirrorStatsLayout, m = this.#memory, at = this.#sized(L.sizeof);
    if (this.#c.orrery_client_get_mirror_stats(this.#client, at) !== C.OK) return null;
    return {
      confirmedTick: m.u64(at + L.confirmed_tick), predictedTick: m.u64(at + L.predicted_tick),
      waitingTicks: m.u64(at + L.waiting_ticks), hashesCompared: m.u64(at + L.hashes_compared),
      divergences: m.u64(at + L.divergences), states: m.u64(at + L.states),
      ticksAsPredicted: m.u64(at + L.ticks_as_predicted), rollbacks: m.u64(at + L.rollbacks),
      ticksAgain: m.u64(at + L.ticks_again), lastDepth: m.u32(at + L.last_depth), maxDepth: m.u32(at + L.max_depth),
      othersControls: m.u64(at + L.others_controls), ownControls: m.u64(at + L.own_controls),
      otherCommands: m.u64(at + L.other_commands), lastRollbackMs: m.f64(at + L.last_rollback_ms),
      maxRollbackMs: m.f64(at + L.max_rollback_ms), sumRollbackMs: m.f64(at + L.sum_rollback_ms),
      lastCorrectionMm: m.f64(at + L.last_correction_mm), maxCorrectionMm: m.f64(at + L.max_correction_mm),
      sumCorrectionMm: m.f64(at + L.sum_correction_mm), cuts: m.u32(at + L.cuts),
      eventsDropped: m.u64(at + L.events_dropped),
    };
  }
  /** Which events of its own world a mirror tells as `world`, instead of those that the room tells: `kinds` is a sum of
   * constants.MIRROR_*; hits of at least `leastHitImpulse` N s. With prediction, some are told before they are
   * certain. */
  setMirrorEvents(kinds: number, leastHitImpulse = 0): void {
    this.#check(this.#c.orrery_client_set_mirror_events(this.#client, kinds, leastHitImpulse));
  }
  /** Of a mirror: the contacts of a body; without one, of all that is awake, which takes long for thousands of bodies.
   * Null: not a mirror, or no such body. The same object each time, for use at once; so are those of joints() and
   * marks(). */
  contacts(body: BodyId = C.NO_BODY): Contacts | null {
    return this.#closed ? null : this.#look.contacts(body);
  }
  /** Of a mirror: the joints of a body, or all, those of rigs included. Null: as of contacts(). */
  joints(body: BodyId = C.NO_BODY): Joints | null {
    return this.#closed ? null : this.#look.joints(body);
  }
  /** The name that scenes give a kind of joint: "ball_socket". */
  jointKind(kind: number): string {
    return this.#look.jointKind(kind);
  }
  /** Of a mirror: which bodies sleep, and the boxes around them. Null: not a mirror. */
  marks(): Marks | null {
    return this.#closed ? null : this.#look.marks();
  }
  /** The newest state of a body, in both modes; null: there is no such body, or its state has not arrived. */
  bodyState(id: BodyId): BodyState | null {
    return this.#closed ? null : this.#look.bodyState(id);
  }
  /** Whether a mirror with prediction keeps what confirmed() and the field `confirmed` of body states need. */
  setConfirmed(on: boolean): void {
    this.#check(this.#c.orrery_client_set_confirmed(this.#client, on ? 1 : 0));
  }
  /** Of a mirror: all bodies at the last tick that the server has confirmed. Null: not known. */
  confirmed(): Samples | null {
    return this.#closed ? null : this.#look.samples((at) => this.#c.orrery_client_sample_confirmed(this.#client, at));
  }
  /** Whether a mirror measures its steps for stepTimes(), from now on. */
  measureSteps(on: boolean): void {
    if (this.#options.mode !== 'mirror') throw new Error('orrery: only a mirror steps a world');
    this.#check(this.#c.orrery_web_measure_client(this.#client, on ? 1 : 0));
  }
  /** Null: they are not measured. */
  stepTimes(): StepTimes | null {
    return this.#closed ? null : this.#look.stepTimes();
  }
  /** Asks for the scene's binary form, which comes as the event `scene`. */
  requestScene(): void {
    this.#check(this.#c.orrery_client_request_scene(this.#client));
  }

  /** Ends the connection. The client cannot be used again. */
  close(): void {
    if (this.#closed) return;
    this.#c.orrery_client_disconnect(this.#client, this.#nowNs());
    this.#pump();
    this.#closed = true;
    clearInterval(this.#timer);
    this.#c.orrery_client_destroy(this.#client);
    this.#client = 0;  // the memory goes with the module's instance
  }

  get #reconnectSeconds(): number {
    return this.#options.reconnectSeconds ?? (this.#options.tokenUrl ? 30 : 0);
  }
  #nowNs(): bigint {
    return BigInt(Math.floor(performance.now() * 1e6));
  }
  #check(status: number): void {
    if (status < 0) {
      this.#memory.setU32(this.#out, this.#c.orrery_status_name(status));
      throw new Error(`orrery: ${this.#memory.text(this.#out)}`);
    }
  }
  #sized(size: number): number {
    this.#memory.setU32(this.#struct, size);
    return this.#struct;
  }

  #mirror(): void {
    const { scene, prediction } = this.#options;
    this.#check(this.#c.orrery_client_set_mode(this.#client, C.MODE_MIRROR));
    if (scene)
      this.#check(this.#memory.lend(scene, (at, size) => this.#c.orrery_client_give_scene(this.#client, at, size)));
    if (!prediction) return;
    const { inputDelayTicks = 0, maxRollbackMs = 0 } = prediction;
    this.#check(this.#c.orrery_web_predict(this.#client, inputDelayTicks, maxRollbackMs));
  }

  /** Opens and closes the socket as the client wants, and sends what waits. */
  #pump(): void {
    const wanted = this.#c.orrery_client_stream_wanted(this.#client);
    if (wanted !== this.#streamNumber) {
      this.#flush();
      this.#leaveSocket();
      this.#streamNumber = wanted;
      if (wanted !== 0) this.#openSocket();
    }
    this.#flush();
  }
  #flush(): void {
    while (this.#socket && this.#socket.bufferedAmount < MAX_BUFFERED_BYTES &&
           this.#c.orrery_client_stream_next(this.#client, this.#out, this.#out + 4) === C.OK)
      this.#socket.send(this.#memory.copy(this.#out, this.#out + 4));
  }
  #leaveSocket(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.onerror = () => {};
    socket.close(1000);
  }
  #openSocket(): void {
    const closed = (code: number, text: string) => {
      if (this.#socket !== socket || this.#closed) return;
      this.#socket = null;
      this.#memory.lend(text, (at) => this.#c.orrery_client_stream_closed(this.#client, code, at, this.#nowNs()));
    };
    const socket = new (this.#options.WebSocket ?? globalThis.WebSocket)(this.#options.url) as WebSocketLike;
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (this.#socket !== socket || this.#closed) return;
      this.#c.orrery_client_stream_opened(this.#client, this.#nowNs());
      this.#flush();
    };
    socket.onmessage = ({ data }) => {
      if (this.#socket !== socket || this.#closed) return;
      if (!(data instanceof ArrayBuffer)) {
        closed(1003, 'the server sent a message that is not binary');
        return socket.close(1000);
      }
      const now = performance.now();
      this.#memory.lend(new Uint8Array(data), (at, size) => this.#c.orrery_web_received(this.#client, at, size, now));
      if ((this.#options.autoPoll ?? true) && now - this.#polledAt > LATE_POLL_MS) this.poll();
    };
    // A close follows, but not in Node if the connection was never made.
    socket.onerror = () => void setTimeout(() => closed(BROKEN, ''), CLOSE_WAIT_MS);
    socket.onclose = ({ code, reason }) => closed(code, String(reason ?? ''));
  }

  async #freshToken(): Promise<Uint8Array> {
    if (!this.#options.tokenUrl) throw new Error('orrery: connect() needs a token or a tokenUrl');
    const signal = AbortSignal.timeout(TOKEN_WAIT_MS);
    const answer = await fetch(this.#options.tokenUrl, { method: 'POST', cache: 'no-store', signal });
    if (!answer.ok) throw new Error(`orrery: ${this.#options.tokenUrl}: HTTP status ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  }
  #begin(token: Uint8Array): number {
    return this.#memory.lend(token, (at, size) =>
      this.#c.orrery_client_connect(this.#client, at, size, this.#nowNs()));
  }
  #renew(token: Uint8Array): number {
    return this.#memory.lend(token, (at, size) =>
      this.#c.orrery_client_renew(this.#client, at, size, this.#nowNs()));
  }
  /** Gets a token and gives it to `use`. A server that is not there yet, or answers with no token, is asked again. */
  async #withToken(use: (token: Uint8Array) => number): Promise<void> {
    const wait = RETRY_MS[Math.min(this.#retry++, RETRY_MS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (this.#closed) return;
    const token = await this.#freshToken().catch(() => null);
    if (this.#closed) return;
    if (token && use(token) === C.OK) return;
    if (this.#restartedAt !== 0 || this.state === C.STATE_CONNECTING) return this.#again();
  }
  /** The next try: by a renewal where the client waits for one, or by a connection of its own after a restart. */
  async #again(): Promise<void> {
    if (this.#restartedAt === 0) return this.#withToken((token) => this.#renew(token));
    if (performance.now() - this.#restartedAt > 1000 * this.#reconnectSeconds) {
      this.#restartedAt = 0;
      return this.#emit({ kind: 'disconnected', tick: 0n, reason: C.END_SERVER_STOPPED, text: 'the server stopped' });
    }
    return this.#withToken((token) => this.#begin(token));
  }

  #emit(event: ClientEvent): void {
    for (const listener of [...(this.#listeners.get(event.kind) ?? [])]) listener(event);
  }
  /** Hands the event on that the module has given. */
  #tell(): void {
    const L = C.EventLayout, m = this.#memory, at = this.#event, tick = m.u64(at + L.tick);
    const bytes = () => m.copy(at + L.bytes, at + L.size);
    const three = (from: number) => [m.f32(from), m.f32(from + 4), m.f32(from + 8)];
    switch (m.i32(at + L.kind)) {
      case C.EVENT_CONNECTED:
        this.#retry = this.#restartedAt = 0;
        this.#hadWorld = true;
        return this.#emit({ kind: 'connected', tick });
      case C.EVENT_DISCONNECTED:
        return this.#ended(tick, m.i32(at + L.end_reason), m.text(at + L.text));
      case C.EVENT_TOKEN_NEEDED:
        this.#emit({ kind: 'reconnecting', text: m.text(at + L.text) });
        return void this.#again();
      case C.EVENT_BODY_ADDED:
        return this.#emit({ kind: 'bodyAdded', tick, body: m.u64(at + L.body) });
      case C.EVENT_BODY_REMOVED:
        return this.#emit({ kind: 'bodyRemoved', tick, body: m.u64(at + L.body) });
      case C.EVENT_SLIPPED:
        return this.#emit({ kind: 'slipped', tick, lateNs: m.u64(at + L.late_ns) });
      case C.EVENT_MESSAGE:
        return this.#emit({ kind: 'message', type: m.u32(at + L.message_type), bytes: bytes(),
                            reliable: m.i32(at + L.reliable) !== 0 });
      case C.EVENT_BOARD:
        return this.#emit({ kind: 'board', key: m.text(at + L.text), value: bytes(), removed: m.i32(at + L.removed) !== 0 });
      case C.EVENT_SCENE:
        return this.#emit({ kind: 'scene', bytes: bytes() });
      case C.EVENT_DIVERGED:
        return this.#emit({ kind: 'diverged', tick, part: m.text(at + L.text) });
      case C.EVENT_WORLD:
        return this.#emit({ kind: 'world', tick, what: m.i32(at + L.world_kind), body: m.u64(at + L.body),
                            other: m.u64(at + L.other), joint: m.u64(at + L.joint), point: three(at + L.point),
                            normal: three(at + L.normal), impulse: m.f32(at + L.impulse),
                            certainty: m.i32(at + L.certainty) });
    }
  }
  #ended(tick: bigint, reason: number, text: string): void {
    const gone = reason === C.END_SERVER_STOPPED || (this.#restartedAt !== 0 && reason === C.END_NO_ANSWER);
    if (!gone || !this.#hadWorld || !this.#options.tokenUrl || this.#reconnectSeconds === 0) {
      this.#restartedAt = 0;
      return this.#emit({ kind: 'disconnected', tick, reason, text });
    }
    if (this.#restartedAt === 0) this.#restartedAt = performance.now();
    this.#emit({ kind: 'reconnecting', text });
    void this.#again();
  }
}
