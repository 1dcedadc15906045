/** Returns a body with at most this number of bytes. */
export type Make = (bytes: number) => string;

/** The most expensive JSON bodies for a parser, by attack. */
export const HOSTILE: Readonly<Record<string, Make>> = {
  'lists in lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'lists that never end': (bytes) => '['.repeat(bytes),
  'objects in objects': (bytes) => `${'{"":'.repeat(bytes / 5)}1${'}'.repeat(bytes / 5)}`,
  'many members': (bytes) => object(bytes, (index) => `"${index.toString(36)}":0`),
  'many members, as many as pass': (bytes) => object(bytes, (index) => `"${index.toString(36)}":0`, 99_000),
  'numbers as names': (bytes) => object(bytes, (index) => `"${index}":0`, 99_000),
  'one name many times': (bytes) => object(bytes, () => '"a":0'),
  'one name twice, a long one': (bytes) => `{"${'a'.repeat(bytes / 2 - 9)}":0,"${'a'.repeat(bytes / 2 - 9)}":0}`,
  '__proto__ many times': (bytes) => object(bytes, () => '"__proto__":0'),
  'empty objects': (bytes) => list(bytes, '{}'),
  'empty objects, as many as pass': (bytes) => list(bytes, '{}', 99_000),
  'objects of one member, as many as pass': (bytes) => list(bytes, '{"a":{"b":1}}', 33_000),
  'many numbers': (bytes) => list(bytes, '0'),
  'long numbers, as many as pass': (bytes) => list(bytes, `-1.${'2'.repeat(95)}e-300`, 99_000),
  'a number of all digits': (bytes) => '1'.repeat(bytes),
  'many strings, as many as pass': (bytes) => list(bytes, `"${'a'.repeat(100)}"`, 99_000),
  'one string': (bytes) => `"${'a'.repeat(bytes - 2)}"`,
  'one string of escapes': (bytes) => `"${'\\u0061'.repeat((bytes - 2) / 6)}"`,
  'one string of escaped quotes': (bytes) => `"${'\\"'.repeat((bytes - 2) / 2)}"`,
  'one string, a character beyond Latin-1': (bytes) => `"${'a'.repeat(bytes - 5)}€"`,
  'one string that never ends': (bytes) => `"${'a'.repeat(bytes - 1)}`,
  'white space': (bytes) => `${' '.repeat(bytes - 2)}{}`,
  'white space among members': (bytes) => list(bytes, `${'\n'.repeat(100)}0`, 99_000),
  colons: (bytes) => ':'.repeat(bytes),
};

function list(bytes: number, item: string, most = Number.POSITIVE_INFINITY): string {
  const count = Math.min(most, Math.floor((bytes - 2) / (item.length + 1)));
  return padded(`[${Array(count).fill(item).join(',')}]`, bytes);
}

function object(bytes: number, member: (index: number) => string, most = Number.POSITIVE_INFINITY): string {
  const members: string[] = [];
  let size = 2;
  for (let index = 0; index < most; index += 1) {
    const text = member(index);
    size += text.length + 1;
    if (size > bytes) break;
    members.push(text);
  }
  return padded(`{${members.join(',')}}`, bytes);
}

function padded(text: string, bytes: number): string {
  return text + ' '.repeat(bytes - text.length);
}
