import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { pointerStep } from '../json-pointer.ts';
import type { Violation } from '../schema/value-validator.ts';
import { duplicateNamePointer, scanJson } from './json-scan.ts';

/** Nested lists and objects. */
const MAX_DEPTH = 64;
/** Members and items in total: each needs much more memory than its bytes in the text. */
const MAX_MEMBERS = 100_000;

type StrictJsonResult =
  | {
      readonly value: unknown;
      /** Start and end of each number in the text that a double may not represent, alternating. */
      readonly longNumbers: readonly number[] | undefined;
    }
  | { readonly violation: Violation };

/**
 * Parses JSON (RFC 8259) that every parser reads the same way. Anything that two parsers could read differently is a
 * violation: duplicate names, invalid UTF-8, a BOM, lone surrogates, numbers out of range, `__proto__`, deep nesting.
 */
export function parseStrictJson(bytes: Buffer): StrictJsonResult {
  if (bytes.length === 0) return invalid('', 'must not be empty');
  if (!isUtf8(bytes)) return invalid('', 'must be UTF-8');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return invalid('', 'must not begin with a byte order mark');
  // Scan first: ten megabytes of brackets cost the parser a second and hundreds of megabytes.
  const { nameCount, memberCount, tooDeepAt, longStrings, longNumbers } = scanJson(bytes, MAX_DEPTH);
  if (tooDeepAt !== undefined)
    return invalid(
      duplicateNamePointer(bytes.toString('utf8', 0, tooDeepAt)),
      `is nested deeper than ${MAX_DEPTH} levels`,
    );
  if (memberCount > MAX_MEMBERS) return invalid('', `has more than ${MAX_MEMBERS} members and items`);
  let shortened: ShortenedJson | undefined;
  let text: string;
  let value: unknown;
  try {
    shortened = longStrings && extractLongStrings(bytes, longStrings);
    text = shortened?.text ?? bytes.toString();
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the body.
    return invalid('', 'is not valid JSON');
  }
  if (shortened !== undefined) value = restoreStrings(value, shortened);
  const counted = countNames(value);
  if (typeof counted !== 'number') return { violation: counted };
  // JSON.parse keeps the last of two equal names, so the text has more names than the value.
  if (counted !== nameCount) return invalid(duplicateNamePointer(text), 'appears twice in this object');
  return { value, longNumbers };
}

function invalid(pointer: string, message: string): { readonly violation: Violation } {
  return { violation: { pointer, message } };
}

/** Replaces the placeholders by the long strings, in place. */
function restoreStrings(value: unknown, shortened: ShortenedJson): unknown {
  if (typeof value === 'string') return shortened.restore(value);
  if (value === null || typeof value !== 'object') return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const inside = members[name];
    const isScalar = inside === null || (typeof inside !== 'string' && typeof inside !== 'object');
    // JSON.parse makes `__proto__` an ordinary member, which is refused later. An assignment would set the prototype.
    if (!isScalar && name !== '__proto__') members[name] = restoreStrings(inside, shortened);
  }
  return value;
}

/** Counts the names in all objects of a value. Returns the first violation instead if there is one. */
function countNames(value: unknown): number | Violation {
  if (typeof value === 'string')
    return value.isWellFormed() ? 0 : { pointer: '', message: 'contains a lone surrogate' };
  if (typeof value === 'number')
    return Number.isFinite(value) ? 0 : { pointer: '', message: 'is a number out of range' };
  if (value === null || typeof value !== 'object') return 0;
  return Array.isArray(value) ? countInList(value) : countInObject(value as Record<string, unknown>);
}

function countInList(list: readonly unknown[]): number | Violation {
  let names = 0;
  for (let index = 0; index < list.length; index += 1) {
    const inside = countNames(list[index]);
    if (typeof inside !== 'number') return within(index, inside);
    names += inside;
  }
  return names;
}

function countInObject(members: Record<string, unknown>): number | Violation {
  const keys = Object.keys(members);
  let names = keys.length;
  for (const name of keys) {
    if (name === '__proto__') return { pointer: pointerStep(name), message: 'is a name that is not accepted' };
    if (!name.isWellFormed()) return { pointer: '', message: 'has a name that contains a lone surrogate' };
    const inside = countNames(members[name]);
    if (typeof inside !== 'number') return within(name, inside);
    names += inside;
  }
  return names;
}

function within(step: string | number, { pointer, message }: Violation): Violation {
  return { pointer: pointerStep(step) + pointer, message };
}

/** JSON whose long strings are replaced by short placeholders. */
interface ShortenedJson {
  readonly text: string;
  /** Returns the original of a placeholder, and any other string unchanged. */
  readonly restore: (text: string) => string;
}

/**
 * Replaces long strings in JSON, whose start and end `ranges` has, so that the parser does not hold a copy of them, which would be most of
 * the memory of a mail with attachments. Throws if a string is invalid.
 */
function extractLongStrings(bytes: Buffer, ranges: readonly number[]): ShortenedJson {
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
