import fc from 'fast-check';
import { expect, it } from 'vitest';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import { anyManifest } from '../support/any-manifest.ts';
import { cases, runs } from '../support/runs.ts';
import { fullSideOf, MANIFESTS } from './full-manifests.ts';
import { mutate } from './mutations.ts';
import { isTreatedDifferently, offlineSide } from './outcomes.ts';
import type { Random } from './rewrites.ts';
import { sampleRequest } from './sample-requests.ts';

/** The number of mutations, and of requests for each one. */
const RUNS = 60;
const REQUESTS = 40;

type Routes = Parameters<typeof sampleRequest>[0];

/** The manifests with every key, as plain HTTP. */
const fullManifest = fc.constantFrom(...MANIFESTS).map(({ admin: _admin, server, ...manifest }) => {
  const { tls: _tls, ...rest } = server;
  return { ...manifest, server: rest };
});

const random = fc.infiniteStream(fc.nat()).map(
  (numbers): Random =>
    (limit) =>
      (numbers.next().value as number) % limit,
);

it('reports every mutation of a manifest that a sample request shows', async () => {
  const counts = { reported: 0, unreported: 0 };
  await fc.assert(
    fc.asyncProperty(fc.oneof<fc.Arbitrary<object>[]>(anyManifest, fullManifest), random, async (manifest, step) => {
      const mutation = mutate(manifest, step);
      const [old, next] = [manifest, mutation?.manifest].map((one) => one && fullSideOf(one));
      fc.pre(old !== undefined && next !== undefined);
      if (mutation === undefined || old === undefined || next === undefined) return;
      if (diff(old, next).length > 0) {
        counts.reported += 1;
        return;
      }
      counts.unreported += 1;
      const routes = [manifest, mutation.manifest].flatMap((one) => (one as { routes: Routes }).routes);
      const [before, now] = [offlineSide(old), offlineSide(next)];
      for (let count = 0; count < REQUESTS; count += 1) {
        const request = sampleRequest(routes, step);
        expect([mutation.path, request, await isTreatedDifferently(before, now, request)]).toEqual([
          mutation.path,
          request,
          false,
        ]);
      }
    }),
    { numRuns: runs(RUNS) },
  );
  expect(counts.reported).toBeGreaterThan(cases(RUNS) / 4);
});
