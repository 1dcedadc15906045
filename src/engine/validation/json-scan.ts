import { parseJson, pointerStep } from '../json-pointer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;

/** A number of 15 characters has at most 15 digits, which a double represents exactly (DBL_DIG of ISO C). */
export const SHORT_NUMBER = 15;
const SHORT_STRING = 32;
/** Exponents of at most two digits are far from the limits of a double. */
const SHORT_EXPONENT = 2;

/** Scans a UTF-8 text, which should be JSON, in one pass without parsing it. Stops at a value that is nested too deep: `tooDeepAt`. */
export function scanJson(bytes: Uint8Array, maxDepth: number) {
  const { length } = bytes;
  // Colons outside of strings: one for each name.
  let nameCount = 0;
  // The members of all objects and the items of all lists.
  let memberCount = 0;
  let depth = 0;
  let isEmpty = false;
  // Start and end of each number whose digits or exponent may exceed a double, alternating.
  let longNumbers: number[] | undefined;
  for (let index = 0; index < length; index += 1) {
    const byte = bytes[index] as number;
    // Whitespace.
    if (byte <= 0x20) continue;
    // Brackets differ from braces in one bit.
    const bracket = byte | 0x20;
    if (bracket === 0x7d) {
      depth -= 1;
      isEmpty = false;
      continue;
    }
    // The first token in a list or object starts a member; each comma precedes another one.
    if (isEmpty) memberCount += 1;
    isEmpty = false;
    if (bracket === 0x7b) {
      if (depth === maxDepth) return { nameCount, memberCount, tooDeepAt: index, longNumbers };
      depth += 1;
      isEmpty = true;
    } else if (byte === COMMA) memberCount += 1;
    else if (byte === COLON) nameCount += 1;
    else if (byte === QUOTE) index = endOfString(bytes, index);
    else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      const end = endOfNumber(bytes, index);
      if (end < 0) {
        longNumbers ??= [];
        longNumbers.push(index, -end);
      }
      index = Math.abs(end) - 1;
    }
  }
  return { nameCount, memberCount, tooDeepAt: undefined, longNumbers };
}

/** Returns the index after the number that starts at `start`; negated if a double may not represent the number. */
function endOfNumber(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  let exponentAt = 0;
  for (; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    // Digits, signs and the point.
    if (byte >= 0x2b && byte <= NINE && byte !== COMMA && byte !== 0x2f) continue;
    if ((byte | 0x20) !== LOWER_E) break;
    exponentAt = index;
  }
  const mantissaEnd = exponentAt === 0 ? index : exponentAt;
  if (mantissaEnd - start > SHORT_NUMBER) return -index;
  if (exponentAt === 0) return index;
  const hasSign = (bytes[exponentAt + 1] ?? ZERO) < ZERO;
  return index - exponentAt - (hasSign ? 2 : 1) > SHORT_EXPONENT ? -index : index;
}

/** Returns the index of the quote that closes the string that starts at `start`; the text's length if it is not closed. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  for (const end = index + SHORT_STRING; index < end; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) return index;
    if (byte === BACKSLASH) index += 1;
  }
  // The engine searches a long string several times as fast.
  for (let quote = bytes.indexOf(QUOTE, index); quote !== -1; quote = bytes.indexOf(QUOTE, index)) {
    let escapes = quote;
    while (escapes > index && bytes[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote;
    index = quote + 1;
  }
  return bytes.length;
}

/** True if the string that ends at `end` is a member's name. */
function isMemberName(bytes: Uint8Array, end: number): boolean {
  let index = end + 1;
  while (index < bytes.length && (bytes[index] as number) <= 0x20) index += 1;
  return bytes[index] === COLON;
}

/** Returns the JSON Pointer to the first duplicate name. In a truncated text without one, it points to the next value. */
export function duplicateNamePointer(bytes: Buffer): string {
  const open: { names: Set<string> | undefined; step: string | number }[] = [];
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    // Brackets differ from braces in one bit.
    const bracket = byte | 0x20;
    const top = open.at(-1);
    if (bracket === 0x7b) open.push(byte === bracket ? { names: new Set(), step: '' } : { names: undefined, step: 0 });
    else if (bracket === 0x7d) open.pop();
    else if (byte === COMMA && typeof top?.step === 'number') top.step += 1;
    else if (byte === QUOTE) {
      const end = endOfString(bytes, index);
      if (top?.names !== undefined && isMemberName(bytes, end)) {
        top.step = unquote(bytes.toString('utf8', index, end + 1));
        if (top.names.has(top.step)) break;
        top.names.add(top.step);
      }
      index = end;
    }
  }
  return open.map(({ step }) => pointerStep(step)).join('');
}

function unquote(token: string): string {
  return token.includes('\\') ? String(parseJson(token) ?? '') : token.slice(1, -1);
}
