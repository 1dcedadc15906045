import { parseJson } from '../json-pointer.ts';
import { isMap } from '../schema/schema-walk.ts';

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
  const header = parseJson(text);
  return isMap(header) && Object.hasOwn(header, 'alg');
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** Encodings may be nested: JSON in a URL in a cookie. */
const MAX_ROUNDS = 4;
/** The escapes of URLs, of JSON and JavaScript, and of HTML. */
const ESCAPES =
  /%([0-9A-F]{2})|%u([0-9A-F]{4})|\\u\{0{0,8}([0-9A-F]{1,4})\}|\\u([0-9A-F]{4})|\\x([0-9A-F]{2})|\\([0-3][0-7]{2})|\\([^ux])|&#x0{0,8}([0-9A-F]{1,4});?|&#0{0,8}(\d{1,5});?|&(period|lowbar|underbar|amp);/gi;
const NAMED: Readonly<Record<string, string>> = { period: '.', lowbar: '_', underbar: '_', amp: '&' };
/** After a backslash these letters are white space and control characters, which end a token. */
const SPACES = new Map(Object.entries({ b: ' ', f: ' ', n: '\n', r: '\r', t: ' ', v: ' ' }));
/** A line break within base64: mail and some libraries break it after 60 to 76 characters. */
const LINE_BREAK = /(?<=[A-Za-z0-9+/_-]{40})\r?\n(?=[A-Za-z0-9+/_-])/g;
/** Base64 in either alphabet that is long enough to hold a token. */
const BASE64 = /[A-Za-z0-9+/_-]{80,}/g;
const TWO_DOTS = /[A-Za-z0-9_-]\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]/;

/**
 * Yields a text, and the texts that a client can decode from it: percent-encoding, the escapes of JSON, JavaScript and HTML in
 * any mixture and up to four levels deep, UTF-16 as well as UTF-8, and one level of base64, with or without line breaks. Takes
 * linear time.
 */
function* decodedTexts(text: string): Generator<string> {
  let layer = text.includes('\0') ? text.replaceAll('\0', '') : text;
  for (let round = 0; round <= MAX_ROUNDS; round += 1) {
    yield layer;
    yield* decodedBase64(layer);
    const next = withoutEscapes(layer);
    if (next === layer) return;
    layer = next;
  }
}

function withoutEscapes(text: string): string {
  return text.replaceAll(ESCAPES, (_, percent, old, braced, unicode, hex, octal, plain, entityHex, entity, named) => {
    if (plain !== undefined) return SPACES.get(plain) ?? plain;
    if (named !== undefined) return NAMED[named.toLowerCase()] ?? '';
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
    const digits = percent ?? old ?? braced ?? unicode ?? hex ?? entityHex;
    return String.fromCharCode(entity === undefined ? parseInt(digits, 16) : Number(entity));
  });
}

/** Decodes at each of the four offsets at which a group of four characters may begin. */
function* decodedBase64(text: string): Generator<string> {
  for (const [run] of text.replaceAll(LINE_BREAK, '').matchAll(BASE64)) {
    for (let shift = 0; shift < 4; shift += 1) {
      const decoded = Buffer.from(shift === 0 ? run : run.slice(shift), 'base64')
        .toString('latin1')
        .replaceAll('\0', '');
      // Other decoded bytes rarely look like this, so most of them are not searched.
      if (TWO_DOTS.test(decoded)) yield decoded;
    }
  }
}
