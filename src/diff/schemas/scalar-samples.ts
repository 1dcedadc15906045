import { keywordsWith } from '../../plan/schema/keywords.ts';

type Schema = Readonly<Record<string, unknown>>;

/** One of each type. */
export const BASIC_VALUES: readonly unknown[] = ['x', '', 1, 0, -1, 0.5, true, null, [], {}];

/** A longer text is no example that anybody would read. */
const MOST_CHARACTERS = 100_000;

/** Texts of the lengths that a schema names, and of the usual formats. */
export function textSamples(schema: Schema): string[] {
  const lengths = boundaryLengths(schema, ['minLength', 'maxLength']).filter((length) => length <= MOST_CHARACTERS);
  const forms = 'format' in schema || 'pattern' in schema || 'contentEncoding' in schema ? FORMS : [];
  return [...forms, ...lengths.map((length) => 'x'.repeat(length)), ...(forms.length > 0 ? lengths.map(digits) : [])];
}

const FORMS = [
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

/** Numbers at and beside the bounds that a schema names. */
export function numberSamples(schema: Schema): number[] {
  const near = keywordsWith({ type: 'number' }).flatMap((name) => {
    const bound = schema[name];
    return typeof bound === 'number' ? [bound, bound - 1, bound + 1, bound + 0.5] : [];
  });
  return near.filter((number) => Number.isSafeInteger(Math.round(number)));
}

/** Each bound, one less, and one more. */
export function boundaryLengths(schema: Schema, names: readonly string[]): number[] {
  return names.flatMap((name) => {
    const bound = schema[name];
    return typeof bound === 'number' ? [bound, Math.max(0, bound - 1), bound + 1] : [];
  });
}
