interface Entries<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  set(key: Key, value: Value): unknown;
}

/** Returns the value of a key, which is created the first time. `Map.getOrInsertComputed` does the same, but Node 22 lacks it. */
export function getOrCreate<Key, Value>(entries: Entries<Key, Value>, key: Key, create: (key: Key) => Value): Value {
  const found = entries.get(key);
  if (found !== undefined || entries.has(key)) return found as Value;
  const created = create(key);
  entries.set(key, created);
  return created;
}
