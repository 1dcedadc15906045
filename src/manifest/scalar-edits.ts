import type { TextEdit } from '../problem/problem.ts';

/** A string of a manifest as it stands in the text: offsets, `end` exclusive. */
export interface ScalarSpan {
  readonly start: number;
  readonly end: number;
  /** Whether it stands inside of brackets. */
  readonly isInFlow: boolean;
}

/** Other words for a string, in the quotes that it had; a plain one stays plain where that can be read in one way. */
export function replaceScalar(text: string, { start, end, isInFlow }: ScalarSpan, words: string): TextEdit | undefined {
  const quote = text[start];
  if (quote === '"') return { start, end, text: JSON.stringify(words) };
  const isPlain = quote !== "'" && (isInFlow ? PLAIN_IN_FLOW : PLAIN).test(words) && !OTHER_TYPES.test(words);
  return { start, end, text: isPlain ? words : `'${words.replaceAll("'", "''")}'` };
}

/** Narrower than YAML, so that no reader takes it for anything but these characters. */
const PLAIN = /^[\w/.$][\w/.$%*+~{}-]*$/;
const PLAIN_IN_FLOW = /^[\w/.$][\w/.$%*+~-]*$/;
const OTHER_TYPES = /^(?:true|false|null|[-+.]?[0-9][0-9_.eExXoO+-]*|[-+]?\.(?:inf|nan))$/i;

/** Takes an item out of a list, with the comma or the line that it stood on; `undefined` where more stands there. */
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
