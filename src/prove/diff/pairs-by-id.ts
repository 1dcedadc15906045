/** Two values with the same id, one of each manifest. */
export interface PairById<Value> {
  readonly id: string;
  readonly old: Value;
  readonly next: Value;
}

/** Yields the values that both manifests have. */
export function* commonValues<Value>(
  old: ReadonlyMap<string, Value>,
  next: ReadonlyMap<string, Value>,
): Generator<PairById<Value>> {
  for (const [id, value] of next) {
    const before = old.get(id);
    if (before !== undefined) yield { id, old: before, next: value };
  }
}

/** Returns the new id of each old value that has only another id in the new manifest. */
export function renamedIds<Value>(
  old: ReadonlyMap<string, Value>,
  next: ReadonlyMap<string, Value>,
  effectOf: (value: Value) => string,
): ReadonlyMap<string, string> {
  const added = [...next].filter(([id]) => !old.has(id));
  const names = new Map<string, string>();
  for (const [id, value] of old) {
    if (next.has(id)) continue;
    const index = added.findIndex(([, other]) => effectOf(value) === effectOf(other));
    if (index >= 0) for (const [newId] of added.splice(index, 1)) names.set(id, newId);
  }
  return names;
}
