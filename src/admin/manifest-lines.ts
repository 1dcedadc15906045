import type { PlannedManifest } from '../load.ts';
import type { Path } from '../problem/finding.ts';
import { redactManifestText } from '../problem/secret-text.ts';

/** Lines of a manifest, with secrets redacted. */
export interface ManifestLines {
  readonly file: string;
  /** The number of the first line. */
  readonly line: number;
  readonly text: string;
}

/** A longer value is cut. */
const MAX_LINES = 500;

/** Returns the lines of an item of a list. */
export function linesOf({ document, sources }: PlannedManifest, path: Path): ManifestLines {
  const location = { path, at: 'value' } as const;
  const { line } = document.locate(location);
  const file = document.fileOf(location);
  const text = sources.find((candidate) => candidate.path === file)?.text ?? '';
  const lines = text.split(/\r?\n/).slice(line - 1, line - 1 + MAX_LINES);
  return { file, line, text: redactManifestText(lines.slice(0, itemLength(lines)).join('\n').trimEnd()) };
}

/** Returns how many lines belong to the item in the first one: those that are indented further, and a closing brace. */
function itemLength(lines: readonly string[]): number {
  const [first = ''] = lines;
  const indent = indentOf(first);
  // A map below its dash has no mark in its first line, and the other keys have the same indentation.
  const minimum = /^\s*[-{]/.test(first) ? indent + 1 : indent;
  const end = lines.findIndex((line, index) => index > 0 && line.trim() !== '' && indentOf(line) < minimum);
  if (end === -1) return lines.length;
  return first.trim().startsWith('{') && lines[end]?.trim().startsWith('}') ? end + 1 : end;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
