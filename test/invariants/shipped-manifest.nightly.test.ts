import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { load } from '../../src/engine/load.ts';
import type { DiffRequest } from '../../src/prove/diff/difference.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { readTestFile } from '../../src/prove/testing/read-test-file.ts';
import {
  createCaseRunner,
  runTestFile,
  type TestedManifest,
  type TestResult,
} from '../../src/prove/testing/run-test-file.ts';
import { mutate } from '../diff/mutations.ts';
import { type OfflineSide, offlineSide, outcomeOf } from '../diff/outcomes.ts';
import type { Random } from '../diff/rewrites.ts';
import { sampleRequest } from '../diff/sample-requests.ts';
import { runs } from '../support/runs.ts';

const readRoot = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const MANIFEST: object = parse(readRoot('gateway.yaml'));
const ENVIRONMENT = { env: {}, readFile: () => '' };

const read = (manifest: object) => load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, ENVIRONMENT);

/** Loads a manifest without its invariants. */
function sideOf({ invariants: _invariants, ...manifest }: { invariants?: unknown }) {
  const loaded = read(manifest);
  return loaded.plan && createDiffSide(loaded, ENVIRONMENT.readFile);
}

/** Test cases verify no token and reach no upstream. */
const isVisible = (path: string) => !/^(?:auth\.tokens|upstreams|invariants)/.test(path);

/** The decision about a request: its route or refusal, and what the upstream gets, except for headers, which the manifest does not change. */
async function decisionOf(side: OfflineSide, request: DiffRequest) {
  const { route, refusal, status, upstream } = (await outcomeOf(side, request)) as {
    [key in 'route' | 'refusal' | 'status']: unknown;
  } & { upstream?: Record<'method' | 'url' | 'body', unknown> };
  return { route, refusal, status, method: upstream?.method, url: upstream?.url, body: upstream?.body };
}

/** New rules for parts of requests that the specification leaves open are a decision of their author. */
const NEW_RULES = new Set(['parameter_invalid', 'body_invalid', 'body_too_large', 'media_type_unsupported']);

/** True if the decision about one of many requests differs, other than by a new rule for its contents. */
async function isShown(old: DiffSide, next: DiffSide, random: Random): Promise<boolean> {
  const routes = [...old.manifest.routes, ...next.manifest.routes] as Parameters<typeof sampleRequest>[0];
  const [before, now] = [offlineSide(old), offlineSide(next)];
  for (let count = 0; count < REQUESTS; count += 1) {
    const request = sampleRequest(routes, random);
    const decision = await decisionOf(now, request);
    const isNewRule = NEW_RULES.has(String(decision.refusal));
    if (!isNewRule && !isDeepStrictEqual(await decisionOf(before, request), decision)) return true;
  }
  return false;
}

const REQUESTS = 100;

/** Returns a function that is true if a manifest passes all test cases. Those that failed most often come first. */
async function createCaseCheck(): Promise<(manifest: TestedManifest) => Promise<boolean>> {
  const { testFile: found } = readTestFile({ path: 'gateway.test.yaml', text: readRoot('test/gateway.test.yaml') });
  const original = read(MANIFEST);
  if (found === undefined || original.plan === undefined) throw new Error('the shipped files do not load');
  const { testFile } = found;
  const results = await runTestFile(testFile, original);
  const ranked: { readonly result: TestResult; hits: number }[] = results
    .toSorted((a, b) => a.durationMs - b.durationMs)
    .map((result) => ({ result, hits: 0 }));
  return async (manifest) => {
    const run = createCaseRunner(testFile.tokens, manifest);
    for (const known of ranked.toSorted((a, b) => b.hits - a.hits)) {
      if ((await run(known.result)).mismatches.length === 0) continue;
      known.hits += 1;
      return false;
    }
    return true;
  };
}

it('the invariants or the test cases of the shipped manifest notice every change of a decision', async () => {
  const passesCases = await createCaseCheck();
  const original = sideOf(MANIFEST);
  if (original === undefined) throw new Error('the shipped manifest does not load');
  const counts = { refused: 0, failed: 0 };
  const random = fc.infiniteStream(fc.nat());
  await fc.assert(
    fc.asyncProperty(random, async (numbers) => {
      const step: Random = (limit) => (numbers.next().value as number) % limit;
      const { manifest, path = '' } = mutate(MANIFEST, step) ?? {};
      const changed = manifest === undefined || !isVisible(path) ? undefined : sideOf(manifest);
      fc.pre(changed !== undefined && (await isShown(original, changed, step)));
      if (manifest === undefined || changed === undefined) return;
      if (read(manifest).plan === undefined) counts.refused += 1;
      else {
        expect({ path, isNoticed: !(await passesCases(changed)) }).toMatchObject({ isNoticed: true });
        counts.failed += 1;
      }
    }),
    { numRuns: runs(20) },
  );
  expect(counts.refused).toBeGreaterThan(0);
  expect(counts.failed).toBeGreaterThan(0);
});
