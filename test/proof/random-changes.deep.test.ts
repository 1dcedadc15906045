import { expect, it } from 'vitest';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { expectedOf } from '../model/compared-decisions.ts';
import { BODIES, RandomCases, randomOf } from '../model/random-case.ts';
import { cases, SEED } from '../support/runs.ts';
import { anyChange } from './any-change.ts';
import { compareAlphabet } from './brute-force.ts';
import { expectTrueProofs, type ProofComparison } from './compared-proofs.ts';
import { createModelDecider, outcomeOf } from './model-side.ts';

/** The changes of manifests that load: 200 in the check. */
const COUNT = cases(2_000);
const decidersOf: ProofComparison['decidersOf'] = ([old, next]) => [createModelDecider(old), createModelDecider(next)];

it('a proof agrees with the model on all requests of a small alphabet, and so do its requests', async () => {
  const comparison = { decidersOf, requests: compareAlphabet, unseen: /rate-limit-/ };
  const counts = await expectTrueProofs(COUNT, (seed) => anyChange(randomOf(seed)), comparison, SEED * 1_000_000);
  // At most 2 % of the proofs may be undecided.
  expect(counts.undecided, JSON.stringify(counts)).toBeLessThan(COUNT * 0.02);
  expect(Math.min(counts.holds, counts.broken, counts.equivalent)).toBeGreaterThan(COUNT / 10);
});

/** The random requests to each pair of manifests. */
const REQUESTS = 100;

it('a proof agrees with the model on random requests to manifests with all settings of routes', async () => {
  const changeOf = (seed: number) => {
    const generator = new RandomCases(randomOf(seed));
    const old = generator.manifest();
    return { old, next: generator.changed(old) };
  };
  const requests: ProofComparison['requests'] = async function* (sides) {
    const generator = new RandomCases(randomOf(SEED));
    for (let count = 0; count < REQUESTS; count += 1) {
      const { headers, body = '', ...request } = generator.request({ ...sides[count % 2 === 0 ? 0 : 1].manifest });
      const decide = (side: DiffSide, lines = headers) =>
        expectedOf(side.manifest, { ...request, headers: lines, body: BODIES[body] });
      // A proof is not about paths with more readings than a router compares.
      if ((request.target.match(/[A-Z;]|\.\.\./g) ?? []).length > 5) continue;
      // A handshake that is now a plain request opens nothing: the client could send that one before.
      const isPlain = sides[1].routeById.get(decide(sides[1]).route ?? '')?.entry.websocket === false;
      const lines = headers.filter(([name]) => !isPlain || name !== 'Upgrade');
      const [before, now] = [
        outcomeOf(sides[0], decide(sides[0], lines)),
        outcomeOf(sides[1], decide(sides[1], lines)),
      ];
      // Nor does another name of the gateway in `Via`.
      if (before.seen['code'] === 'loop_detected') continue;
      yield { request: { ...request, headers: lines, body }, before, now };
    }
  };
  // The model does not have the responses of upstreams, such as those of logins with roles, and not all headers of the others.
  const comparison = {
    decidersOf,
    requests,
    unseen: /^equivalent|login-|role-widened of nobody|cors-|websocket-opened|token-|trusted-proxies/,
  };
  const counts = await expectTrueProofs(COUNT, changeOf, comparison, SEED * 1_000_000);
  console.log(JSON.stringify(counts));
  expect(Math.min(counts.holds, counts.broken, counts.equivalent)).toBeGreaterThan(COUNT / 20);
});
