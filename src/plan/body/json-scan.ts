import { pointerStep } from '../../json-pointer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;

/** What there is in a text that may be JSON. Of what is none the figures mean nothing. */
export interface JsonScan {
  /** Colons outside of strings: one for each name. */
  readonly nameCount: number;
  /** The members of all objects and the items of all lists. */
  readonly memberCount: number;
  /** Where the first list or object begins that is nested too deep; there the scan ends. */
  readonly tooDeepAt: number | undefined;
  /** Where the long strings that are no names begin and end, quotes included, in turn. */
  readonly longStrings: readonly number[] | undefined;
  /** Start and end of each number with so many digits, or such an exponent, that a double may not hold it. */
  readonly longNumbers: readonly number[] | undefined;
}

const LONG_BYTES = 16_384;
/** A number of so many characters has at most as many digits, and a double holds those (DBL_DIG of ISO C). */
const SHORT_NUMBER = 15;
/** The exponent of every such number is far from the limits of a double. */
const SHORT_EXPONENT = 2;

/** Looks at a text in UTF-8 without reading it: in one pass, and without memory. */
export function scanJson(bytes: Uint8Array, maxDepth: number): JsonScan {
  const { length } = bytes;
  let nameCount = 0;
  let memberCount = 0;
  let depth = 0;
  let isEmpty = false;
  let longStrings: number[] | undefined;
  let longNumbers: number[] | undefined;
  for (let index = 0; index < length; index += 1) {
    const byte = bytes[index] as number;
    // White space.
    if (byte <= 0x20) continue;
    // Brackets differ from braces in one bit.
    const opened = byte | 0x20;
    if (opened === 0x7d) {
      depth -= 1;
      isEmpty = false;
      continue;
    }
    // The first thing in a list or object is a member; each comma stands before another one.
    if (isEmpty) memberCount += 1;
    isEmpty = false;
    if (opened === 0x7b) {
      if (depth === maxDepth) return { nameCount, memberCount, tooDeepAt: index, longStrings, longNumbers };
      depth += 1;
      isEmpty = true;
    } else if (byte === COMMA) memberCount += 1;
    else if (byte === COLON) nameCount += 1;
    else if (byte === QUOTE) {
      const end = endOfString(bytes, index);
      if (end - index > LONG_BYTES && end < length && !isMemberName(bytes, end)) {
        longStrings ??= [];
        longStrings.push(index, end + 1);
      }
      index = end;
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      const end = endOfNumber(bytes, index);
      if (end < 0) {
        longNumbers ??= [];
        longNumbers.push(index, -end);
      }
      index = Math.abs(end) - 1;
    }
  }
  return { nameCount, memberCount, tooDeepAt: undefined, longStrings, longNumbers };
}

/** The index behind the number that begins at `start`; negative where a double may not hold the number. */
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

/** The index of the quote that ends the string begun at `start`; the length when none does. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  for (; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) return index;
    if (byte === BACKSLASH) index += 1;
  }
  return index;
}

export function isMemberName(bytes: Uint8Array, end: number): boolean {
  let index = end + 1;
  while (index < bytes.length && (bytes[index] as number) <= 0x20) index += 1;
  return bytes[index] === COLON;
}

const COLON_NEXT = /[\t\n\r ]*:/y;

/**
 * The JSON Pointer to the first name that stands in its object for the second time. In a text that was cut off: to
 * what would come next. It may be no JSON at all.
 */
export function duplicateNamePointer(text: string): string {
  const open: { names: Set<string> | undefined; step: string | number }[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    const top = open.at(-1);
    if (character === '{') open.push({ names: new Set(), step: '' });
    else if (character === '[') open.push({ names: undefined, step: 0 });
    else if (character === '}' || character === ']') open.pop();
    else if (character === ',' && typeof top?.step === 'number') top.step += 1;
    else if (character === '"') {
      const end = endOfText(text, index);
      COLON_NEXT.lastIndex = end + 1;
      if (top?.names !== undefined && COLON_NEXT.test(text)) {
        top.step = unquoted(text.slice(index, end + 1));
        if (top.names.has(top.step)) break;
        top.names.add(top.step);
      }
      index = end;
    }
  }
  return open.map(({ step }) => pointerStep(step)).join('');
}

function endOfText(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}

function unquoted(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return '';
  }
}
