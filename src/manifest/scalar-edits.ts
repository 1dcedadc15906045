import type { TextEdit } from '../problem/problem.ts';

/** The offsets of a string in the text of a manifest; `end` is exclusive. */
export interface ScalarSpan {
  readonly start: number;
  readonly end: number;
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
export function removeItem(text: string, item: ScalarSpan, previous: ScalarSpan): TextEdit | undefined {
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
