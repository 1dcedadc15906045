/** The values of these keywords are no schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'dependentRequired']);
const NAMED = new Set(['$defs', 'dependentSchemas', 'patternProperties', 'properties', 'schemas']);

/**
 * The keyword that goes with every `type: integer`. Beyond 2^53 two integers that differ in the text are one
 * number to most parsers (RFC 8259 section 6), so the upstream could read another one than was checked.
 */
export const SURVIVES = {
  keyword: 'survives',
  type: 'number',
  schemaType: 'boolean',
  validate: (_schema: boolean, value: number) => !Number.isInteger(value) || Number.isSafeInteger(value),
  error: { message: 'must be an integer between -2^53 and 2^53' },
} as const;

/**
 * A copy of what holds schemas in which every schema of an integer has the keyword.
 *
 * @param isNames the members' names are the author's own, and no keywords
 */
export function withSurvivingIntegers<T>(holder: T, isNames = false): T {
  if (Array.isArray(holder)) return holder.map((item) => withSurvivingIntegers(item)) as T;
  if (holder === null || typeof holder !== 'object') return holder;
  const entries = Object.entries(holder).map(([key, value]) => [
    key,
    !isNames && DATA.has(key) ? value : withSurvivingIntegers(value, !isNames && NAMED.has(key)),
  ]);
  const copy = Object.fromEntries(entries);
  const isInteger = copy.type === 'integer' || (Array.isArray(copy.type) && copy.type.includes('integer'));
  return isInteger && !isNames ? { ...copy, [SURVIVES.keyword]: true } : copy;
}
