import { MAX_DEPTH, MAX_MEMBERS, MAX_NODES, type YamlValue } from './yaml-values.ts';

// JSON is YAML too, and the JSON parser of the runtime is many times as fast as the YAML parser, but it has no positions.

/** A string, and the colon after it if it is a key. */
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Returns the values of JSON text, as the YAML parser would read them; `undefined` for other text, and for text in which the
 * YAML parser finds an error.
 */
export function readJsonValues(text: string): YamlValue | undefined {
  // The YAML parser has its own rules for tabs.
  if (!text.startsWith('{') || text.includes('\t')) return undefined;
  const value = parseJson(text);
  const size = { nodes: 0, keys: 0 };
  return value !== undefined && isWithinLimits(value, 0, size) && size.keys === countWrittenKeys(text)
    ? value
    : undefined;
}

function parseJson(text: string): YamlValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns false for values that `readValues` reports. Adds up the values and the keys. */
function isWithinLimits(value: YamlValue, depth: number, size: { nodes: number; keys: number }): boolean {
  size.nodes += 1;
  if (depth > MAX_DEPTH || size.nodes >= MAX_NODES) return false;
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value !== 'object') return true;
  const members: YamlValue[] = Object.values(value);
  if (members.length > MAX_MEMBERS) return false;
  if (!Array.isArray(value)) {
    size.keys += members.length;
    if (Object.hasOwn(value, '<<')) return false;
  }
  return members.every((member) => isWithinLimits(member, depth + 1, size));
}

/** Counts the keys of JSON text. The JSON parser keeps only the last of two equal keys, which are an error here. */
function countWrittenKeys(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(STRING)) {
    // The YAML parser accepts no line break before a colon.
    if (colon?.includes('\n')) return Number.NaN;
    if (colon !== undefined) count += 1;
  }
  return count;
}
