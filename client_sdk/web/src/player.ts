// A player of recordings (files that end in .orr): steps the recorded world in the WebAssembly module and verifies it,
// hash by hash, without a server.
import * as C from './layout.js';
import { Look, type BodyState, type Contacts, type Joints, type Marks, type StepTimes } from './look.js';
import { unpack } from './unpack.js';
import { readBody, readShape, SampleArrays, type Body, type BodyId, type Samples, type Shape } from './views.js';
import { load, type Exports, type Memory, type WasmSource } from './wasm.js';

export type { BodyState, Contacts, Joints, Marks, StepTimes } from './look.js';
export type { Body, BodyId, Samples, Shape } from './views.js';
export type { WasmSource } from './wasm.js';

/** What each means is said at orrery_player_info of orrery/client.h. */
export interface PlayerInfo {
  tick: number; firstTick: number; lastTick: number; tickRateHz: number; engineVersion: number; programVersion: number;
  /** Whether the recording was closed at its end. */
  complete: boolean;
  keyframes: number; bytes: number; startUnixS: number; sceneHash: bigint; shapeCount: number; bodyCount: number;
  sceneName: string; room: string;
}

/** In the order of constants.VERDICT_*. */
const VERDICTS = ['sameSoFar', 'same', 'endMissing', 'differs', 'damaged'] as const;
export interface Verdict {
  /** 'same' and 'endMissing': all ticks and keyframes are. */
  state: (typeof VERDICTS)[number];
  ticksCompared: number; ticksEqual: number; keyframesCompared: number;
  /** The first difference that was found. */
  difference: { tick: number; part: string; recorded: bigint; found: bigint } | null;
  /** The byte of the file: damaged there, or cut off there. */
  brokenAt: number | null;
  /** By check(). */
  bytesChecked: number;
  /** Says it in English; '' if there is nothing to say. */
  text: string;
}

/** The recording cannot be played: the text says why. */
export class RecordingError extends Error {}

const SCRATCH_BYTES = 256;  // more than any struct of the header
const TEXT_BYTES = 1024;

export class Player {
  readonly #memory: Memory;
  readonly #c: Exports;
  readonly #file: number;
  readonly #struct: number;
  readonly #samples: SampleArrays;
  readonly #fillSamples = (at: number) => this.#c.orrery_player_sample(this.#player, this.#part, at);
  #part = 1;
  readonly #look: Look;
  #player: number;  // 0 once closed: then every function of the module does nothing

  private constructor(memory: Memory, file: number, player: number) {
    this.#memory = memory;
    this.#c = memory.exports;
    this.#file = file;
    this.#player = player;
    this.#struct = memory.allocate(SCRATCH_BYTES);
    this.#samples = new SampleArrays(memory);
    this.#look = new Look(memory, {
      contacts: (body, out) => this.#c.orrery_player_contacts(this.#player, body, out),
      joints: (body, out) => this.#c.orrery_player_joints(this.#player, body, out),
      marks: (out) => this.#c.orrery_player_marks(this.#player, out),
      bodyState: (id, out) => this.#c.orrery_player_get_body_state(this.#player, id, out),
      stepTimes: (out) => this.#c.orrery_player_get_step_times(this.#player, out),
    });
  }

  /** Opens a recording, before its first tick. `wasm`: the module with the simulation; if it is left out, the one
   * beside this file. Rejects with a RecordingError. */
  static async open(bytes: Uint8Array, wasm?: WasmSource): Promise<Player> {
    const memory = await load(wasm ?? new URL('./orrery_client_sim.wasm', import.meta.url), unpack);
    const file = memory.allocate(Math.max(bytes.length, 1));
    memory.bytes.set(bytes, file);
    const out = memory.allocate(4), text = memory.allocate(TEXT_BYTES);
    const status = memory.exports.orrery_player_open(file, bytes.length, out, text, TEXT_BYTES);
    const player = memory.u32(out);
    if (status === C.OK) return new Player(memory, file, player);
    memory.setU32(out, text);
    const reason = memory.text(out);
    memory.setU32(out, memory.exports.orrery_status_name(status));
    throw new RecordingError(reason || `orrery: ${memory.text(out)}`);
  }

  info(): PlayerInfo {
    const L = C.PlayerInfoLayout, m = this.#memory, at = this.#sized(L.sizeof);
    this.#check(this.#c.orrery_player_get_info(this.#player, at));
    const number = (offset: number) => Number(m.u64(at + offset));
    return {
      tick: number(L.tick), firstTick: number(L.first_tick), lastTick: number(L.last_tick),
      tickRateHz: m.f32(at + L.tick_rate_hz), engineVersion: m.u32(at + L.engine_version),
      programVersion: m.u32(at + L.program_version), complete: m.i32(at + L.complete) !== 0,
      keyframes: m.u32(at + L.keyframes), bytes: number(L.bytes), startUnixS: number(L.start_unix_s),
      sceneHash: m.u64(at + L.scene_hash), shapeCount: m.u32(at + L.shape_count), bodyCount: m.u32(at + L.body_count),
      sceneName: m.text(at + L.scene_name), room: m.text(at + L.room),
    };
  }

  /** Steps by so many ticks. False: the last tick was reached before. */
  step(ticks = 1): boolean {
    return this.#check(this.#c.orrery_player_step(this.#player, ticks)) === C.OK;
  }
  /** Goes to a tick, or to the last one, by at most `ticksAtMost` steps. False: it is on its way; call it again. */
  seek(tick: number, ticksAtMost = 0xffff_ffff): boolean {
    const to = BigInt(Math.max(0, Math.floor(tick)));
    return this.#check(this.#c.orrery_player_seek(this.#player, to, ticksAtMost)) === C.OK;
  }
  /** Looks for damage ahead, in about so many more bytes of the file, without stepping. False: all was read. */
  check(bytes: number): boolean {
    return this.#check(this.#c.orrery_player_check(this.#player, bytes)) === C.OK;
  }
  verdict(): Verdict {
    const L = C.PlayerVerdictLayout, m = this.#memory, at = this.#sized(L.sizeof);
    this.#check(this.#c.orrery_player_get_verdict(this.#player, at));
    const number = (offset: number) => Number(m.u64(at + offset));
    const state = VERDICTS[m.i32(at + L.state)]!, tick = number(L.differs_at), text = m.text(at + L.text);
    return {
      state, ticksCompared: number(L.ticks_compared), ticksEqual: number(L.ticks_equal),
      keyframesCompared: m.u32(at + L.keyframes_compared),
      difference: m.text(at + L.part) === '' ? null : { tick, part: m.text(at + L.part),
        recorded: m.u64(at + L.recorded_hash), found: m.u64(at + L.found_hash) },
      brokenAt: state === 'damaged' || number(L.broken_at) > 0 ? number(L.broken_at) : null,
      bytesChecked: number(L.bytes_checked), text,
    };
  }

  /** All bodies, `part` of the way from the tick before to the present one. The same object each time. */
  sample(part = 1): Samples | null {
    this.#part = part;
    return this.#samples.read(this.#fillSamples);
  }
  body(id: BodyId): Body | null {
    const at = this.#sized(C.BodyLayout.sizeof);
    return this.#c.orrery_player_get_body(this.#player, id, at) === C.OK ? readBody(this.#memory, at) : null;
  }
  shape(index: number): Shape | null {
    const at = this.#sized(C.ShapeLayout.sizeof);
    return this.#c.orrery_player_get_shape(this.#player, index, at) === C.OK ? readShape(this.#memory, at) : null;
  }
  /** What there is to see at the present tick: as of a client that is a mirror. */
  contacts(body: BodyId = C.NO_BODY): Contacts | null {
    return this.#look.contacts(body);
  }
  joints(body: BodyId = C.NO_BODY): Joints | null {
    return this.#look.joints(body);
  }
  jointKind(kind: number): string {
    return this.#look.jointKind(kind);
  }
  marks(): Marks | null {
    return this.#look.marks();
  }
  bodyState(id: BodyId): BodyState | null {
    return this.#look.bodyState(id);
  }
  /** Whether steps are measured for stepTimes(), from now on. */
  measureSteps(on: boolean): void {
    this.#check(this.#c.orrery_web_measure_player(this.#player, on ? 1 : 0));
  }
  /** Null: they are not measured. */
  stepTimes(): StepTimes | null {
    return this.#look.stepTimes();
  }
  /** A copy of the recorded scene, in its binary form. */
  sceneBytes(): Uint8Array<ArrayBuffer> {
    this.#check(this.#c.orrery_player_scene(this.#player, this.#struct, this.#struct + 4));
    return this.#memory.copy(this.#struct, this.#struct + 4);
  }

  /** The player cannot be used again. */
  close(): void {
    this.#c.orrery_player_close(this.#player);
    if (this.#player !== 0) this.#c.free(this.#file);
    this.#player = 0;  // the rest of the memory goes with the module's instance
  }

  #check(status: number): number {
    if (status >= 0) return status;
    this.#memory.setU32(this.#struct, this.#c.orrery_status_name(status));
    throw new Error(`orrery: ${this.#memory.text(this.#struct)}`);
  }
  #sized(size: number): number {
    this.#memory.setU32(this.#struct, size);
    return this.#struct;
  }
}
