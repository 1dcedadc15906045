import { isDeepStrictEqual } from 'node:util';
import { type Problem, toProblems } from '../problem/problem.ts';
import { parse } from './document.ts';
import { formatText } from './format.ts';
import type { Source } from './source.ts';

/** `isChanged`: formatting would change the meaning of the text, which is a bug of the formatter. */
export type FormatResult =
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
