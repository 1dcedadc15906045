import type { PlannedManifest } from '../load.ts';
import type { Source } from '../manifest/source.ts';
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
/** The redacted texts, which are freed with the manifest. */
const REDACTED_TEXTS = new WeakMap<Source, string>();

/** Returns the lines of an item of a list. */
export function linesOf({ document, sources }: PlannedManifest, path: Path): ManifestLines {
  const location = { path, at: 'value' } as const;
  const { line } = document.locate(location);
  const file = document.fileOf(location);
  const source = sources.find((candidate) => candidate.path === file);
  const lines = (source === undefined ? '' : redactedTextOf(source))
    .split(/\r?\n/)
    .slice(line - 1, line - 1 + MAX_LINES);
  return { file, line, text: lines.slice(0, itemLength(lines)).join('\n').trimEnd() };
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

/** Returns the text of a file with its secrets redacted. */
export function redactedTextOf(source: Source): string {
  let text = REDACTED_TEXTS.get(source);
  if (text === undefined) {
    text = redactManifestText(source.text);
    REDACTED_TEXTS.set(source, text);
  }
  return text;
}
