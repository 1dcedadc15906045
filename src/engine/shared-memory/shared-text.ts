import type { BufferParts } from './buffer-parts.ts';
import { SharedLock } from './shared-lock.ts';

const MAX_LENGTH = 120;

export function textMemory(parts: BufferParts) {
  // The lock and the length, then the codes of the characters.
  return { cells: parts.int32(2), codes: parts.uint8(MAX_LENGTH) };
}

type TextMemory = ReturnType<typeof textMemory>;

/** A short ASCII text that all workers read and write, such as an error code. Not for the hot path. A longer text is cut off. */
export class SharedText {
  readonly #memory: TextMemory;
  readonly #lock: SharedLock;

  constructor(memory: TextMemory) {
    this.#memory = memory;
    this.#lock = new SharedLock(memory.cells);
  }

  get value(): string {
    return this.#lock.run(() => this.#read());
  }

  /** Changes the text. Returns false if it was the same. */
  set(text: string): boolean {
    const value = text.slice(0, MAX_LENGTH);
    return this.#lock.run(() => {
      if (this.#read() === value) return false;
      const { cells, codes } = this.#memory;
      for (let index = 0; index < value.length; index += 1) codes[index] = value.charCodeAt(index);
      cells[1] = value.length;
      return true;
    });
  }

  #read(): string {
    const { cells, codes } = this.#memory;
    return String.fromCharCode(...codes.subarray(0, cells[1]));
  }
}
