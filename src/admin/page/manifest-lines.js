import { element } from './element.js';

/** A comment, a quoted text, a reference to a variable, or a key. */
const TOKEN = /(^|(?<=\s))#.*$|"(?:[^"\\]|\\.)*"|'[^']*'|\$\{[^}]*\}|[\w./*-]+(?=\s*:(?:\s|$))/g;

/**
 * Returns lines of YAML with their numbers.
 *
 * @param {string} text
 * @param {number} firstLine the number of the first line
 * @param {string} label
 * @param {(line: number) => Node[]} [notesOf] returns the elements below a line
 */
export function yamlLines(text, firstLine, label, notesOf = () => []) {
  const lines = text.split('\n').flatMap((line, index) => {
    const number = firstLine + index;
    return [
      element('span', { class: 'line-number', 'aria-hidden': 'true' }, number),
      element('span', {}, ...highlighted(line), '\n'),
      ...notesOf(number),
    ];
  });
  return element('pre', { class: 'yaml', tabindex: 0, role: 'region', 'aria-label': label }, ...lines);
}

/** @param {string} line */
function highlighted(line) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let end = 0;
  for (const match of line.matchAll(TOKEN)) {
    parts.push(line.slice(end, match.index), element('span', { class: kindOf(match[0]) }, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, line.slice(end)];
}

/** @param {string} token */
function kindOf(token) {
  if (token.startsWith('#')) return 'yaml-comment';
  if (token.startsWith('$')) return 'yaml-reference';
  return /^["']/.test(token) ? 'yaml-text' : 'yaml-key';
}
