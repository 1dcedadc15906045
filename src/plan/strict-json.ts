import { isUtf8 } from 'node:buffer';
import type { Fault } from './plan.ts';
import { pointerStep } from './pointer.ts';

const MAX_DEPTH = 64;

export type Parsed = { readonly value: unknown } | { readonly fault: Fault };

/**
 * Reads JSON (RFC 8259) that every parser reads the same way: what two parsers could read differently
 * (duplicate names, invalid UTF-8, a BOM, lone surrogates, numbers out of range, `__proto__`, endless
 * nesting) is a fault.
 */
export function parseStrictJson(bytes: Buffer): Parsed {
  if (bytes.length === 0) return fault('', 'must not be empty');
  if (!isUtf8(bytes)) return fault('', 'must be UTF-8');
  const text = bytes.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) return fault('', 'must not begin with a byte order mark');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the body.
    return fault('', 'is not valid JSON');
  }
  const counted = countMembers(value, '', 0);
  if (typeof counted !== 'number') return { fault: counted };
  // JSON.parse keeps the last of two equal names, so the text then has more members than the value.
  if (counted !== countColons(text)) return fault(duplicatePointer(text), 'stands in this object twice');
  return { value };
}

function fault(pointer: string, message: string): Parsed {
  return { fault: { pointer, message } };
}

/** The members of all objects in a value, or the first thing in it that is refused. */
function countMembers(value: unknown, pointer: string, depth: number): number | Fault {
  if (typeof value === 'string') return value.isWellFormed() ? 0 : { pointer, message: 'holds a lone surrogate' };
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : { pointer, message: 'is a number out of range' };
  if (value === null || typeof value !== 'object') return 0;
  if (depth === MAX_DEPTH) return { pointer, message: `is nested deeper than ${MAX_DEPTH} levels` };
  let members = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (item === null || typeof item === 'boolean') continue;
      const inside = countMembers(item, `${pointer}/${index}`, depth + 1);
      if (typeof inside !== 'number') return inside;
      members += inside;
    }
    return members;
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__')
      return { pointer: pointer + pointerStep(name), message: 'is a name that is not accepted' };
    if (!name.isWellFormed()) return { pointer, message: 'has a name that holds a lone surrogate' };
    const inside = countMembers((value as Record<string, unknown>)[name], pointer + pointerStep(name), depth + 1);
    if (typeof inside !== 'number') return inside;
    members += 1 + inside;
  }
  return members;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** The colons outside of strings in valid JSON: one for each member. */
function countColons(text: string): number {
  let colons = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === COLON) colons += 1;
    else if (code === QUOTE) index = endOfString(text, index);
  }
  return colons;
}

/** The index of the quote that ends the string begun at `start`. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1;
  return index;
}

const COLON_NEXT = /\s*:/y;

/** Where valid JSON has a name for the second time. */
function duplicatePointer(text: string): string {
  const open: { names: Set<string> | undefined; step: string | number }[] = [];
  const pointer = () => open.map(({ step }) => pointerStep(step)).join('');
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    const top = open.at(-1);
    if (character === '{') open.push({ names: new Set(), step: '' });
    else if (character === '[') open.push({ names: undefined, step: 0 });
    else if (character === '}' || character === ']') open.pop();
    else if (character === ',' && typeof top?.step === 'number') top.step += 1;
    else if (character === '"') {
      const end = endOfString(text, index);
      COLON_NEXT.lastIndex = end + 1;
      const isName = top?.names !== undefined && COLON_NEXT.test(text);
      if (isName) {
        top.step = String(JSON.parse(text.slice(index, end + 1)));
        if (top.names?.has(top.step)) return pointer();
        top.names?.add(top.step);
      }
      index = end;
    }
  }
  return '';
}
