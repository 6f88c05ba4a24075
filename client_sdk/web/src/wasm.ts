// The WebAssembly module: how it is loaded, what it exports, and views into its memory that survive its growth.
import { LAYOUT } from './layout.js';
import type { unpack } from './unpack.js';

/** Where the module comes from: a URL, a path (Node), its bytes, or a compiled module. */
export type WasmSource = string | URL | ArrayBuffer | Uint8Array<ArrayBuffer> | WebAssembly.Module;

/** The functions of orrery/client.h that are called here. Pointers and sizes are numbers, 64-bit integers are bigints. */
export interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(size: number): number;
  free(pointer: number): void;
  orrery_web_layout(): number;
  orrery_web_poll(client: number, nowMs: number): number;
  orrery_web_sample(client: number, nowMs: number, samples: number): number;
  orrery_web_received(client: number, bytes: number, size: number, nowMs: number): number;
  orrery_client_config_init(config: number): void;
  orrery_client_create_stream(config: number, client: number): number;
  orrery_client_destroy(client: number): void;
  orrery_client_connect(client: number, token: number, size: number, nowNs: bigint): number;
  orrery_client_renew(client: number, token: number, size: number, nowNs: bigint): number;
  orrery_client_disconnect(client: number, nowNs: bigint): number;
  orrery_client_set_reconnect(client: number, seconds: number): number;
  orrery_client_set_control(client: number, channels: number, count: number): number;
  orrery_client_send(client: number, type: number, bytes: number, size: number, reliable: number): number;
  orrery_client_get_state(client: number): number;
  orrery_client_stream_wanted(client: number): number;
  orrery_client_stream_opened(client: number, nowNs: bigint): number;
  orrery_client_stream_closed(client: number, code: number, text: number, nowNs: bigint): number;
  orrery_client_stream_next(client: number, bytes: number, size: number): number;
  orrery_client_next_event(client: number, event: number): number;
  orrery_client_get_session(client: number, session: number): number;
  orrery_client_get_shape(client: number, shape: number, out: number): number;
  orrery_client_get_body(client: number, id: bigint, out: number): number;
  orrery_client_own_body(client: number): bigint;
  orrery_client_get_stats(client: number, stats: number): number;
  orrery_client_request_scene(client: number): number;
  orrery_client_scene(client: number, bytes: number, size: number): number;
  orrery_client_board_get(client: number, key: number, bytes: number, size: number): number;
  orrery_client_board_count(client: number): number;
  orrery_client_board_at(client: number, index: number, key: number, bytes: number, size: number): number;
  orrery_client_set_mode(client: number, mode: number): number;
  orrery_client_give_scene(client: number, bytes: number, size: number): number;
  orrery_client_set_mirror_events(client: number, kinds: number, leastHitImpulse: number): number;
  /** Only in a module with the simulation. */
  orrery_web_predict(client: number, inputDelayTicks: number, maxRollbackMs: number): number;
  orrery_web_measure_client(client: number, on: number): number;
  orrery_web_measure_player(player: number, on: number): number;
  orrery_client_get_mirror_stats(client: number, stats: number): number;
  orrery_client_contacts(client: number, body: bigint, contacts: number): number;
  orrery_client_joints(client: number, body: bigint, joints: number): number;
  orrery_joint_kind_name(kind: number): number;
  orrery_client_marks(client: number, marks: number): number;
  orrery_client_get_body_state(client: number, id: bigint, out: number): number;
  orrery_client_set_confirmed(client: number, on: number): number;
  orrery_client_sample_confirmed(client: number, samples: number): number;
  orrery_client_get_step_times(client: number, times: number): number;
  orrery_scene_open(bytes: number, size: number, scene: number): number;
  orrery_scene_close(scene: number): void;
  orrery_scene_shape_count(scene: number): number;
  orrery_scene_get_shape(scene: number, shape: number, out: number): number;
  orrery_scene_shape_triangles(scene: number, shape: number, triangles: number): number;
  orrery_scene_get_child(scene: number, shape: number, child: number, out: number): number;
  orrery_status_name(status: number): number;
  orrery_player_open(bytes: number, size: number, player: number, text: number, textSize: number): number;
  orrery_player_close(player: number): void;
  orrery_player_get_info(player: number, info: number): number;
  orrery_player_step(player: number, ticks: number): number;
  orrery_player_seek(player: number, tick: bigint, ticksAtMost: number): number;
  orrery_player_check(player: number, bytes: number): number;
  orrery_player_get_verdict(player: number, verdict: number): number;
  orrery_player_sample(player: number, part: number, samples: number): number;
  orrery_player_get_body(player: number, id: bigint, out: number): number;
  orrery_player_get_shape(player: number, shape: number, out: number): number;
  orrery_player_scene(player: number, bytes: number, size: number): number;
  orrery_player_contacts(player: number, body: bigint, contacts: number): number;
  orrery_player_joints(player: number, body: bigint, joints: number): number;
  orrery_player_marks(player: number, marks: number): number;
  orrery_player_get_body_state(player: number, id: bigint, out: number): number;
  orrery_player_get_step_times(player: number, times: number): number;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The module's memory. Its buffer is another one after it has grown: each access asks for the present one. */
export class Memory {
  readonly exports: Exports;
  #bytes = new Uint8Array();
  #view = new DataView(new ArrayBuffer(0));

  constructor(exports: Exports) {
    this.exports = exports;
  }

  get buffer(): ArrayBuffer {
    return this.exports.memory.buffer as ArrayBuffer;
  }
  get bytes(): Uint8Array {
    if (this.#bytes.buffer !== this.exports.memory.buffer) this.#bytes = new Uint8Array(this.exports.memory.buffer);
    return this.#bytes;
  }
  get view(): DataView {
    if (this.#view.buffer !== this.exports.memory.buffer) this.#view = new DataView(this.exports.memory.buffer);
    return this.#view;
  }

  allocate(size: number): number {
    const at = this.exports.malloc(size);
    if (at === 0) throw new Error(`orrery: no memory for ${size} bytes`);
    return at;
  }
  u32(at: number): number {
    return this.view.getUint32(at, true);
  }
  i32(at: number): number {
    return this.view.getInt32(at, true);
  }
  u64(at: number): bigint {
    return this.view.getBigUint64(at, true);
  }
  f32(at: number): number {
    return this.view.getFloat32(at, true);
  }
  f64(at: number): number {
    return this.view.getFloat64(at, true);
  }
  setU32(at: number, value: number): void {
    this.view.setUint32(at, value, true);
  }
  /** The text that the pointer at `at` points to. */
  text(at: number): string {
    const start = this.u32(at);
    return start === 0 ? '' : decoder.decode(this.bytes.slice(start, this.bytes.indexOf(0, start)));
  }
  /** A copy of the bytes that a pointer and a size tell. */
  copy(pointerAt: number, sizeAt: number): Uint8Array<ArrayBuffer> {
    const start = this.u32(pointerAt);
    return new Uint8Array(this.buffer.slice(start, start + this.u32(sizeAt)));
  }
  /** Calls `use` with a copy of `bytes` in the module's memory. */
  lend<T>(bytes: Uint8Array | string, use: (at: number, size: number) => T): T {
    const data = typeof bytes === 'string' ? encoder.encode(`${bytes}\0`) : bytes;
    const at = this.allocate(Math.max(data.length, 1));
    this.bytes.set(data, at);
    try {
      return use(at, data.length);
    } finally {
      this.exports.free(at);
    }
  }
}

async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) return WebAssembly.compile(source);
  const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
  if (isNode && !/^https?:/.test(String(source))) {
    const { readFile } = await import('node:fs/promises');
    const url = source instanceof URL || !source.startsWith('file:') ? source : new URL(source);
    return WebAssembly.compile(await readFile(url));
  }
  const answer = await fetch(source);
  if (!answer.ok) throw new Error(`orrery: ${source}: HTTP status ${answer.status}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

/** Loads a module and checks that its structs are those of layout.ts. `unpackFrame` is for replays: see unpack.ts. */
export async function load(source: WasmSource, unpackFrame?: typeof unpack): Promise<Memory> {
  const module = await compile(source);
  // Of WASI the module has what an assertion that fails needs to say so; of its own, a clock for rollbacks and steps.
  let memory: Memory | undefined;
  const write = (_file: number, parts: number, count: number, writtenAt: number): number => {
    if (!memory) return 8;
    let text = '', written = 0;
    for (let i = 0; i < count; ++i) {
      const start = memory.u32(parts + 8 * i), size = memory.u32(parts + 8 * i + 4);
      text += decoder.decode(memory.bytes.slice(start, start + size));
      written += size;
    }
    memory.setU32(writtenAt, written);
    console.error(text.trimEnd());
    return 0;
  };
  const unpackTo = (frame: number, size: number, out: number, outSize: number): number => {
    try {
      const { bytes } = memory!;
      return unpackFrame?.(bytes.subarray(frame, frame + size), bytes.subarray(out, out + outSize)) ? 1 : 0;
    } catch {
      return 0;
    }
  };
  const known: Record<string, (...args: any[]) => number> = { fd_write: write, now_ms: () => performance.now(),
    unpack: unpackTo };
  const imports: WebAssembly.Imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = known[name] ?? (() => 52);  // ENOSYS
  const instance = await WebAssembly.instantiate(module, imports);
  memory = new Memory(instance.exports as unknown as Exports);
  memory.exports._initialize();
  if (memory.exports.orrery_web_layout() >>> 0 !== LAYOUT)
    throw new Error('orrery: the module was built from another orrery/client.h than layout.ts: run `npm run build`');
  return memory;
}
