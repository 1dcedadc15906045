import type { Finding } from '../problem/finding.ts';
import { syntaxError } from './syntax-error.ts';
import { isIndicator, tokenize, type YamlToken } from './yaml-text.ts';

// Editors, chats and web pages replace spaces and punctuation with characters that look the same. To YAML they are letters, so
// the key or the value around them changes its meaning.

/** Classes of such characters, for regular expressions, and the end of the message about one of them. */
const CLASSES = {
  space: [
    '\\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000',
    'is not a space in YAML; write a normal space',
  ],
  invisible: [
    '\\u00AD\\u061C\\u180E\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u2064\\u2066-\\u2069\\uFEFF',
    'is invisible; remove it',
  ],
  colon: ['\\u2236\\uA789\\uFE13\\uFE55\\uFF1A', 'only looks like a colon; write ":" and a space'],
  comma: ['\\u3001\\uFE10\\uFE50\\uFF0C', 'only looks like a comma; write ","'],
  quote: ['\\u2018-\\u201F\\uFF02\\uFF07', 'does not quote a value; write " or \''],
  hyphen: ['\\u2010-\\u2015\\u2212\\uFE63\\uFF0D', 'only looks like a hyphen; write "-"'],
  bracket: ['\\uFF3B\\uFF3D\\uFF5B\\uFF5D', 'only looks like a bracket; write [ ] or { }'],
} as const;

const BLANK = CLASSES.space[0] + CLASSES.invisible[0];
const BLANKS = new RegExp(`[${BLANK}]`);
const ANY = new RegExp(
  `[${Object.values(CLASSES)
    .map(([characters]) => characters)
    .join('')}]`,
);

/** Patterns of a character in place of one of YAML, which `at` captures. The first matching pattern applies. */
const IN_STRUCTURE = [
  `^(?:[-?] ?)?(?<at>[${BLANK}${CLASSES.quote[0]}${CLASSES.bracket[0]}])`,
  `^(?<at>[${CLASSES.hyphen[0]}])[ ${BLANK}]`,
  `^(?:- +)?[A-Za-z$][\\w-]*[ ${BLANK}]?(?<at>[${CLASSES.colon[0]}])`,
  `:(?<at>[${BLANK}])`,
  `(?<at>[${CLASSES.comma[0]}]) *[A-Za-z$][\\w-]*$`,
].map((pattern) => new RegExp(pattern, 'd'));

const IN_KEY = [
  ...IN_STRUCTURE,
  new RegExp(`(?<at>[${BLANK}])$`, 'd'),
  new RegExp(`(?<at>[${CLASSES.invisible[0]}])`, 'd'),
];

const IN_VALUE = [
  `^(?<at>[${BLANK}])`,
  `(?<at>[${BLANK}])$`,
  `(?<at>[${CLASSES.space[0]}])#`,
  `^(?<at>[${CLASSES.quote[0]}])[^${CLASSES.quote[0]}]*[${CLASSES.quote[0]}]$`,
].map((pattern) => new RegExp(pattern, 'ds'));

const IN_ITEM = [...IN_VALUE, new RegExp(`\\w *(?<at>[${CLASSES.comma[0]}]) *\\w`, 'd')];
const PATTERNS = { key: IN_KEY, item: IN_ITEM, value: IN_VALUE } as const;

interface PlainScalar {
  readonly start: number;
  readonly text: string;
  /** `item` is a value of a list in brackets. */
  readonly role: keyof typeof PATTERNS;
}

/** True if a text has a character that looks like one of YAML. */
export function hasLookAlike(text: string): boolean {
  return ANY.test(text);
}

/** Returns the errors of keys and values without quotes in YAML text that the parser accepts. */
export function findLookAlikes(text: string): Finding[] {
  if (!hasLookAlike(text)) return [];
  const scalars = plainScalarsOf(tokenize(text));
  // If no colon is one of YAML, the complete text is one value.
  if (scalars.length === 1)
    return scalars
      .flatMap(linesOf)
      .flatMap((line) => findIn(line, IN_STRUCTURE))
      .slice(0, 1);
  return scalars.flatMap((scalar) => findIn(scalar, PATTERNS[scalar.role]));
}

/**
 * Returns the error that explains a syntax error: the nearest one on its line or on a line beside it, or the last indentation
 * with other spaces before it, whose effect may come later.
 */
export function findLookAlikeNear(text: string, offset: number, tokens: readonly YamlToken[]): Finding | undefined {
  if (!hasLookAlike(text)) return undefined;
  const start = text.lastIndexOf('\n', text.lastIndexOf('\n', offset - 1) - 1) + 1;
  const nextLine = text.indexOf('\n', offset) + 1 || text.length;
  const end = text.indexOf('\n', nextLine) + 1 || text.length;
  const lines = plainScalarsOf(tokens).flatMap(linesOf);
  const nearby = lines.filter((line) => line.start >= start && line.start < end);
  const indented = lines.findLast((line) => line.start < start && BLANKS.test(line.text[0] ?? ''));
  return [...(indented === undefined ? [] : [indented]), ...nearby]
    .flatMap((line) => findIn(line, IN_STRUCTURE))
    .toSorted((a, b) => distance(a, offset) - distance(b, offset))[0];
}

function distance({ location }: Finding, offset: number): number {
  return 'start' in location ? Math.abs(location.start - offset) : 0;
}

function findIn({ start, text }: PlainScalar, patterns: readonly RegExp[]): Finding[] {
  for (const pattern of patterns) {
    const [from] = pattern.exec(text)?.indices?.groups?.['at'] ?? [];
    if (from !== undefined) return [syntaxError(start + from, start + from + 1, messageOf(text[from] ?? ''))];
  }
  return [];
}

function messageOf(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const [, end] = Object.values(CLASSES).find(([characters]) => new RegExp(`[${characters}]`).test(character)) ?? [];
  return `the character U+${code} ${end}`;
}

/** Returns the keys and values without quotes. */
function plainScalarsOf(tokens: readonly YamlToken[]): PlainScalar[] {
  const scalars: PlainScalar[] = [];
  const brackets: string[] = [];
  let before: YamlToken | undefined;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'other' && /^[{[]$/.test(token.text)) brackets.push(token.text);
    if (token.kind === 'other' && /^[}\]]$/.test(token.text)) brackets.pop();
    if (token.kind === 'scalar' && /^[^"']/.test(token.text)) {
      const next = tokens.slice(index + 1, index + 3).find(({ kind }) => kind !== 'space');
      const isMember = brackets.at(-1) === '{' && before !== undefined && /^[{,]$/.test(before.text);
      const isKey = isMember || (next !== undefined && isIndicator(next, ':'));
      scalars.push({
        start: token.start,
        text: token.text,
        role: isKey ? 'key' : brackets.at(-1) === '[' ? 'item' : 'value',
      });
    }
    if (token.kind === 'other' || token.kind === 'scalar') before = token;
  }
  return scalars;
}

/** Returns the lines of a scalar, without their indentation. */
function linesOf({ start, text, role }: PlainScalar): PlainScalar[] {
  const lines = [...text.matchAll(/[^ \t\r\n][^\r\n]*/g)];
  return lines.map(({ index, 0: line }) => ({ start: start + index, text: line, role }));
}
