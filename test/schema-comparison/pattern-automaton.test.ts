import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alphabetOf } from '../../src/prove/schema-comparison/character-set.ts';
import { PatternAutomaton } from '../../src/prove/schema-comparison/pattern-automaton.ts';
import { cases, runs } from '../support/runs.ts';
import { loadableSchema } from './compared-schema.ts';

const CHARACTERS = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '[a-c]',
  '[\\d-]',
  '\\d',
  '\\W',
  '\\s',
  '\\.',
  '\\p{L}',
  '\\x61',
  '\\u0062',
  '[]',
  '[^]',
  '[\\b\\cA]',
  '\\t',
  '\\u{1F600}',
  '\\ud83d\\ude00',
  '\\P{L}',
  '\\p{Script=Greek}',
  '[^\\p{Lu}]',
];

const pattern: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(...CHARACTERS),
    fc.tuple(tie('node'), tie('node')).map((parts) => parts.join('')),
    fc.tuple(tie('node'), tie('node')).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,2}', '{2,}', '*?'))
      .map(([part, times]) => `(?:${part})${times}`),
    tie('node').map((part) => `^${part}`),
    tie('node').map((part) => `${part}$`),
    tie('node').map((part) => `\\b${part}`),
    tie('node').map((part) => `(?i:${part})`),
    tie('node').map((part) => `(?-i:${part})`),
    tie('node').map((part) => `(?<name>${part})`),
  ),
})).node;

const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', '1', '-', '.', ' ', 'é', 'Ω', '\t', '\x01', 'ſ', '😀'),
  maxLength: 5,
});

test('the automaton of a pattern matches the texts that the gateway accepts', () => {
  let matched = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 10, maxLength: 10 }), (source, texts) => {
      const automaton = PatternAutomaton.of(source);
      const schema = loadableSchema({ pattern: source });
      fc.pre(schema !== undefined);
      const accepts = (one: string) => schema?.accepts(one) === true;
      for (const one of texts) {
        expect([one, automaton?.matches(one)]).toEqual([one, accepts(one)]);
        matched += accepts(one) ? 1 : 0;
      }
    }),
    { numRuns: runs(300) },
  );
  expect(matched).toBeGreaterThan(cases(300));
});

test.each([
  ['an optional part after an anchor', '(?:^a)*$', ['', 'a', 'b']],
  ['the Kelvin sign, a spelling of k', '^(?i:[^A-Z])$', ['k', '\u212a', '1']],
  ['a negated class without letter case', '^(?i:\\W)$', ['s', 'ſ', '-']],
])('%s', (_name, source, texts) => {
  const automaton = PatternAutomaton.of(source);
  const accepted = texts.map((one) => loadableSchema({ pattern: source })?.accepts(one));
  expect(texts.map((one) => automaton?.matches(one))).toEqual(accepted);
  expect(accepted).toContain(true);
});

test.each(['Thai', 'Hebrew', 'Hangul', 'Devanagari'])('a search knows a character of the script %s', (script) => {
  const pattern = `^\\p{Script=${script}}$`;
  const texts = alphabetOf(PatternAutomaton.of(pattern)?.sets ?? []).map((one) => String.fromCodePoint(one));
  expect(texts.some((text) => loadableSchema({ pattern })?.accepts(text))).toBe(true);
});
