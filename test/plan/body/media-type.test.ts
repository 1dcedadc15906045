import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonType, parseMediaType } from '../../../src/engine/validation/media-type.ts';
import { cpuMs } from '../../support/cpu-time.ts';

test.each([
  ['text/csv', 'text/csv', {}],
  ['Text/CSV;Charset=UTF-8', 'text/csv', { charset: 'UTF-8' }],
  ['a/b; c="d \\" e"; f=g', 'a/b', { c: 'd " e', f: 'g' }],
  ['a/b;c=""', 'a/b', { c: '' }],
  ['a/b;', 'a/b', {}],
  ['a/b; ;c=d;\t ; e=f ;', 'a/b', { c: 'd', e: 'f' }],
])('parses %s', (text, name, parameters) => {
  const type = parseMediaType(text);
  expect([type?.name, Object.fromEntries(type?.parameters ?? [])]).toEqual([name, parameters]);
});

test('parses or refuses any text in linear time', () => {
  const part = fc.constantFrom('a/b', ';', ' ', '\t', 'c=', '"', '\\', 'd', ',', '=');
  fc.assert(fc.property(fc.array(part), (parts) => void parseMediaType(parts.join(''))));
  const start = cpuMs();
  for (const text of [' ', ';', ' ;\t', '; a=b', '; a="\\"', '; ', 'a', ';a="']) {
    expect(parseMediaType(`a/b${text.repeat(16_384 / text.length)}!(`)).toBeUndefined();
    expect(isJsonType(`application/json${text.repeat(16_384 / text.length)}!(`)).toBe(false);
  }
  expect(cpuMs() - start).toBeLessThan(200);
});
