import { randomUUID } from 'node:crypto';

/** JSON whose long strings are replaced by short placeholders. */
export interface ShortenedJson {
  readonly text: string;
  /** Returns the original of a placeholder, and any other string unchanged. */
  readonly restore: (text: string) => string;
}

/**
 * Replaces long strings in JSON, so that the parser does not hold a copy of them beside the text: these copies are most
 * of the memory of a mail with attachments. Throws if a string is invalid.
 *
 * @param ranges start and end of each string, quotes included, alternating
 */
export function extractLongStrings(bytes: Buffer, ranges: readonly number[]): ShortenedJson {
  // Random, so that no client can guess it.
  const prefix = randomUUID();
  const strings: string[] = [];
  let text = '';
  let at = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    const [start, end] = ranges.slice(index, index + 2) as [number, number];
    text += `${bytes.toString('utf8', at, start)}"${prefix}${strings.length}"`;
    strings.push(parseString(bytes.toString('utf8', start + 1, end - 1)));
    at = end;
  }
  text += bytes.toString('utf8', at);
  const restore = (text: string) =>
    text.startsWith(prefix) ? (strings[Number(text.slice(prefix.length))] ?? text) : text;
  return { text, restore };
}

/** Characters that need the engine's parser: escapes, and characters that must be escaped. */
const SPECIAL = /[\\\0-\x1f]/;

function parseString(inside: string): string {
  return SPECIAL.test(inside) ? JSON.parse(`"${inside}"`) : inside;
}
