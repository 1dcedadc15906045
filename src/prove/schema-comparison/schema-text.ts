import { createSchemaValidators, type ValueValidator } from '../../engine/schema/value-validator.ts';
import { PatternAutomaton } from './pattern-automaton.ts';

const automata = new Map<string, PatternAutomaton | undefined>();
/** The cache holds the patterns of one comparison; a process that compares many manifests must not keep all of them. */
const MAX_CACHED = 1_000;

/** Returns the automaton of a pattern; `undefined` if it has unsupported syntax or is too large. */
export function automatonOf(pattern: string): PatternAutomaton | undefined {
  if (!automata.has(pattern)) {
    if (automata.size >= MAX_CACHED) automata.clear();
    automata.set(pattern, PatternAutomaton.of(pattern));
  }
  return automata.get(pattern);
}

/** True if a text matches a pattern. Without an automaton, JavaScript decides, which differs only in rare syntax. */
export function matchesPattern(pattern: string, text: string): boolean {
  const automaton = automatonOf(pattern);
  if (automaton !== undefined) return automaton.matches(text);
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return false;
  }
}

const keywordValidators = new Map<string, ValueValidator>();

/** True if a value meets a keyword of one schema, such as `format: date`. The validator of the gateway decides. */
export function meetsKeyword(keyword: 'format' | 'contentEncoding', name: string, value: unknown): boolean {
  const key = `${keyword} ${name}`;
  let validate = keywordValidators.get(key);
  if (validate === undefined) {
    const root = { schemas: { it: { [keyword]: name } }, routes: [], files: {} };
    validate = createSchemaValidators(root).validatorAt(['schemas', 'it']);
    keywordValidators.set(key, validate);
  }
  return validate(value, Number.POSITIVE_INFINITY).length === 0;
}

/** Counts code points, as `maxLength` does. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
