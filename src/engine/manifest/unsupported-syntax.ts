import type { Finding } from '../problem/finding.ts';
import { syntaxError } from './syntax-error.ts';
import { tokenize } from './yaml-tokens.ts';

// Tags and directives change how YAML is read: `%YAML 1.1` turns `on` into true, and `!!binary` decodes a string. With them,
// the same text would have several readings.

const VERSION = /^%YAML[ \t]+1\.2$/;

/** Returns the errors of the directives and the tags of YAML text, in order. `%YAML 1.2` is allowed once. */
export function findUnsupportedSyntax(text: string): Finding[] {
  // Most manifests have neither, and tokens cost time.
  if (!/!|^\uFEFF?%/m.test(text)) return [];
  const findings: Finding[] = [];
  let hasVersion = false;
  for (const { kind, text: token, start } of tokenize(text)) {
    const message = kind === 'other' ? messageOf(token, hasVersion) : undefined;
    if (message !== undefined) findings.push(syntaxError(start, start + token.length, message));
    hasVersion ||= kind === 'other' && VERSION.test(token);
  }
  return findings;
}

function messageOf(token: string, hasVersion: boolean): string | undefined {
  if (token.startsWith('!'))
    return 'a manifest cannot have tags; remove this one, or put a value that begins with "!" in quotes';
  if (!token.startsWith('%') || (VERSION.test(token) && !hasVersion)) return undefined;
  if (VERSION.test(token)) return 'the version of YAML is stated twice; remove this line';
  return token.startsWith('%YAML')
    ? 'a manifest is YAML 1.2; remove this line'
    : 'a line that begins with "%" is a directive, which a manifest cannot have; remove it';
}
