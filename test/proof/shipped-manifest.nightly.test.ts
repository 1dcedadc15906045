import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { getOrCreate } from '../../src/engine/get-or-create.ts';
import { load } from '../../src/engine/load.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { proveChange } from '../../src/prove/proof/prove-change.ts';
import { mutate } from '../diff/mutations.ts';
import { randomOf } from '../model/random-case.ts';
import { cases, SEED } from '../support/runs.ts';
import { createModelDecider } from './model-side.ts';
import { resultsOf } from './support.ts';

const ROOT = new URL('../../', import.meta.url);
const COUNT = cases(500);
const readFile = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const listFolder = () => [];

function sideOf(path: string, text: string): DiffSide | undefined {
  const loaded = load({ path, text }, { env: {}, readFile, listFolder });
  return loaded.plan === undefined ? undefined : createDiffSide(loaded, readFile);
}

const text = readFile('gateway.yaml');
const old = sideOf('old.yaml', text) as DiffSide;
const decideOld = createModelDecider(old);
/** The decisions of the shipped manifest, by request: most mutations try the same requests. */
const decided = new Map<string, ReturnType<typeof decideOld>>();

/** Requests for each route of both manifests, by each caller. */
function requestsOf(next: DiffSide) {
  return [...old.routes, ...next.routes].flatMap(({ route: { methods, path } }) =>
    methods.flatMap((method) =>
      [undefined, 'admin', 'user', 'guest'].map((role) => ({
        method,
        url: path.replaceAll(/\{\w+\}/g, 'x').replace('**', 'x'),
        ...(role !== undefined && { role }),
      })),
    ),
  );
}

it('proofs about changes of the shipped manifest agree with requests for all routes', async () => {
  const random = randomOf(SEED);
  const counts = { all: 0, holds: 0, shown: 0 };
  while (counts.all < COUNT) {
    const mutation = mutate(parse(text), random);
    const next = mutation && sideOf('new.yaml', JSON.stringify(mutation.manifest));
    if (next === undefined) continue;
    counts.all += 1;
    const proof = await proveChange(old, next, 'no-new-access');
    if (resultsOf(proof).shown.length > 0) counts.shown += 1;
    if (!proof.holds) continue;
    counts.holds += 1;
    const decideNow = createModelDecider(next);
    for (const request of requestsOf(next)) {
      const now = await decideNow(request);
      if (!now.isServed) continue;
      const before = await getOrCreate(decided, JSON.stringify(request), () => decideOld(request));
      expect([before.isServed, before.target], `${mutation?.path}: ${JSON.stringify(request)}`).toEqual([
        true,
        now.target,
      ]);
    }
  }
  expect(Math.min(counts.holds, counts.shown)).toBeGreaterThan(COUNT / 20);
});
