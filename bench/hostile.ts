/** Returns a body of at most this size. */
export type CreateBody = (bytes: number) => string;

/** JSON bodies that are expensive to read, by the reason. */
export const HOSTILE: Readonly<Record<string, CreateBody>> = {
  'lists in lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'lists that are never closed': (bytes) => '['.repeat(bytes),
  'objects in objects': (bytes) => `${'{"":'.repeat(bytes / 5)}1${'}'.repeat(bytes / 5)}`,
  'many members': (bytes) => object(bytes, (index) => `"${index.toString(36)}":0`),
  'many members, up to the limit': (bytes) => object(bytes, (index) => `"${index.toString(36)}":0`, 99_000),
  'numbers as names': (bytes) => object(bytes, (index) => `"${index}":0`, 99_000),
  'one name, many times': (bytes) => object(bytes, () => '"a":0'),
  'one long name, twice': (bytes) => `{"${'a'.repeat(bytes / 2 - 9)}":0,"${'a'.repeat(bytes / 2 - 9)}":0}`,
  '__proto__, many times': (bytes) => object(bytes, () => '"__proto__":0'),
  'empty objects': (bytes) => list(bytes, '{}'),
  'empty objects, up to the limit': (bytes) => list(bytes, '{}', 99_000),
  'objects of one member, up to the limit': (bytes) => list(bytes, '{"a":{"b":1}}', 33_000),
  'many numbers': (bytes) => list(bytes, '0'),
  'long numbers, up to the limit': (bytes) => list(bytes, `-1.${'2'.repeat(95)}e-300`, 99_000),
  'one long number': (bytes) => '1'.repeat(bytes),
  'many strings, up to the limit': (bytes) => list(bytes, `"${'a'.repeat(100)}"`, 99_000),
  'one string': (bytes) => `"${'a'.repeat(bytes - 2)}"`,
  'one string of escapes': (bytes) => `"${'\\u0061'.repeat((bytes - 2) / 6)}"`,
  'one string of escaped quotes': (bytes) => `"${'\\"'.repeat((bytes - 2) / 2)}"`,
  'one string with a character beyond Latin-1': (bytes) => `"${'a'.repeat(bytes - 5)}€"`,
  'one string that is never closed': (bytes) => `"${'a'.repeat(bytes - 1)}`,
  'white space': (bytes) => `${' '.repeat(bytes - 2)}{}`,
  'white space among members': (bytes) => list(bytes, `${'\n'.repeat(100)}0`, 99_000),
  colons: (bytes) => ':'.repeat(bytes),
};

function list(bytes: number, item: string, limit = Number.POSITIVE_INFINITY): string {
  const count = Math.min(limit, Math.floor((bytes - 2) / (item.length + 1)));
  return pad(`[${Array(count).fill(item).join(',')}]`, bytes);
}

function object(bytes: number, member: (index: number) => string, limit = Number.POSITIVE_INFINITY): string {
  const members: string[] = [];
  let size = 2;
  for (let index = 0; index < limit; index += 1) {
    const text = member(index);
    size += text.length + 1;
    if (size > bytes) break;
    members.push(text);
  }
  return pad(`{${members.join(',')}}`, bytes);
}

function pad(text: string, bytes: number): string {
  return text + ' '.repeat(bytes - text.length);
}
