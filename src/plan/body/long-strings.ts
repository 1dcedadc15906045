import { randomUUID } from 'node:crypto';

/** JSON from which the long strings were taken out, each for a short one that stands in its place. */
export interface ShortenedJson {
  readonly text: string;
  /** The string that one of the parsed text stands for: itself, most of the time. */
  readonly restore: (short: string) => string;
}

/**
 * Takes strings out of JSON, so that it can be parsed without the parser's copy of them beside the text they came
 * from: that is most of the memory that a mail with attachments takes. Throws where a string is none.
 *
 * @param places where they begin and end, quotes included, in turn
 */
export function extractLongStrings(bytes: Buffer, places: readonly number[]): ShortenedJson {
  // Nobody who writes a body can know it.
  const mark = randomUUID();
  const strings: string[] = [];
  let text = '';
  let at = 0;
  for (let index = 0; index < places.length; index += 2) {
    const [start, end] = places.slice(index, index + 2) as [number, number];
    text += `${bytes.toString('utf8', at, start)}"${mark}${strings.length}"`;
    strings.push(unescaped(bytes.toString('utf8', start + 1, end - 1)));
    at = end;
  }
  text += bytes.toString('utf8', at);
  const restore = (short: string) =>
    short.startsWith(mark) ? (strings[Number(short.slice(mark.length))] ?? short) : short;
  return { text, restore };
}

/** What the engine's parser would have to look at: an escape, or what must be escaped. */
const SPECIAL = /[\\\0-\x1f]/;

function unescaped(inside: string): string {
  return SPECIAL.test(inside) ? JSON.parse(`"${inside}"`) : inside;
}
