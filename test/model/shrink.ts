/** Puts a value at a path, or removes the member or item if the value is `undefined`. */
function withValue(root: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(root)) {
    const item = withValue(root[Number(step)], rest, value);
    return item === undefined ? root.toSpliced(Number(step), 1) : root.with(Number(step), item);
  }
  const members = Object.entries(root as object);
  return Object.fromEntries(
    members.flatMap(([name, member]) => {
      const changed = name === step ? withValue(member, rest, value) : member;
      return changed === undefined ? [] : [[name, changed]];
    }),
  );
}

/** Deletes keys, items and characters as long as the value remains interesting. Returns the smallest value that it finds. */
export async function shrink<T>(value: T, isInteresting: (smaller: T) => Promise<boolean>): Promise<T> {
  let smallest = value;
  let hasShrunk = true;
  const tryValue = async (path: readonly (string | number)[], part: unknown) => {
    const smaller = withValue(smallest, path, part) as T;
    if (!(await isInteresting(smaller))) return false;
    smallest = smaller;
    hasShrunk = true;
    return true;
  };
  const visit = async (path: readonly (string | number)[], part: unknown): Promise<void> => {
    if (typeof part === 'string') await shortenText(path, part);
    if (part === null || typeof part !== 'object') return;
    for (const [step, inner] of Object.entries(part).toReversed()) {
      const inside = [...path, Array.isArray(part) ? Number(step) : step];
      if (!(await tryValue(inside, undefined))) await visit(inside, inner);
    }
  };
  const shortenText = async (path: readonly (string | number)[], text: string) => {
    let left = text;
    for (let length = Math.ceil(left.length / 2); length > 0; length = length >> 1)
      for (let at = 0; at + length <= left.length; ) {
        const shorter = left.slice(0, at) + left.slice(at + length);
        if (await tryValue(path, shorter)) left = shorter;
        else at += length;
      }
  };
  while (hasShrunk) {
    hasShrunk = false;
    await visit([], smallest);
  }
  return smallest;
}
