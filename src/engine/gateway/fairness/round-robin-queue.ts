/** A queue with one line of items for each key. The keys take turns; the items of a key keep their order. */
export class RoundRobinQueue<Key, Item> {
  /** In the order of the turns: the key whose turn is next comes first. */
  readonly #lines = new Map<Key, Set<Item>>();
  /** The number of items. A plain member, because each request reads it. */
  size = 0;

  lengthOf(key: Key): number {
    return this.#lines.get(key)?.size ?? 0;
  }

  /** The oldest item of the next key. */
  get next(): Item | undefined {
    const [line = []] = this.#lines.values();
    const [item] = line;
    return item;
  }

  /** The items of the key with the most, the newest one last. */
  get longestLine(): ReadonlySet<Item> | undefined {
    let longest: Set<Item> | undefined;
    for (const line of this.#lines.values()) if (line.size > (longest?.size ?? 0)) longest = line;
    return longest;
  }

  enqueue(key: Key, item: Item): void {
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, new Set([item]));
    else line.add(item);
    this.size += 1;
  }

  /** Removes and returns the oldest item of the first eligible key. */
  dequeue(isEligible?: (key: Key) => boolean): Item | undefined {
    const next = nextInRotation(this.#lines, isEligible);
    if (next === undefined) return undefined;
    const [key, [item]] = next;
    this.remove(key, item as Item);
    return item;
  }

  /** Removes an item. Returns false if the queue does not have it. */
  remove(key: Key, item: Item): boolean {
    const line = this.#lines.get(key);
    if (line?.delete(item) !== true) return false;
    if (line.size === 0) this.#lines.delete(key);
    this.size -= 1;
    return true;
  }
}

/** Returns the first entry with an eligible key and moves it to the end. */
export function nextInRotation<Key, Line>(
  lines: Map<Key, Line>,
  isEligible: (key: Key) => boolean = () => true,
): [Key, Line] | undefined {
  for (const entry of lines) {
    const [key, line] = entry;
    if (!isEligible(key)) continue;
    lines.delete(key);
    lines.set(key, line);
    return entry;
  }
  return undefined;
}
