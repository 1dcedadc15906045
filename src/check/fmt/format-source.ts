import { isDeepStrictEqual } from 'node:util';
import { parse } from '../../engine/manifest/document.ts';
import type { Source } from '../../engine/manifest/source.ts';
import { type Problem, toProblems } from '../../engine/problem/problem.ts';
import { formatText } from './format-text.ts';

/** `isChanged`: formatting would change the meaning of the text, which is a bug of the formatter. */
type FormatResult =
  | { readonly text: string }
  | { readonly problems: readonly Problem[] }
  | { readonly isChanged: true };

/** Formats a file. Returns the problems of a text that is not valid YAML. */
export function formatSource({ path, text }: Source): FormatResult {
  const { document, findings } = parse({ path, text });
  if (findings.length > 0) return { problems: toProblems(findings, document) };
  const formatted = formatText(text);
  const after = parse({ path, text: formatted });
  const isSame = after.findings.length === 0 && isDeepStrictEqual(after.document.value, document.value);
  return isSame ? { text: formatted } : { isChanged: true };
}
