import { isUtf8 } from 'node:buffer';
import { pointerStep } from '../../json-pointer.ts';
import type { Violation } from '../violation.ts';
import { duplicateNamePointer, scanJson } from './json-scan.ts';
import { extractLongStrings, type ShortenedJson } from './long-strings.ts';

/** Levels of lists and objects. */
const MAX_DEPTH = 64;
/** Members and items, all in all: each costs memory that its few bytes do not tell. */
const MAX_MEMBERS = 100_000;

export type StrictJsonResult =
  | {
      readonly value: unknown;
      /** Start and end of each number in the text that a double may not hold. */
      readonly longNumbers: readonly number[] | undefined;
    }
  | { readonly violation: Violation };

/**
 * Reads JSON (RFC 8259) that every parser reads the same way: what two parsers could read differently
 * (duplicate names, invalid UTF-8, a BOM, lone surrogates, numbers out of range, `__proto__`, endless
 * nesting) is a fault.
 */
export function parseStrictJson(bytes: Buffer): StrictJsonResult {
  if (bytes.length === 0) return invalid('', 'must not be empty');
  if (!isUtf8(bytes)) return invalid('', 'must be UTF-8');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return invalid('', 'must not begin with a byte order mark');
  // Before it is parsed: ten megabytes of brackets take the parser a second and hundreds of megabytes.
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
  if (shortened !== undefined) value = restored(value, shortened);
  const violation = countNames(value);
  if (typeof violation !== 'number') return { violation };
  // JSON.parse keeps the last of two equal names, so the text then has more of them than the value.
  if (violation !== nameCount) return invalid(duplicateNamePointer(text), 'stands in this object twice');
  return { value, longNumbers };
}

function invalid(pointer: string, message: string): { readonly violation: Violation } {
  return { violation: { pointer, message } };
}

/** Puts the long strings back in. */
function restored(value: unknown, shortened: ShortenedJson): unknown {
  if (typeof value === 'string') return shortened.restore(value);
  if (value === null || typeof value !== 'object') return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const inside = members[name];
    const isKept = inside === null || (typeof inside !== 'string' && typeof inside !== 'object');
    // `__proto__` is a name like any other in what JSON.parse made, and is refused later; not to be assigned to.
    if (!isKept && name !== '__proto__') members[name] = restored(inside, shortened);
  }
  return value;
}

/** The names in all objects of a value, or the first thing in it that is refused. */
function countNames(value: unknown): number | Violation {
  if (typeof value === 'string') return value.isWellFormed() ? 0 : { pointer: '', message: 'holds a lone surrogate' };
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
    if (!name.isWellFormed()) return { pointer: '', message: 'has a name that holds a lone surrogate' };
    const inside = countNames(members[name]);
    if (typeof inside !== 'number') return within(name, inside);
    names += inside;
  }
  return names;
}

function within(step: string | number, { pointer, message }: Violation): Violation {
  return { pointer: pointerStep(step) + pointer, message };
}
