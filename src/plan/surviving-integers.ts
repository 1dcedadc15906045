/** The values of these keywords are no schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'dependentRequired']);

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

/** A copy of what holds schemas in which every schema of an integer has the keyword. */
export function withSurvivingIntegers<T>(holder: T): T {
  if (Array.isArray(holder)) return holder.map(withSurvivingIntegers) as T;
  if (holder === null || typeof holder !== 'object') return holder;
  const entries = Object.entries(holder).map(([key, value]) => [
    key,
    DATA.has(key) ? value : withSurvivingIntegers(value),
  ]);
  const copy = Object.fromEntries(entries);
  const isInteger = copy.type === 'integer' || (Array.isArray(copy.type) && copy.type.includes('integer'));
  return isInteger ? { ...copy, [SURVIVES.keyword]: true } : copy;
}
