import { type Node, parseDocument } from 'yaml';
import type { Finding } from '../problem/finding.ts';
import { parserFindings } from './parser-findings.ts';
import { syntaxError } from './syntax-error.ts';
import { MAX_DEPTH } from './yaml-values.ts';

const PARSER_OPTIONS = {
  prettyErrors: false,
  version: '1.2',
  // The parser would compare every pair of keys; `readValues` finds duplicates in linear time.
  uniqueKeys: false,
  merge: false,
} as const;

/** Parses YAML text into a tree. Never throws, even for invalid text. */
export function parseTree(text: string): { root: Node | null; findings: Finding[] } {
  try {
    const parsed = withoutStackTraces(() => parseDocument(text, PARSER_OPTIONS));
    return { root: parsed.contents, findings: parserFindings(parsed, text) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `the manifest is nested too deeply; at most ${MAX_DEPTH} levels are read`;
    return { root: null, findings: [syntaxError(0, 0, message)] };
  }
}

/** Runs a parser that may create hundreds of thousands of errors. Their stack traces would take most of its time and memory. */
function withoutStackTraces<T>(parse: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parse();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
