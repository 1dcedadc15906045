import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test, vi } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { runToEnd } from '../../../src/engine/plan/sliced-work.ts';
import { loadText, manifestOf, ROUTE, repeat, violationsOf } from '../../manifest/support.ts';

const SCHEMAS = `schemas:
  Mail: { type: object, required: [to], properties: { to: { type: string } } }
`;
const READ_NOTHING = { env: {}, readFile: () => expect.unreachable() };

const routesOf = (count: number, schemaOf: (index: number) => string) =>
  repeat(
    count,
    (index) =>
      `  - { id: route-${index}, method: POST, path: /api/${index}, upstream: contacts, access: public, body: { schema: ${schemaOf(index)} } }\n`,
  );

afterEach(() => vi.unstubAllGlobals());

/** Counts the functions that ajv generates: two for each schema, one of which finds all violations. */
function countGenerated(): () => number {
  let count = 0;
  const Original = Function;
  const counting = new Proxy(Original, {
    construct(target, args) {
      count += 1;
      return Reflect.construct(target, args);
    },
  });
  vi.stubGlobal('Function', counting);
  return () => count;
}

test.each([
  ['refer to a shared schema', SCHEMAS, "{ $ref: '#/schemas/Mail' }"],
  ['have equal schemas', '', '{ type: object, required: [to] }'],
])('a thousand routes that %s need one compilation', async (_, above, schema) => {
  const generated = countGenerated();
  const { plan } = loadText(
    manifestOf(
      above,
      routesOf(1_000, () => schema),
    ),
  );
  expect(generated()).toBe(0);
  for (const { body } of plan?.routes ?? []) await body?.validate?.(Buffer.from('{"to":"a"}'));
  expect(generated()).toBe(1);
  // The function that finds all violations is generated with the first one.
  for (const { body } of plan?.routes ?? []) await body?.validate?.(Buffer.from('{}'));
  expect(generated()).toBe(2);
});

test('routes with different schemas have different validators', () => {
  const loaded = loadText(
    manifestOf(
      '',
      routesOf(2, (index) => `{ const: ${index} }`),
    ),
  );
  const [first, second] = loaded.plan?.routes ?? [];
  expect(violationsOf(loaded, '0')).toEqual([]);
  expect(first?.body?.validate?.(Buffer.from('1'))).toMatchObject({ violations: [{ pointer: '' }] });
  expect(second?.body?.validate?.(Buffer.from('1'))).toMatchObject({ violations: [] });
});

test('every one of a thousand routes with the same invalid schema is a problem', () => {
  expect(
    loadText(
      manifestOf(
        '',
        routesOf(1_000, () => '{ unknown: 1 }'),
      ),
    ).problems,
  ).toHaveLength(1_000);
});

test('a plan compiles the schemas ahead that it is asked to', () => {
  const { plan } = loadText(
    manifestOf(
      '',
      routesOf(5, (index) => `{ const: ${index} }`),
    ),
  );
  for (const count of [2, 4, 9]) {
    const wanted = new Set([0, 1, 2, 3, 4].slice(0, count).map((value) => `{"const":${value}}`));
    runToEnd(plan?.compilations?.compileAhead((content) => wanted.has(content)) ?? expect.unreachable());
    expect(plan?.compilations?.compiledContents).toEqual(wanted);
  }
});

test('a reload compiles the schemas that requests needed, and no others', async () => {
  const text = manifestOf(
    '',
    routesOf(5, (index) => `{ const: ${index} }`),
  );
  const active = loadText(text).plan;
  await active?.routes[3]?.body?.validate?.(Buffer.from('3'));
  const next = load({ path: 'gateway.yaml', text }, READ_NOTHING, active).plan;
  expect([...(next?.compilations?.compiledContents ?? [])]).toEqual(['{"const":3}']);
});

test('a plan does not keep the plan before it in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const withParameter = ROUTE.replace('/api/contacts', "'/api/{id}'").replace(
    ' }',
    ', params: { properties: { id: { type: string } } } }',
  );
  const text = manifestOf('', withParameter);
  let active = loadText(text).plan;
  const compilations = new WeakRef(active?.compilations ?? expect.unreachable());
  const next = load({ path: 'gateway.yaml', text }, READ_NOTHING, active).plan;
  active = undefined;
  await setImmediate();
  collectGarbage();
  expect(compilations.deref()).toBeUndefined();
  expect(next?.routes[0]?.parameters?.validate('/api/a', '', [])).toEqual([]);
});
