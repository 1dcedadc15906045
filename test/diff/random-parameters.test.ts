import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { cases, runs } from '../support/runs.ts';
import { sideOf } from './support.ts';

const RUNS = 100;

const schema = fc.record(
  {
    type: fc.constantFrom<string | string[]>('string', 'integer', 'number', 'boolean', ['integer', 'string']),
    minimum: fc.constantFrom(-1, 0, 1),
    maximum: fc.constantFrom(1, 1.5, 20),
    minLength: fc.nat(2),
    maxLength: fc.integer({ min: 1, max: 3 }),
    pattern: fc.constantFrom('^a', '^[a-c]+$', '^[01]*$', 'b$', '^1'),
    enum: fc.subarray(['a', 'ab', '1', 1, 10, true], { minLength: 1 }),
  },
  { requiredKeys: [] },
);

const TEXTS = [
  ...['', 'a', 'b', '0', '1', '-', '.', 'e'].flatMap((one) =>
    ['', 'a', 'b', '0', '1', '.', 'e'].flatMap((other) => ['', 'a', '0', '1'].map((last) => one + other + last)),
  ),
  'true',
  'false',
  'null',
  '-0',
];

function manifestWith(place: string, rule: object) {
  const path = place === 'params' ? '/a/{name}' : '/a';
  const rules = { [place]: { properties: { name: rule } } };
  const route = { id: 'one', method: 'GET', path, upstream: 'up', access: 'public', ...rules };
  return { version: 1, upstreams: { up: { url: 'http://127.0.0.1:9' } }, routes: [route] };
}

/** True if the route accepts a text as the parameter. */
function accepts({ plan }: DiffSide, place: string, text: string): boolean {
  const validate = plan.routes[0]?.parameters?.validate ?? (() => []);
  if (place === 'headers') return validate('/a', '', ['name', text]).length === 0;
  const [path, query] = place === 'params' ? [`/a/${text}`, ''] : ['/a', `?name=${text}`];
  return validate(path, query, []).length === 0;
}

test('a request is found for every direction in which short parameters differ', () => {
  let count = 0;
  fc.assert(
    fc.property(fc.constantFrom('query', 'params', 'headers'), schema, schema, (place, one, other) => {
      const [old, next] = [sideOf(manifestWith(place, one), 'old.yaml'), sideOf(manifestWith(place, other))];
      fc.pre(old !== undefined && next !== undefined);
      if (old === undefined || next === undefined) return;
      const usable = TEXTS.filter((text) => place !== 'params' || /^[a-z0-9-]+$/.test(text));
      const opened = usable.find((text) => !accepts(old, place, text) && accepts(next, place, text));
      const closed = usable.find((text) => accepts(old, place, text) && !accepts(next, place, text));
      const rules = diff(old, next).map(({ rule }) => rule);
      if (opened !== undefined) expect(rules, `loosened by "${opened}"`).toContain('parameters-loosened');
      if (closed !== undefined) expect(rules, `tightened by "${closed}"`).toContain('parameters-tightened');
      count += opened === undefined && closed === undefined ? 0 : 1;
    }),
    { numRuns: runs(RUNS) },
  );
  expect(count).toBeGreaterThan(cases(RUNS) / 5);
});
