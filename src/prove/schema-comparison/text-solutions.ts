import { sizeBytes } from '../../engine/manifest/units.ts';
import { alphabetOf } from './character-set.ts';
import { automatonOf, type PatternAutomaton, type PatternState } from './pattern-automaton.ts';
import { type LiteralOf, literalsOf, type SchemaLiteral } from './schema-terms.ts';
import type { SearchBudget } from './search-budget.ts';

type Keyword = LiteralOf<'keyword'>;

/** The maximum length of a solution. No gateway should accept a longer text by its schema alone. */
const MAX_CHARACTERS = 10_000_000;
const LETTERS = ['x', 'a', 'b', '1', 'y', 'A', '-', '0', 'é'];

/** Yields texts that may satisfy the literals, the shortest first. The caller tests them. */
export function* textSolutions(literals: readonly SchemaLiteral[], wanted: number, budget: SearchBudget) {
  const keywords = literalsOf(literals, 'keyword');
  const range = lengthRange(keywords);
  if (range.min > range.max) return;
  const texts = [
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

/** A pattern that a text must match or, if negative, must not match. */
interface PatternCondition {
  readonly automaton: PatternAutomaton;
  readonly isPositive: boolean;
}

/** Bounds of a length in code points. */
interface LengthRange {
  readonly min: number;
  readonly max: number;
}

interface SearchNode {
  readonly states: readonly PatternState[];
  readonly length: number;
  readonly codePoint: number;
  readonly previous: SearchNode | undefined;
}

/**
 * Yields texts that meet all conditions, the shortest first, and up to `variety` from the same states. It walks the automata of the
 * patterns side by side, with one character for all that no pattern distinguishes.
 */
function* searchTexts(
  conditions: readonly PatternCondition[],
  { min, max }: LengthRange,
  variety: number,
  budget: SearchBudget,
): Generator<string> {
  const alphabet = alphabetOf(conditions.flatMap(({ automaton }) => automaton.sets));
  const nodes = conditions.reduce((sum, { automaton }) => sum + automaton.size, 0);
  // The first visit of a state walks the complete automaton for each character.
  const effort = (alphabet.length * nodes) >> 9;
  const visits = new Map<string, number>();
  let queue: SearchNode[] = [
    { states: conditions.map(({ automaton }) => automaton.start), length: 0, codePoint: 0, previous: undefined },
  ];
  let remaining = budget.effort.states;
  while (queue.length > 0) {
    const nextQueue: SearchNode[] = [];
    for (const node of queue) {
      if (node.length >= min && isAccepted(conditions, node)) yield textOf(node);
      if (node.length >= max) continue;
      budget.spend(effort);
      for (const codePoint of alphabet) {
        const states = conditions.map(({ automaton }, at) =>
          automaton.next(node.states[at] as PatternState, codePoint),
        );
        if (isHopeless(conditions, states)) continue;
        const length = node.length + 1;
        const key = `${Math.min(length, min)} ${states.map(({ id }) => id).join(' ')}`;
        const count = visits.get(key) ?? 0;
        if (count >= variety) continue;
        visits.set(key, count + 1);
        remaining -= 1;
        if (remaining < 0) {
          budget.limit();
          return;
        }
        nextQueue.push({ states, length, codePoint, previous: node });
      }
    }
    budget.spend(1 + (nextQueue.length >> 3));
    queue = nextQueue;
  }
}

function isAccepted(conditions: readonly PatternCondition[], { states }: SearchNode): boolean {
  return conditions.every(
    ({ automaton, isPositive }, index) => automaton.accepts(states[index] as PatternState) === isPositive,
  );
}

/** True if no continuation meets all conditions. */
function isHopeless(conditions: readonly PatternCondition[], states: readonly PatternState[]): boolean {
  return conditions.some(({ isPositive }, index) => (isPositive ? states[index]?.isDead : states[index]?.isMatched));
}

function textOf(node: SearchNode): string {
  const characters: string[] = [];
  for (let at: SearchNode | undefined = node; at?.previous !== undefined; at = at.previous)
    characters.push(String.fromCodePoint(at.codePoint));
  return characters.reverse().join('');
}

/** Texts that have a format, or nearly have it. Each differs from another one in a respect that some format checks. */
const FORMAT_TEXTS: readonly string[] = [
  'a@example.com | a@example | a+b@example.com | a.@example.com | A@EXAMPLE.COM',
  '2026-01-02 | 2026-13-02 | 2026-02-30',
  '2026-01-02T03:04:05Z | 2026-01-02T03:04:05z | 2026-01-02T03:04:05.6+01:00 | 2026-01-02T03:04:05',
  '2026-01-02 03:04:05Z | 2026-01-02T25:04:05Z | 03:04:05Z | 03:04:05+01:00 | 03:04:05 | 25:04:05Z',
  'P1D | PT1H | P',
  'https://example.com/x | https://example.com | http://localhost | ftp://example.com/x | mailto:a@example.com | urn:x:y',
  '//example.com/x | /x | /x/0 | /~2 | #/x | # | 0/x | 0# | {x} | /{x} | {',
  'example.com | EXAMPLE.com. | a_b.example | -a.example',
  '192.0.2.1 | 192.0.2.256 | 192.0.2 | 2001:db8::1 | ::1 | 2001:db8::g',
  '0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e | urn:uuid:0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e',
  '0B7D8C9E-2F4A-4B1C-9D3E-5F6A7B8C9D0E | 0b7d8c9e2f4a4b1c9d3e5f6a7b8c9d0e',
  'abcd | [a-z]+ | [ | (?=a) | a b | % | \\',
].flatMap((line) => line.split(' | '));

/** Patterns whose matches mostly have the format. They combine a format with a pattern or a length. */
const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  date: '^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])$',
  time: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])$',
  'iso-time': '^(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])?$',
  'date-time':
    '^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])$',
  'iso-date-time':
    '^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-]0[0-9]:[0-5][0-9])?$',
  duration: '^P(?:[0-9]+[YMD]|T[0-9]+[HMS])$',
  uri: '^[a-z]+:(?://)?[A-Za-z0-9][A-Za-z0-9._~/-]*$',
  'uri-reference': '^[A-Za-z0-9._~/-]*$',
  'uri-template': '^[A-Za-z0-9._~/-]*(?:\\{[a-z]+\\})?$',
  email: '^[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\\.)+[A-Za-z0-9]+$',
  hostname: '^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$',
  ipv4: '^(?:(?:[1-9]?[0-9]|1[0-9]{2})\\.){3}(?:[1-9]?[0-9]|1[0-9]{2})$',
  ipv6: '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$',
  uuid: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$',
  'json-pointer': '^(?:/[^~/]*)*$',
  'relative-json-pointer': '^(?:0|[1-9][0-9]*)(?:#|(?:/[^~/]*)*)$',
  'json-pointer-uri-fragment': '^#(?:/[A-Za-z0-9_.-]*)*$',
  regex: '^[A-Za-z0-9]*$',
};

/** The texts that `contentEncoding: base64` accepts. */
const BASE64_PATTERN = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$';
