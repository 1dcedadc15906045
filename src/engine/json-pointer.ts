import { attempt } from './attempt.ts';

/** Compiles a JSON Pointer (RFC 6901) to a function that returns its value or `undefined`. It reads only own members, not `__proto__`. */
export function compilePointer(pointer: string): (value: unknown) => unknown {
  const path = parsePointer(pointer);
  return (value) => valueAt(value, path);
}

/** Returns the value at a path; `undefined` if there is none. */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** True if a path leads to the value at another path, or into it. */
export function isWithin(path: readonly (string | number)[], outer: readonly (string | number)[]): boolean {
  return outer.every((step, index) => String(step) === String(path[index]));
}

/** Returns the smallest object that has the value at the pointer. */
export function nestValue(pointer: string, value: unknown): unknown {
  return parsePointer(pointer).reduceRight<unknown>((inner, name) => Object.fromEntries([[name, inner]]), value);
}

/** Returns the unescaped names of a pointer: `/a~1b/0` is `['a/b', '0']`. */
export function parsePointer(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapePointerStep);
}

/** Returns the pointer of a path. */
export function formatPointer(path: readonly (string | number)[]): string {
  return path.map(pointerStep).join('');
}

/** Returns a name as one step of a pointer, with its slash. */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the name of a step without its slash. */
export function unescapePointerStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Parses JSON. Returns `undefined` for another text: the message of `JSON.parse` would quote it. */
export function parseJson(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

const MAX_CHARACTERS = 300;

/** Shortens a pointer for a message, because a client may choose names of any length. */
export function truncatePointer(pointer: string): string {
  return pointer.length > MAX_CHARACTERS ? `${pointer.slice(0, MAX_CHARACTERS)}…`.toWellFormed() : pointer;
}
