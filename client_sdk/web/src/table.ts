// Structs of arrays that the module fills: the arrays are views into its memory, for use at once, and grow as they must.
import * as C from './layout.js';
import type { Memory } from './wasm.js';

type Elements = { u8: Uint8Array; u32: Uint32Array; f32: Float32Array; u64: BigUint64Array };
const BYTES = { u8: 1, u32: 4, f32: 4, u64: 8 };
const ELEMENTS = { u8: Uint8Array, u32: Uint32Array, f32: Float32Array, u64: BigUint64Array };
/** An array of a struct: its name here, the place of its pointer, the type, and how many there are of each entry. */
type Column = [name: string, pointerAt: number, type: keyof Elements, each: number];
interface Layout { sizeof: number; capacity: number; count: number; available: number }

/** A struct of arrays in the module's memory, which grow as they must. */
export class Table<T extends { count: number }> {
  readonly #memory: Memory;
  readonly #layout: Layout;
  readonly #columns: Column[];
  /** Of the struct. */
  readonly at: number;
  #arrays = 0;
  #capacity = 0;
  #views: T | null = null;

  /** `columns`: those of 8 bytes first. */
  constructor(memory: Memory, layout: Layout, columns: Column[]) {
    this.#memory = memory;
    this.#layout = layout;
    this.#columns = columns;
    this.at = memory.allocate(layout.sizeof);
    memory.bytes.fill(0, this.at, this.at + layout.sizeof);
  }

  /** Null: `call` gives another status than OK. */
  fill(call: (at: number) => number): T | null {
    const m = this.#memory, { at } = this;
    m.setU32(at, this.#layout.sizeof);
    let status = call(at);
    if (status === C.TOO_SMALL) {
      this.#grow(m.u32(at + this.#layout.available));
      status = call(at);
    }
    if (status !== C.OK) return null;
    if (!this.#views || (this.#views as any)[this.#columns[0]![0]].buffer !== m.exports.memory.buffer) this.#view();
    this.#views!.count = m.u32(at + this.#layout.count);
    return this.#views;
  }

  #grow(wanted: number): void {
    this.#memory.exports.free(this.#arrays);
    this.#capacity = wanted + (wanted >> 1);
    this.#arrays = this.#memory.allocate(this.#capacity * this.#columns.reduce((sum, [, , type, each]) => sum + BYTES[type] * each, 0));
    this.#memory.setU32(this.at + this.#layout.capacity, this.#capacity);
    this.#place((pointerAt, array) => this.#memory.setU32(this.at + pointerAt, array));
    this.#views = null;
  }
  #place(each: (pointerAt: number, array: number, column: Column) => void): void {
    let array = this.#arrays;
    for (const column of this.#columns) {
      each(column[1], array, column);
      array += this.#capacity * BYTES[column[2]] * column[3];
    }
  }
  #view(): void {
    const views: any = { count: 0 };
    this.#place((_, array, [name, , type, each]) => {
      views[name] = new ELEMENTS[type](this.#memory.buffer, array, this.#capacity * each);
    });
    this.#views = views;
  }
}
