/** Items that wait, in one line for each key. Keys take turns; the items of one key keep their order. */
export class RoundRobinQueue<Key, Item> {
  /** The key whose turn is next comes first. */
  readonly #lines = new Map<Key, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  lengthOf(key: Key): number {
    return this.#lines.get(key)?.size ?? 0;
  }

  /** Returns the item that waits longest of the key whose turn is next. */
  get next(): Item | undefined {
    const [line = []] = this.#lines.values();
    const [item] = line;
    return item;
  }

  /** Returns the item of a key that came last. */
  lastOf(key: Key): Item | undefined {
    return [...(this.#lines.get(key) ?? [])].at(-1);
  }

  enqueue(key: Key, item: Item): void {
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, new Set([item]));
    else line.add(item);
    this.#size += 1;
  }

  /** Removes and returns the next item of the first key that may have a turn. */
  dequeue(mayGo?: (key: Key) => boolean): Item | undefined {
    const turn = nextInRotation(this.#lines, mayGo);
    if (turn === undefined) return undefined;
    const [key, [item]] = turn;
    this.remove(key, item as Item);
    return item;
  }

  /** Returns false if the item does not wait. */
  remove(key: Key, item: Item): boolean {
    const line = this.#lines.get(key);
    if (line?.delete(item) !== true) return false;
    if (line.size === 0) this.#lines.delete(key);
    this.#size -= 1;
    return true;
  }
}

/** Returns the first entry whose key may have a turn, and moves it behind the others. */
export function nextInRotation<Key, Line>(
  lines: Map<Key, Line>,
  mayGo: (key: Key) => boolean = () => true,
): [Key, Line] | undefined {
  for (const entry of lines) {
    const [key, line] = entry;
    if (!mayGo(key)) continue;
    lines.delete(key);
    lines.set(key, line);
    return entry;
  }
  return undefined;
}
