import { keywordsWith } from '../../plan/schema/keywords.ts';

type Schema = Readonly<Record<string, unknown>>;

/** At least one value of each type. */
export const BASIC_VALUES: readonly unknown[] = ['x', '', 1, 0, -1, 0.5, true, null, [], {}];

/** The maximum length of a sample text. Nobody could read a longer one in a report. */
const MAX_CHARACTERS = 100_000;

/** Returns texts with the lengths around the bounds of a schema, and texts of common formats. */
export function textSamples(schema: Schema): string[] {
  const lengths = boundaryLengths(schema, ['minLength', 'maxLength']).filter((length) => length <= MAX_CHARACTERS);
  const formatted = 'format' in schema || 'pattern' in schema || 'contentEncoding' in schema ? FORMATTED_TEXTS : [];
  return [
    ...formatted,
    ...lengths.map((length) => 'x'.repeat(length)),
    ...(formatted.length > 0 ? lengths.map(digits) : []),
  ];
}

const FORMATTED_TEXTS = [
  'a@example.com',
  '2026-01-02',
  '2026-01-02T03:04:05Z',
  '03:04:05Z',
  'P1D',
  'https://example.com/x',
  '/x',
  'example.com',
  '192.0.2.1',
  '2001:db8::1',
  '0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e',
  'abcd',
  'Abc',
  'a1',
  'a-b',
  '42',
  'not a form!',
];

function digits(length: number): string {
  return '1'.repeat(length);
}

/** Returns numbers at and next to the bounds of a schema. */
export function numberSamples(schema: Schema): number[] {
  const candidates = keywordsWith({ type: 'number' }).flatMap((name) => {
    const bound = schema[name];
    return typeof bound === 'number' ? [bound, bound - 1, bound + 1, bound + 0.5] : [];
  });
  return candidates.filter((number) => Number.isSafeInteger(Math.round(number)));
}

/** Returns each bound, and the numbers one below and one above it. */
export function boundaryLengths(schema: Schema, names: readonly string[]): number[] {
  return names.flatMap((name) => {
    const bound = schema[name];
    return typeof bound === 'number' ? [bound, Math.max(0, bound - 1), bound + 1] : [];
  });
}
