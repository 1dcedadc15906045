import type { Finding } from '../problem/finding.ts';

/**
 * The parser's messages, said in our words: what is wrong, then what to write. The first row that fits counts;
 * what no row knows is passed on as the parser said it.
 */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^TAB_AS_INDENT/, 'a tab cannot indent YAML; use spaces'],
  [/^MULTIPLE_DOCS/, 'a second document begins here; a manifest is one document, remove the "---"'],
  [/^TAG_RESOLVE_FAILED/, 'a manifest has no tags; remove it'],
  [/directives-end|^BAD_DIRECTIVE/, 'a line that begins with "%" is a directive, and a manifest has none; remove it'],
  [
    /^UNEXPECTED_TOKEN Block scalar header/,
    'after "|" or ">" the line ends; write the text on the lines below, or all of it in quotes',
  ],
  [/^RESOURCE_EXHAUSTION/, 'the manifest is nested too deeply here; at most 100 levels are read'],
  [/flow sequence .* end with/i, 'this list is never closed; write the missing "]"'],
  [/flow map .* end with/i, 'this map is never closed; write the missing "}"'],
  [/Missing closing 'quote/, "this quote is never closed; write the missing '"],
  [/Missing closing "quote/, 'this quote is never closed; write the missing "'],
  [
    /Sequence item without -/,
    'this line is not indented as the lines above; indent it like its neighbours, or begin it with "- "',
  ],
  [/must start at the same column/, 'this line is not indented as the lines above; indent it like its neighbours'],
  [/need to be followed by map values/, 'a key needs a colon and a space after it; write "key: value"'],
  [
    /Implicit .*keys .*single line/,
    'a key must stand on one line, with a colon and a space after it; close the quote or bracket before it',
  ],
  [/A block sequence may not be used/, 'a list cannot stand here; indent it below the key that it belongs to'],
  [/^BLOCK_AS_IMPLICIT_KEY/, 'a value with ": " in it must be quoted, or the lines below it indented less'],
  [/Missing space after :/, 'a colon needs a space after it; write "key: value"'],
  [/Missing , /, 'a comma is missing before this; write one between two items'],
  [/Unexpected (?:,|empty item)/, 'an item is missing before this comma; remove the comma'],
  [/^KEY_OVER_1024_CHARS/, 'a key has at most 1024 characters; shorten it, or close the quote before it'],
  [/^BAD_ALIAS Alias/, 'a "*" begins an alias; put the value in quotes'],
  [/^BAD_ALIAS Anchor/, 'a "&" begins an anchor; put the value in quotes'],
  [/^BLOCK_IN_FLOW/, 'inside of brackets everything is written with brackets; write [a, b] or { key: value }'],
  [/^BAD_DQ_ESCAPE/, 'a backslash begins an escape here; write it twice, or use single quotes'],
  [/^BAD_SCALAR_START/, 'a value cannot begin with this character; put the value in quotes'],
  [/at node end/, 'this is not expected after the value before it; put both in quotes, or remove one'],
  [/Not a YAML token/, 'after "|" or ">" the line ends; write the text on the lines below, or all of it in quotes'],
  [/separated from|white space/, 'a space is missing before this; write one'],
  [/^UNEXPECTED_TOKEN/, 'this is not expected here; close what stands before it, or put it in quotes'],
];

export function syntaxMessage(code: string, message: string): string {
  const said = `${code} ${message}`;
  const known = MESSAGES.find(([pattern]) => pattern.test(said))?.[1];
  return known ?? message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '');
}

/** @param start an offset in UTF-16 code units; `end` exclusive */
export function syntaxError(start: number, end: number, message: string): Finding {
  return { rule: 'syntax', severity: 'error', location: { start, end }, message };
}
