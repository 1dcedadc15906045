import { decodedTexts } from './decoded-texts.ts';

/** A run of the characters of a signed JWT: base64url and dots. */
const RUN = /[A-Za-z0-9_.-]+/g;
/** The length of the shortest header, a JSON object with `alg`. */
const MIN_HEADER = 12;
const [QUOTE, BACKSLASH, OPENING, CLOSING] = [0x22, 0x5c, 0x7b, 0x7d];

/**
 * Finds every signed JWT (RFC 7515 section 7.1) that a client could extract from a text: as written, after other characters of
 * base64url (`token_eyJ…`), and within every encoding that `decodedTexts` decodes. Takes linear time.
 */
export function findJwts(text: string): string[] {
  const jwts = new Set<string>();
  for (const layer of decodedTexts(text)) for (const [run] of layer.matchAll(RUN)) findInRun(run, jwts);
  return [...jwts];
}

function findInRun(run: string, jwts: Set<string>): void {
  const parts = run.split('.');
  for (let index = 0; index + 2 < parts.length; index += 1) {
    const [header = '', payload = '', signature = ''] = [parts[index], parts[index + 1], parts[index + 2]];
    if (payload === '' || signature === '') continue;
    for (const at of headerStarts(header)) jwts.add(`${header.slice(at)}.${payload}.${signature}`);
  }
}

/** Returns the offsets at which a JWT header that fills the rest of the part begins: at most one for each of the four alignments of base64. */
function headerStarts(part: string): number[] {
  const starts: number[] = [];
  for (let shift = 0; shift < 4 && part.length - shift >= MIN_HEADER; shift += 1) {
    const bytes = Buffer.from(shift === 0 ? part : part.slice(shift), 'base64url');
    const brace = startOfObject(bytes);
    if (brace < 0 || !hasAlgorithm(bytes.toString('utf8', brace))) continue;
    let first = brace;
    while (first > 0 && isSpace(bytes[first - 1])) first -= 1;
    // Three bytes are four characters. White space before the brace is a part of the header.
    const group = Math.ceil(first / 3);
    if (group * 3 <= brace) starts.push(shift + group * 4);
  }
  return starts;
}

/** Returns the index of the brace that opens the JSON object at the end of the bytes, or -1. Reads backwards. */
function startOfObject(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at >= 0 && isSpace(bytes[at])) at -= 1;
  if (bytes[at] !== CLOSING) return -1;
  let depth = 0;
  let isInString = false;
  for (; at >= 0; at -= 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      let before = at;
      while (before > 0 && bytes[before - 1] === BACKSLASH) before -= 1;
      if ((at - before) % 2 === 0) isInString = !isInString;
      at = before;
    } else if (!isInString && byte === CLOSING) {
      depth += 1;
    } else if (!isInString && byte === OPENING) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function hasAlgorithm(text: string): boolean {
  try {
    return Object.hasOwn(JSON.parse(text), 'alg');
  } catch {
    return false;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
