import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { createOfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { StubVerifier } from '../../src/prove/offline/stub-verifier.ts';
import { cases, runs } from '../support/runs.ts';
import { sideOf } from './support.ts';

const LOOSER = ['rate-limit-removed', 'rate-limit-loosened', 'rate-limit-reported', 'rate-limit-key'];
const STRICTER = ['rate-limit-added', 'rate-limit-tightened', 'rate-limit-enforced', 'rate-limit-key'];

const limit = fc.record(
  {
    key: fc.constantFrom<unknown>({ header: 'X-A' }, { header: 'x-a' }, { header: 'X-B' }, [
      { header: 'X-A' },
      'client',
    ]),
    missing: fc.constantFrom('refuse', 'skip'),
    allow: fc.constantFrom('1 per 1s', '2 per 2s', '3 per 1s', '3 per 3s', '2 per 1s', '4 per 2s'),
    burst: fc.integer({ min: 1, max: 4 }),
    count: fc.constantFrom('requests', 'failures', 'failures'),
    failures: fc.constantFrom([401], [401, 403], [403, 401]),
    mode: fc.constantFrom('enforce', 'enforce', 'report'),
  },
  { requiredKeys: ['key', 'missing', 'allow'] },
);

type Limit = typeof limit extends fc.Arbitrary<infer Value> ? Value : never;
const KEYS = ['key', 'missing', 'allow', 'burst', 'count', 'failures', 'mode'] as const;

const name = fc.constantFrom('one', 'one', 'one', 'other');
const isUsed = fc.nat(9).map((number) => number > 0);

function manifestOf({ failures, ...limit }: Limit, name: string, isUsed: boolean): object {
  return {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    rateLimits: { [name]: { ...limit, ...(limit.count === 'failures' && failures && { failures }) } },
    routes: [
      { id: 'a', method: 'GET', path: '/a', upstream: 'up', access: 'public', ...(isUsed && { rateLimits: [name] }) },
    ],
  };
}

/** Generates two manifests whose limits differ in one or two members, so that no difference hides another one. */
const pair = fc
  .tuple(limit, limit, fc.subarray([...KEYS], { minLength: 1, maxLength: 2 }), name, isUsed, isUsed)
  .map(([old, other, changed, name, ...isUsed]): [object, object] => {
    const next = { ...old, ...Object.fromEntries(changed.map((key) => [key, other[key]])) };
    const defined = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as Limit;
    return [manifestOf(old, 'one', isUsed[0]), manifestOf(defined, name, isUsed[1])];
  });

const attempt = fc.record({
  headers: fc.constantFrom<string[]>([], ['X-A', '1'], ['X-A', '1', 'X-B', '2']),
  times: fc.integer({ min: 1, max: 6 }),
  waitMs: fc.constantFrom(0, 300, 500, 700, 1_000, 2_000),
  status: fc.constantFrom(200, 401, 403),
});
type Attempt = typeof attempt extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the refusal of the last request, or the report in its place. */
async function outcomeOf({ plan }: DiffSide, { headers, times, waitMs, status }: Attempt): Promise<string | undefined> {
  const send = createOfflineGateway(plan, new StubVerifier());
  const request = { method: 'GET', target: '/a', headers, body: undefined };
  const { record } = await send(request, { status, headers: [], body: Buffer.alloc(0) }, { times, waitMs });
  return record.refusal?.code;
}

describe('the differences of rate limits', () => {
  it('have the direction of their effect, for random limits and requests', async () => {
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(pair, fc.array(attempt, { minLength: 12, maxLength: 12 }), async ([a, b], attempts) => {
        const [old, next] = [sideOf(a), sideOf(b)];
        if (old === undefined || next === undefined) throw new Error(JSON.stringify([a, b]));
        const rules = diff(old, next).map(({ rule }) => rule);
        for (const one of attempts) {
          const [before, now] = [await outcomeOf(old, one), await outcomeOf(next, one)];
          if ((before === undefined) === (now === undefined)) continue;
          seen += 1;
          const expected = now === undefined ? LOOSER : STRICTER;
          expect({ one, rules: rules.filter((rule) => expected.includes(rule)) }).not.toEqual({ one, rules: [] });
        }
      }),
      { numRuns: runs(400) },
    );
    expect(seen).toBeGreaterThan(cases(400));
  });
});
