import { sizeBytes } from '../../engine/manifest/units.ts';
import { BASE64_PATTERN, FORMAT_PATTERNS, FORMAT_TEXTS } from './format-texts.ts';
import { toList } from './json-value.ts';
import { type LengthRange, type PatternCondition, searchTexts } from './pattern-search.ts';
import { type LiteralOf, literalsOf, type SchemaLiteral } from './schema-terms.ts';
import { automatonOf } from './schema-text.ts';
import type { SearchBudget } from './search-budget.ts';

type Keyword = LiteralOf<'keyword'>;

/** The maximum length of a solution. No gateway should accept a longer text by its schema alone. */
const MAX_CHARACTERS = 10_000_000;
const LETTERS = ['x', 'a', 'b', '1', 'y', 'A', '-', '0', 'é'];

/** Yields texts that may satisfy the literals, the shortest first. The caller tests them. */
export function* textSolutions(
  literals: readonly SchemaLiteral[],
  wanted: number,
  budget: SearchBudget,
): Generator<string> {
  const keywords = literalsOf(literals, 'keyword');
  const range = lengthRange(keywords);
  if (range.min > range.max) return;
  const texts = [
    ...enumTexts(keywords),
    ...(keywords.some(({ keyword }) => keyword === 'format') ? FORMAT_TEXTS : []),
    ...encodedTexts(keywords, range),
  ];
  yield* texts.sort((one, other) => one.length - other.length);
  const conditions = keywords.flatMap(patternCondition);
  if (conditions.length === 0) yield* plainTexts(range, wanted);
  else yield* searchTexts(conditions, range, Math.max(wanted, budget.effort.width), budget);
}

function lengthRange(keywords: readonly Keyword[]): LengthRange {
  let [min, max] = [0, MAX_CHARACTERS];
  for (const { keyword, value, isPositive } of keywords) {
    const limit = Number(value);
    if (keyword === 'minLength' && isPositive) min = Math.max(min, Math.ceil(limit));
    if (keyword === 'minLength' && !isPositive) max = Math.min(max, Math.ceil(limit) - 1);
    if (keyword === 'maxLength' && isPositive) max = Math.min(max, Math.floor(limit));
    if (keyword === 'maxLength' && !isPositive) min = Math.max(min, Math.floor(limit) + 1);
    if (keyword === 'contentMaxBytes' && !isPositive)
      min = Math.max(min, Math.floor((sizeBytes(String(value)) * 4) / 3));
  }
  return { min, max };
}

function enumTexts(keywords: readonly Keyword[]): string[] {
  return keywords.flatMap(({ keyword, value, isPositive }) =>
    keyword === 'enum' && isPositive ? toList(value).filter((one) => typeof one === 'string') : [],
  );
}

/** Returns base64 texts at the minimum length: with each padding. */
function encodedTexts(keywords: readonly Keyword[], { min }: LengthRange): string[] {
  if (!keywords.some(({ keyword }) => keyword.startsWith('content'))) return [];
  const blocks = [Math.ceil(min / 4), Math.ceil(min / 4) + 1].filter((count) => count > 0);
  return blocks.flatMap((count) => ['AAAA', 'AAA=', 'AA=='].map((last) => 'AAAA'.repeat(count - 1) + last));
}

function patternCondition({ keyword, value, isPositive }: Keyword): PatternCondition[] {
  // The pattern of a format is an approximation, so its negation is none.
  const pattern =
    keyword === 'pattern'
      ? String(value)
      : keyword === 'contentEncoding'
        ? BASE64_PATTERN
        : keyword === 'format' && isPositive
          ? FORMAT_PATTERNS[String(value)]
          : undefined;
  const automaton = pattern === undefined ? undefined : automatonOf(pattern);
  return automaton === undefined ? [] : [{ automaton, isPositive }];
}

function* plainTexts({ min, max }: LengthRange, wanted: number): Generator<string> {
  for (let length = min; length <= Math.min(max, min + 2); length += 1) {
    if (length === 0) yield '';
    else for (const letter of LETTERS) yield letter.repeat(length);
  }
  for (let count = 0; count < wanted; count += 1) yield `${count}`.padStart(min, 'x');
}
