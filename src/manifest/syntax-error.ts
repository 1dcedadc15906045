import type { Finding } from '../problem/finding.ts';

/** Messages that replace those of the parser: the error, then its fix. The first matching row applies; else the parser's message does. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^TAB_AS_INDENT/, 'a tab cannot indent YAML; use spaces'],
  [/^MULTIPLE_DOCS/, 'a manifest is one document, and a second one begins here; remove the "---"'],
  [/^TAG_RESOLVE_FAILED/, 'a manifest cannot have tags; remove this one'],
  [
    /directives-end|^BAD_DIRECTIVE/,
    'a line that begins with "%" is a directive, which a manifest cannot have; remove it',
  ],
  [
    /^UNEXPECTED_TOKEN Block scalar header/,
    'after "|" or ">" the line ends; write the text on the lines below, or put it in quotes',
  ],
  [/^RESOURCE_EXHAUSTION/, 'the manifest is nested too deeply here; at most 100 levels are read'],
  [/flow sequence .* end with/i, 'this list is never closed; write the missing "]"'],
  [/flow map .* end with/i, 'this map is never closed; write the missing "}"'],
  [/Missing closing 'quote/, "this quote is never closed; write the missing '"],
  [/Missing closing "quote/, 'this quote is never closed; write the missing "'],
  [
    /Sequence item without -/,
    'this line is not indented like the lines above; indent it like them, or begin it with "- "',
  ],
  [/must start at the same column/, 'this line is not indented like the lines above; indent it like them'],
  [/need to be followed by map values/, 'a key needs a colon and a space after it; write "key: value"'],
  [
    /Implicit .*keys .*single line/,
    'a key must be on one line, with a colon and a space after it; close the quote or bracket before it',
  ],
  [/A block sequence may not be used/, 'a list cannot be here; indent it below its key'],
  [/^BLOCK_AS_IMPLICIT_KEY/, 'a value that contains ": " needs quotes; quote it, or indent the lines below it less'],
  [/Missing space after :/, 'a colon needs a space after it; write "key: value"'],
  [/Missing , /, 'a comma is missing before this; write one between two items'],
  [/Unexpected (?:,|empty item)/, 'an item is missing before this comma; remove the comma'],
  [/^KEY_OVER_1024_CHARS/, 'a key has at most 1024 characters; shorten it, or close the quote before it'],
  [/^BAD_ALIAS Alias/, 'a "*" begins an alias; put the value in quotes'],
  [/^BAD_ALIAS Anchor/, 'a "&" begins an anchor; put the value in quotes'],
  [/^BLOCK_IN_FLOW/, 'values inside brackets need brackets too; write [a, b] or { key: value }'],
  [/^BAD_DQ_ESCAPE/, 'a backslash begins an escape here; write it twice, or use single quotes'],
  [/^BAD_SCALAR_START/, 'a value cannot begin with this character; put the value in quotes'],
  [/at node end/, 'this is not expected after the value before it; put both in quotes, or remove one'],
  [/Not a YAML token/, 'after "|" or ">" the line ends; write the text on the lines below, or put it in quotes'],
  [/separated from|white space/, 'a space is missing before this; write one'],
  [/^UNEXPECTED_TOKEN/, 'this is not expected here; close the bracket or quote before it, or put it in quotes'],
];

export function syntaxMessage(code: string, message: string): string {
  const parserMessage = `${code} ${message}`;
  const replacement = MESSAGES.find(([pattern]) => pattern.test(parserMessage))?.[1];
  return replacement ?? message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '');
}

/** @param start an offset in UTF-16 code units; `end` is exclusive */
export function syntaxError(start: number, end: number, message: string): Finding {
  return { rule: 'syntax', severity: 'error', location: { start, end }, message };
}
