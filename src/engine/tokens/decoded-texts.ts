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
export function* decodedTexts(text: string): Generator<string> {
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
