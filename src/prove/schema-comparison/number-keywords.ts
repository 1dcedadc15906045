import { charge } from '../../engine/schema/cost-budget.ts';
import { keywordsWith } from '../../engine/schema/keywords.ts';
import { containsNumber } from '../../engine/schema/own-keywords.ts';
import type { SchemaRoot } from '../../engine/schema/schema-bundle.ts';
import { targetOf } from './evaluate-schema.ts';
import { keywordsOf, oncePerReference, referencesFrom, referencesIn } from './schema-content.ts';

const NUMERIC = new Set(keywordsWith({ type: 'number' }));
const INTEGER_LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];

/** The cost to visit a keyword, in the units of `charge`. */
const KEYWORD_COST = 5;

/** True if a schema compares numbers anywhere, and therefore refuses inexact ones. */
export function comparesNumbers(root: SchemaRoot, schema: unknown): boolean {
  return namesNumbers(schema) || referencesIn(schema).some((reference) => leadsToNumbers(root, reference));
}

const leadsToNumbers = oncePerReference((root, reference) =>
  [reference, ...referencesFrom(root, reference)].some((name) => namesNumbers(targetOf(root, name))),
);

/** True if a schema has a keyword that compares numbers, without following its references. */
export function namesNumbers(schema: unknown): boolean {
  for (const { key, value } of keywordsOf(schema)) {
    charge(KEYWORD_COST);
    if (NUMERIC.has(key) || (key === 'uniqueItems' && value === true)) return true;
    if (key === 'type' && [value].flat().includes('integer')) return true;
    if (key === 'format' && isNumberFormat(value)) return true;
    if ((key === 'enum' || key === 'const') && containsNumber(value)) return true;
  }
  return false;
}

/** True for the formats of numbers. All others are formats of texts. */
export function isNumberFormat(format: unknown): boolean {
  return ['int32', 'int64', 'float', 'double'].includes(String(format));
}

type Mutable = Record<string, unknown>;

/** Removes limits of numbers that others imply, and rounds the limits of integers. */
export function simplifyNumberLimits(schema: Mutable, types: readonly string[] | undefined): void {
  const isInteger = types?.includes('integer') === true && !types.includes('number');
  if (isInteger && schema['multipleOf'] === 1) delete schema['multipleOf'];
  if (isInteger) roundLimits(schema);
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<string, number | undefined>;
  if (minimum !== undefined && exclusiveMinimum !== undefined)
    delete schema[exclusiveMinimum >= minimum ? 'minimum' : 'exclusiveMinimum'];
  if (maximum !== undefined && exclusiveMaximum !== undefined)
    delete schema[exclusiveMaximum <= maximum ? 'maximum' : 'exclusiveMaximum'];
}

function roundLimits(schema: Mutable): void {
  const limits = INTEGER_LIMITS.map((keyword) => schema[keyword]).filter((limit) => typeof limit === 'number');
  // A larger limit has no neighbour at a distance of one.
  if (!limits.every((limit) => Math.abs(limit) < Number.MAX_SAFE_INTEGER)) return;
  const { minimum = NO_MINIMUM, exclusiveMinimum = NO_MINIMUM } = schema as Record<string, number | undefined>;
  const { maximum = NO_MAXIMUM, exclusiveMaximum = NO_MAXIMUM } = schema as Record<string, number | undefined>;
  for (const keyword of INTEGER_LIMITS) delete schema[keyword];
  const min = Math.max(Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1);
  const max = Math.min(Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1);
  if (min > NO_MINIMUM) schema['minimum'] = min + 0;
  if (max < NO_MAXIMUM) schema['maximum'] = max + 0;
}

const NO_MINIMUM = Number.NEGATIVE_INFINITY;
const NO_MAXIMUM = Number.POSITIVE_INFINITY;
