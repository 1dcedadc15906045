import type { Finding } from '../problem/finding.ts';
import { isManifestKey } from './manifest-keys.ts';
import { syntaxError } from './syntax-error.ts';

/**
 * Finds the line whose indentation is wrong, above a line that the parser rejects because its indentation differs from that of
 * the lines above it.
 *
 * @param offset of the first character of the rejected line
 */
export function misindentedLine(text: string, offset: number): Finding | undefined {
  const lines = text.split('\n');
  const rejected = text.slice(0, offset).split('\n').length - 1;
  const parent = findLine(lines, rejected, -1, indentAt(lines, rejected) - 1);
  if (parent < 0) return undefined;
  if (isOutdented(lines, parent, rejected)) return findingAt(lines, parent, 'less than the lines around it', rejected);
  const first = findLine(lines, parent, 1, Number.MAX_VALUE);
  if (!isIndentedAlone(lines, first, rejected)) return undefined;
  return findingAt(lines, first, 'more than the lines below it', rejected);
}

/** True if a line has less indentation than its neighbours above and below, or than the key above it allows. */
function isOutdented(lines: readonly string[], line: number, rejected: number): boolean {
  // A key of the manifest itself has no indentation.
  if (isManifestKey(/^\w*/.exec(lines[line] ?? '')?.[0] ?? '')) return false;
  const before = findLine(lines, line, -1, Number.MAX_VALUE);
  const isKeyWithoutValue = /:\s*(?:#.*)?$/.test(lines[before] ?? '');
  if (isKeyWithoutValue && indentAt(lines, before) === indentAt(lines, line)) return true;
  const indent = indentAt(lines, rejected);
  return indentAt(lines, findLine(lines, line, -1, indent)) === indent;
}

/** True if the first member of a map has more indentation than the second, which has the indentation of the third. */
function isIndentedAlone(lines: readonly string[], first: number, rejected: number): boolean {
  const indent = indentAt(lines, rejected);
  if (indentAt(lines, first) <= indent || findLine(lines, first, 1, indentAt(lines, first)) !== rejected) return false;
  return indentAt(lines, findLine(lines, rejected, 1, indent)) === indent;
}

/** Returns the index of the nearest line in a direction with at most this indentation; -1 if there is none. */
function findLine(lines: readonly string[], from: number, step: 1 | -1, maxIndent: number): number {
  let line = from + step;
  while (line >= 0 && line < lines.length && indentAt(lines, line) > maxIndent) line += step;
  return line < lines.length ? line : -1;
}

/** Returns the indentation of a line; infinity for no line, an empty line and a comment, which have no effect. */
function indentAt(lines: readonly string[], line: number): number {
  const text = lines[line] ?? '';
  const indent = text.search(/\S/);
  return indent < 0 || text[indent] === '#' ? Number.POSITIVE_INFINITY : indent;
}

function findingAt(lines: readonly string[], line: number, reason: string, like: number): Finding {
  const text = lines[line] ?? '';
  const start = lines.slice(0, line).join('\n').length + Math.sign(line) + indentAt(lines, line);
  const message = `this line is indented ${reason}; indent it like line ${like + 1}`;
  return syntaxError(start, start + text.trim().length, message);
}
