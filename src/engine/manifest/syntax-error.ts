import type { Finding } from '../problem/finding.ts';

/** The messages for errors of the parser: the error, then its fix. A pattern matches the code, the parser's message and the text. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^TAB_AS_INDENT|start with a tab| @\t/, 'a tab cannot indent YAML; use spaces'],
  [/^MULTIPLE_DOCS/, 'a second document begins here, and the file is one document; remove the "---" or "..."'],
  [/directives-end marker/, 'a key cannot follow "---" on its line; write it on the next line'],
  [/directives-end/, 'the line "---" is missing after the line that begins with "%"; add it, or remove that line'],
  [/doc-end/, 'the line "..." ends a document that has not begun; remove it'],
  [/^UNEXPECTED_TOKEN .* @[\]}]/, 'this bracket closes nothing; remove it, or write the opening one before it'],
  [/^RESOURCE_EXHAUSTION/, 'the manifest is nested too deeply here; at most 100 levels are read'],
  [/^(?:\S+ )?Flow sequence .* end with/i, 'this list is never closed; write the missing "]"'],
  [/^(?:\S+ )?Flow map .* end with/i, 'this map is never closed; write the missing "}"'],
  [/Missing closing 'quote/, "this quote is never closed; write the missing ', or indent the lines below it"],
  [/Missing closing "quote/, 'this quote is never closed; write the missing ", or indent the lines below it'],
  [
    /Block scalar header|Not a YAML token/,
    'after "|" or ">" the line ends; write the text on the lines below, or put it in quotes',
  ],
  [/Block scalar/, 'the lines below "|" or ">" are not indented like the first of them; indent them all alike'],
  [/(?:block-seq|seq-item)-ind/, 'a list cannot begin on the line of its key; write the "- " on the next line'],
  [
    /Sequence item without -/,
    'this line is not indented like the lines above; indent it like them, or begin it with "- "',
  ],
  [/must start at the same column/, 'this line is not indented like the lines above; indent it like them'],
  [/(?:Implicit .*keys|map values).* @[\w$/.-]+:\S/, 'a colon needs a space after it; write "key: value"'],
  [/(?:Implicit .*keys|map values).* @[^"'[{]/, 'a colon and a space are missing on this line; write "key: value"'],
  [
    /Implicit .*keys/,
    'a key must be on one line, with a colon and a space after it; close the quote or bracket before it',
  ],
  [/A block sequence may not be used/, 'a list cannot be here; indent it below its key'],
  [/^BLOCK_AS_IMPLICIT_KEY/, 'a value that contains ": " needs quotes; quote it, or indent the lines below it less'],
  [/Missing space after :/, 'a colon needs a space after it; write "key: value"'],
  [/Missing , /, 'a comma is missing before this; write one between two items'],
  [/Unexpected (?:,|empty item)/, 'an item is missing before this comma; remove the comma'],
  [/^KEY_OVER_1024_CHARS/, 'a key has at most 1024 characters; shorten it, or close the quote before it'],
  [/^ALIAS_PROPS/, 'an alias ("*") cannot have an anchor ("&"); remove one of the two'],
  [/^MULTIPLE_ANCHORS/, 'a value has at most one anchor ("&"); remove this one'],
  [/^BAD_PROP_ORDER/, 'an anchor ("&") is written directly before its value; move it behind the "-", "?" or ":"'],
  [/^BAD_ALIAS Alias/, 'a "*" begins an alias; put the value in quotes'],
  [/^BAD_ALIAS Anchor/, 'a "&" begins an anchor; put the value in quotes'],
  [
    /^BLOCK_IN_FLOW .* @[^\s,[\]{}]+ +[\w$-]+:/,
    'a comma is missing between two items here; write one, or put the value in quotes',
  ],
  [/^BLOCK_IN_FLOW .* @[^\s,[\]{}][^\n,[\]{}]*:\s/, 'a value that contains ": " needs quotes; quote it'],
  [/^BLOCK_IN_FLOW/, 'values inside brackets need brackets too; write [a, b] or { key: value }'],
  [/^BAD_DQ_ESCAPE/, 'a backslash begins an escape here; write it twice, or use single quotes'],
  [/^BAD_SCALAR_START/, 'a value cannot begin with this character; put the value in quotes'],
  [/at node end/, 'this is not expected after the value before it; put both in quotes, or remove one'],
  [/separated from/, 'a space is missing before this; write one'],
];

/** For errors that no pattern matches. The messages of the parser use its own terms, so they are never printed. */
const OTHER = 'this is not expected here; close the bracket or quote before it, or put it in quotes';

/** @param text the text from the error on */
export function syntaxMessage(code: string, message: string, text: string): string {
  return MESSAGES.find(([pattern]) => pattern.test(`${code} ${message} @${text}`))?.[1] ?? OTHER;
}

/** @param start an offset in UTF-16 code units; `end` is exclusive */
export function syntaxError(start: number, end: number, message: string): Finding {
  return { rule: 'syntax', severity: 'error', location: { start, end }, message };
}
