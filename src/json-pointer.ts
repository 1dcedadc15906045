/**
 * A JSON Pointer (RFC 6901) as a function from a value to what it points at, or to `undefined`. Own members
 * only: a pointer never reaches what every object inherits.
 */
export function compilePointer(pointer: string): (value: unknown) => unknown {
  const names = namesOf(pointer);
  return (value) => {
    let found = value;
    for (const name of names) {
      if (found === null || typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
      found = (found as Record<string, unknown>)[name];
    }
    return found;
  };
}

/** The smallest value of objects in which a pointer finds this one. */
export function nestValue(pointer: string, value: unknown): unknown {
  return namesOf(pointer).reduceRight<unknown>((inside, name) => Object.fromEntries([[name, inside]]), value);
}

function namesOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** One name as a step of a JSON Pointer. */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

const MAX_CHARACTERS = 300;

/** A pointer as it is told: the names in it may be a client's own, and of any length. */
export function truncatePointer(pointer: string): string {
  return pointer.length > MAX_CHARACTERS ? `${pointer.slice(0, MAX_CHARACTERS)}…`.toWellFormed() : pointer;
}
