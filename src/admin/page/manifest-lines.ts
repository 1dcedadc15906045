import { element } from './element.ts';

/** A comment, a quoted text, a reference to a variable, or a key. */
const TOKEN = /(^|(?<=\s))#.*$|"(?:[^"\\]|\\.)*"|'[^']*'|\$\{[^}]*\}|[\w./*-]+(?=\s*:(?:\s|$))/g;

/** Returns lines of YAML with their numbers, and below each line the elements that `notesOf` returns. */
export function yamlLines(
  text: string,
  firstLine: number,
  label: string,
  notesOf: (line: number) => Node[] = () => [],
) {
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

function highlighted(line: string) {
  const parts: (Node | string)[] = [];
  let end = 0;
  for (const match of line.matchAll(TOKEN)) {
    parts.push(line.slice(end, match.index), element('span', { class: kindOf(match[0]) }, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, line.slice(end)];
}

function kindOf(token: string) {
  if (token.startsWith('#')) return 'yaml-comment';
  if (token.startsWith('$')) return 'yaml-reference';
  return /^["']/.test(token) ? 'yaml-text' : 'yaml-key';
}
