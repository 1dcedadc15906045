import { isAscii, isUtf8 } from 'node:buffer';
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
  const { nameCount, memberCount, tooDeepAt, longNumbers } = scanJson(bytes, MAX_DEPTH);
  if (tooDeepAt !== undefined)
    return invalid(duplicateNamePointer(bytes.subarray(0, tooDeepAt)), `is nested deeper than ${MAX_DEPTH} levels`);
  if (memberCount > MAX_MEMBERS) return invalid('', `has more than ${MAX_MEMBERS} members and items`);
  let value: unknown;
  try {
    // Most bodies are ASCII, which takes half the time as latin-1.
    value = JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch {
    // The engine's own message quotes the body.
    return invalid('', 'is not valid JSON');
  }
  const counted = countNames(value);
  if (typeof counted !== 'number') return { violation: counted };
  // JSON.parse keeps the last of two equal names, so the text has more names than the value.
  if (counted !== nameCount) return invalid(duplicateNamePointer(bytes), 'appears twice in this object');
  return { value, longNumbers };
}

function invalid(pointer: string, message: string): { readonly violation: Violation } {
  return { violation: { pointer, message } };
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
