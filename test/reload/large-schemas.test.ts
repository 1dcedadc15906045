import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { runInSlices } from '../../src/process/run-in-slices.ts';
import { bodyRoute, manifestOf, problemOf } from '../manifest/support.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ACTIVE = manifestOf();

let generated: number;
let reloader: Reloader;

beforeEach(() => {
  const path = join(temporaryFolder('large-schemas', { 'gateway.yaml': ACTIVE }), 'gateway.yaml');
  const initial = load({ path, text: ACTIVE }, createFileEnvironment(path, {}));
  if (initial.plan === undefined) throw new Error(JSON.stringify(initial.problems));
  const gateway = { plan: initial.plan, prepare: async () => {}, activate: async () => {} };
  reloader = new Reloader({ path, env: {}, gateway, initial, onReload: () => {} });
  generated = 0;
  const counting = new Proxy(Function, {
    construct(target, args) {
      generated += 1;
      return Reflect.construct(target, args);
    },
  });
  vi.stubGlobal('Function', counting);
});

afterEach(async () => {
  vi.unstubAllGlobals();
  await reloader.close();
});

const branches = (count: number) => ({
  oneOf: Array.from({ length: count }, (_, index) => ({ properties: { kind: { const: `k${index}` } } })),
});

async function prepare(schema: object) {
  const prepared = await reloader.prepareUnsaved(manifestOf('', bodyRoute(JSON.stringify(schema))));
  if (!('planned' in prepared)) throw new Error(JSON.stringify(prepared));
  return prepared.planned.plan;
}

describe('a schema of a manifest that is loaded while the gateway serves', () => {
  it.each([
    ['is large', branches(200)],
    ['may not compile', { type: 'object', unevaluatedProperties: false }],
  ])('is not compiled in the serving thread if it %s', async (_, schema) => {
    await prepare(schema);
    expect(generated).toBe(0);
  });

  it('is compiled only in the validation threads if it is large', async () => {
    const plan = await prepare(branches(200));
    const { validate } = plan.routes[0]?.body ?? {};
    const bodies = ['{"kind":"k7"}', '{"kind":"other"}'].map((text) => Buffer.from(text));
    const results = await Promise.all(bodies.map((body) => validate?.(body)));
    expect(results.map((result) => result?.violations.length === 0)).toEqual([true, false]);
    if (plan.compilations !== undefined)
      await runInSlices(
        plan.compilations.compileAhead(() => true),
        5,
      );
    expect(generated).toBe(0);
  });

  it('is compiled where it is needed first if it is small', async () => {
    const { routes } = await prepare(branches(20));
    expect(routes[0]?.body?.validate?.(Buffer.from('{"kind":"k7"}'))).toMatchObject({ violations: [] });
    expect(generated).toBe(1);
  });

  it('is a problem at its place if it has too many subschemas, also through references', () => {
    const schemas = `schemas: { Large: ${JSON.stringify(branches(900))}, Small: ${JSON.stringify(branches(200))} }\n`;
    const both = bodyRoute("{ anyOf: [{ $ref: '#/schemas/Large' }, { $ref: '#/schemas/Small' }] }");
    expect(problemOf(manifestOf(schemas, both))).toMatch(
      /^6:\d+ this schema has more than 2000 subschemas, with those/,
    );
  });
});
