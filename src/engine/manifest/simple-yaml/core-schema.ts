import type { YamlValue } from '../yaml-values.ts';

// The core schema of YAML 1.2 (section 10.3.2): the types of values without quotes.

const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map<string, null | boolean>([
  ...['~', 'null', 'Null', 'NULL'].map((source) => [source, null] as const),
  ...['true', 'True', 'TRUE'].map((source) => [source, true] as const),
  ...['false', 'False', 'FALSE'].map((source) => [source, false] as const),
]);
const MAX_CONSTANT = 5;

const INTEGER = /^[-+]?[0-9]+$/;
const OCTAL = /^0o[0-7]+$/;
const HEX = /^0x[0-9a-fA-F]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/;

/** Returns the value of a scalar without quotes; `undefined` for a number that is not finite. */
export function plainValue(source: string): YamlValue | undefined {
  if (/^[-+.0-9]/.test(source)) return numberValue(source);
  if (source.length > MAX_CONSTANT) return source;
  const constant = CONSTANTS.get(source);
  return constant === undefined ? source : constant;
}

function numberValue(source: string): number | string | undefined {
  if (NOT_FINITE.test(source)) return undefined;
  const value = parseNumber(source);
  if (value === undefined) return source;
  return Number.isFinite(value) ? value : undefined;
}

function parseNumber(source: string): number | undefined {
  if (INTEGER.test(source)) return Number.parseInt(source, 10);
  if (FLOAT.test(source)) return Number.parseFloat(source);
  if (OCTAL.test(source)) return Number.parseInt(source.slice(2), 8);
  return HEX.test(source) ? Number.parseInt(source.slice(2), 16) : undefined;
}
