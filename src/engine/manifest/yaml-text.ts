import { CST, Lexer } from 'yaml';
import { valueAt } from '../json-pointer.ts';
import type { Fix } from '../problem/finding.ts';
import type { TextEdit } from '../problem/problem.ts';
import type { OffsetRange, ValuePositions } from './value-positions.ts';
import type { YamlValue } from './yaml-values.ts';

/** A token of YAML text. Joined, all tokens are the text. */
export interface YamlToken {
  readonly kind: 'space' | 'newline' | 'comment' | 'scalar' | 'block-scalar-header' | 'block-scalar' | 'other';
  readonly text: string;
  /** Its offset in UTF-16 code units. */
  readonly start: number;
}

/** Splits YAML text into tokens. After a syntax error they are a guess. */
export function tokenize(text: string): YamlToken[] {
  const tokens: YamlToken[] = [];
  let start = 0;
  // The lexer announces a scalar before its text, and a block scalar by its header.
  let announced: YamlToken['kind'] | undefined;
  let next: YamlToken['kind'] = 'scalar';
  for (const lexeme of new Lexer().lex(text)) {
    const type = CST.tokenType(lexeme);
    const kind = announced ?? tokenKind(type);
    if (kind === 'block-scalar-header') next = 'block-scalar';
    if (announced === undefined && type === 'scalar') {
      announced = next;
      next = 'scalar';
      continue;
    }
    announced = undefined;
    if (lexeme === '' || type === 'doc-mode' || type === 'flow-error-end') continue;
    tokens.push({ kind, text: lexeme, start });
    start += lexeme.length;
  }
  return tokens;
}

export interface YamlComment {
  /** The offset of its `#` in UTF-16 code units. */
  readonly start: number;
  /** The text from the `#` to the end of the line. */
  readonly text: string;
}

export function commentsOf(text: string): YamlComment[] {
  return tokenize(text).flatMap(({ kind, text, start }) => (kind === 'comment' ? [{ start, text }] : []));
}

/** Returns the comment that begins at an offset. */
export function commentAt(text: string, start: number): YamlComment {
  const lineEnd = text.indexOf('\n', start);
  return { start, text: text.slice(start, lineEnd === -1 ? undefined : lineEnd).replace(/\r$/, '') };
}

/** True for a punctuation mark, such as `-` or `{`. */
export function isIndicator({ kind, text }: YamlToken, indicator: string): boolean {
  return kind === 'other' && text === indicator;
}

function tokenKind(type: string | null): YamlToken['kind'] {
  if (type === 'space' || type === 'newline' || type === 'comment' || type === 'block-scalar-header') return type;
  return type?.endsWith('scalar') ? 'scalar' : 'other';
}

interface EditedText {
  readonly text: string;
  readonly value: YamlValue;
  readonly positions: ValuePositions;
}

/** Returns the edit of a fix; `undefined` for a value behind an alias, since the edit would change other values too. */
export function editOf(fix: Fix, { text, value, positions }: EditedText): TextEdit | undefined {
  const { path, change } = fix;
  const { row, parent, depth } = positions.find(path, 'stop');
  if (depth < path.length) return undefined;
  const parentKind = parent === -1 ? undefined : positions.kindOf(parent);
  const isInFlow = parentKind === 'flow map' || parentKind === 'flow list';
  // A string on one line without variables.
  const spanOf = (range: OffsetRange | undefined, written: unknown): ScalarSpan | undefined => {
    if (range === undefined || typeof written !== 'string' || written.includes('${')) return undefined;
    const source = text.slice(range.start, range.end);
    const isQuoted = /^(["']).*\1$/.test(source);
    return isQuoted || source === written ? { ...range, isInFlow } : undefined;
  };
  if (change === 'key') {
    const span = spanOf(positions.keyOf(row), path.at(-1));
    return span && replaceScalar(text, span, fix.text);
  }
  const span = spanOf(positions.valueOf(row), valueAt(value, path));
  if (span === undefined) return undefined;
  if (change === 'value') return replaceScalar(text, span, fix.text);
  const index = Number(path.at(-1));
  if ((parentKind !== 'block list' && parentKind !== 'flow list') || index === 0) return undefined;
  const previousPath = [...path.slice(0, -1), index - 1];
  const previous = spanOf(positions.valueOf(positions.find(previousPath, 'stop').row), valueAt(value, previousPath));
  return previous && removeItem(text, span, previous);
}

/** The offsets of a string in the text of a manifest; `end` is exclusive. */
interface ScalarSpan extends OffsetRange {
  /** True if it is inside brackets. */
  readonly isInFlow: boolean;
}

/** Replaces a string and keeps its quotes. A plain string stays plain if the new text is not ambiguous. */
export function replaceScalar(text: string, { start, end, isInFlow }: ScalarSpan, value: string): TextEdit | undefined {
  const quote = text[start];
  if (quote === '"') return { start, end, text: JSON.stringify(value) };
  const isPlain = quote !== "'" && (isInFlow ? PLAIN_IN_FLOW : PLAIN).test(value) && !OTHER_TYPES.test(value);
  return { start, end, text: isPlain ? value : `'${value.replaceAll("'", "''")}'` };
}

/** Stricter than YAML, so that every parser reads these characters literally. */
const PLAIN = /^[\w/.$][\w/.$%*+~{}-]*$/;
const PLAIN_IN_FLOW = /^[\w/.$][\w/.$%*+~-]*$/;
const OTHER_TYPES = /^(?:true|false|null|[-+.]?[0-9][0-9_.eExXoO+-]*|[-+]?\.(?:inf|nan))$/i;

/** Removes an item from a list with its comma or its line; `undefined` if anything else is on the line. */
function removeItem(text: string, item: ScalarSpan, previous: ScalarSpan): TextEdit | undefined {
  if (item.isInFlow) {
    const isAlone = /^\s*,\s*$/.test(text.slice(previous.end, item.start));
    return isAlone ? { start: previous.end, end: item.end, text: '' } : undefined;
  }
  const start = text.lastIndexOf('\n', item.start - 1) + 1;
  const lineEnd = text.indexOf('\n', item.end);
  const end = lineEnd === -1 ? text.length : lineEnd + 1;
  const isAlone = /^ *- +$/.test(text.slice(start, item.start)) && /^\s*$/.test(text.slice(item.end, end));
  return isAlone && start > previous.end ? { start, end, text: '' } : undefined;
}

/** Formats a value in the flow style of YAML, on one line. */
export function formatFlow(value: unknown): string {
  if (typeof value === 'string') return formatScalar(value);
  if (Array.isArray(value)) return `[${value.map(formatFlow).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const texts = members.map(([key, member]) => `${formatScalar(key)}: ${formatFlow(member)}`);
  return texts.length === 0 ? '{}' : `{ ${texts.join(', ')} }`;
}

/** A text that is the same text without quotes, in every position and YAML version. */
const SAME_EVERYWHERE = /^[A-Za-z/][\w./?&=%@+~-]*(?: [\w./=%@+~-]+)*$/;
/** Plain texts that YAML reads as another value. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i;

/** A JSON string is also a YAML string. JSON leaves some line separators as they are, so they are escaped here. */
function formatScalar(text: string): string {
  if (SAME_EVERYWHERE.test(text) && !RESERVED.test(text)) return text;
  return JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
