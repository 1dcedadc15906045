import { afterAll, beforeAll, expect, it } from 'vitest';
import { explain } from '../../src/prove/explain/explain-request.ts';
import { cases, SEED } from '../support/runs.ts';
import type { Site } from '../support/site.ts';
import { decisionOfModel, loadCase } from './compared-decisions.ts';
import { type Json, RandomCases, randomOf } from './random-case.ts';
import { localized, sendCase, startSilentSite } from './sent-cases.ts';

const REQUESTS = cases(4_000);
const PER_MANIFEST = 20;

let site: Site;
beforeAll(async () => {
  site = await startSilentSite();
});
afterAll(() => site.close());

it('agrees with a running gateway and with explain on random requests to random manifests', async () => {
  const generator = new RandomCases(randomOf(SEED), { hasAnySubject: false });
  for (let count = 0; count < REQUESTS; ) {
    const manifest = localized(generator.manifest(), site);
    const planned = loadCase(manifest);
    if (planned === undefined) continue;
    site.gateway.swap(JSON.stringify(manifest));
    for (let index = 0; index < PER_MANIFEST; index += 1, count += 1) {
      const request = generator.request(manifest);
      const { sent: offline, status, line, received } = await sendCase(request, manifest, site);
      const { refusal: code, route, reported = [] } = line;
      const expected = decisionOfModel(planned, request);
      const { caller } = request;
      const claims = typeof caller === 'object' ? (caller.claims as Json) : undefined;
      const sent = { ...offline, headers: claims === undefined ? offline.headers : withoutToken(offline.headers) };
      const explained = await explain(
        planned,
        sent,
        claims,
        undefined,
        typeof caller === 'object' ? caller.issuer : undefined,
      );
      const target = expected.forwarded?.[0]?.replace(/^\w+ /, '');
      const shown = {
        kind: expected.kind,
        route: expected.route,
        refusal: expected.refusal,
        target: expected.kind === 'forwarded' ? target : undefined,
        reported: expected.reported,
      };
      const kind = code !== undefined ? 'refused' : received === undefined ? 'responded' : 'forwarded';
      const gateway = {
        kind,
        route,
        refusal: code === undefined ? undefined : `${status} ${code}`,
        target: kind === 'forwarded' ? received?.url : undefined,
        reported: (reported as { code: string }[]).map((one) => one.code),
      };
      const { refusal, upstream: explainedUpstream } = explained;
      const explanation = {
        kind: explained.outcome,
        route: explained.route?.id,
        refusal: refusal === null ? undefined : `${refusal.status} ${refusal.code}`,
        target: explainedUpstream?.url.slice(site.upstream.url.length),
        reported: explained.reported.map((one) => one.code),
      };
      expect({ seed: SEED, manifest, request, ...gateway }).toEqual({ seed: SEED, manifest, request, ...shown });
      expect({ seed: SEED, manifest, request, ...explanation }).toEqual({ seed: SEED, manifest, request, ...shown });
    }
  }
});

function withoutToken(headers: readonly string[]): string[] {
  const at = headers.indexOf('Authorization');
  return headers.filter((_, index) => index !== at && index !== at + 1);
}
