import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { replayLines } from '../candidate/replay/replayed-traffic.ts';
import { cases, SEED } from '../support/runs.ts';
import type { Site } from '../support/site.ts';
import { type ComparedDecision, decisionOfModel, loadCase } from './compared-decisions.ts';
import { type CaseRequest, isWholeRequest, type Json, RandomCases, randomOf } from './random-case.ts';
import { localized, sendCase, startSilentSite } from './sent-cases.ts';
import { shrink } from './shrink.ts';

const REQUESTS = cases(10_000);
const PER_PAIR = 20;

let site: Site;
beforeAll(async () => {
  site = await startSilentSite();
});
afterAll(() => site.close());

interface ReplayCase {
  readonly old: Json;
  readonly next: Json;
  readonly request: CaseRequest;
}

/** The result of the replay of a logged request, and the results that agree with the model. */
interface Replayed extends ReplayCase {
  readonly result: string;
  readonly agreeing: readonly string[];
}

/** Sends requests to a gateway with the old manifest, and replays its log. Returns `undefined` if a manifest does not load. */
async function replayed(old: Json, next: Json, requests: readonly CaseRequest[]): Promise<Replayed[] | undefined> {
  const log = { replay: true, paths: 'plain' };
  const manifests = [old, next].map((one) => localized({ ...one, log }, site)) as [Json, Json];
  const [before, now] = [loadCase(manifests[0]), loadCase(manifests[1])];
  if (before === undefined || now === undefined) return undefined;
  site.gateway.swap(JSON.stringify(manifests[0]));
  const lines: object[] = [];
  for (const request of requests) lines.push((await sendCase(request, manifests[0], site)).line);
  const { calibrations, comparisons } = replayLines(lines, before, now);
  return requests.map((request, index) => {
    const [calibration, comparison] = [calibrations[index], comparisons[index]];
    // The manifest that wrote the log decides as it did then.
    const isReproduced = calibration?.result !== 'changed';
    const result = comparison?.result === 'changed' ? comparison.kind : (comparison?.result ?? '');
    const agreeing = kindsOf(decisionOfModel(before, request), decisionOfModel(now, request));
    return { old, next, request, result: isReproduced ? result : 'not reproduced', agreeing };
  });
}

/** Returns the kinds of change between two decisions. The model has no headers of responses, and not all of requests. */
function kindsOf(before: ComparedDecision, now: ComparedDecision): readonly string[] {
  const orSame = (kind: string, isSame: boolean) => ['unknown', kind, ...(isSame ? ['same'] : [])];
  if (before.kind !== 'refused' && now.kind === 'refused') return ['unknown', 'newly-refused'];
  if (before.kind === 'refused' && now.kind !== 'refused') return ['unknown', 'newly-allowed'];
  if (before.forwarded === undefined || now.forwarded === undefined)
    return orSame('other-status', before.refusal === now.refusal && before.response === now.response);
  if (before.route !== now.route) return ['unknown', 'other-route'];
  const [upstreamBefore, upstreamNow] = [before, now].map(({ forwarded: [first = ''] = [] }) => first.split(' ', 1)[0]);
  if (upstreamBefore !== upstreamNow) return ['unknown', 'other-upstream'];
  return orSame('other-message', isDeepStrictEqual(before.forwarded, now.forwarded));
}

const isWrong = ({ result, agreeing }: Replayed) => !agreeing.includes(result);

/** Returns the smallest manifests and request with the same result, for the message of a failed test. */
async function smallest({ old, next, request, result }: Replayed): Promise<unknown> {
  const replayOne = async (one: Partial<ReplayCase>) => {
    if (one.old === undefined || one.next === undefined || one.request === undefined) return undefined;
    return isWholeRequest(one.request) ? (await replayed(one.old, one.next, [one.request]))?.[0] : undefined;
  };
  const isSame = (found: Replayed | undefined) => found !== undefined && isWrong(found) && found.result === result;
  return replayOne(await shrink({ old, next, request }, async (one) => isSame(await replayOne(one))));
}

it('agrees with the replay of random requests about what another manifest changes', async () => {
  const generator = new RandomCases(randomOf(SEED), { hasAnySubject: false });
  const counts = new Map<string, number>();
  for (let count = 0; count < REQUESTS; ) {
    const old = generator.manifest();
    const next = generator.changed(old);
    const requests = Array.from({ length: PER_PAIR }, () => generator.request(count % 40 === 0 ? old : next));
    const results = await replayed(old, next, requests);
    if (results === undefined) continue;
    count += results.length;
    const wrong = results.find(isWrong);
    if (wrong !== undefined)
      expect.fail(JSON.stringify({ seed: SEED, ...((await smallest(wrong)) as object) }, undefined, 1));
    for (const { result } of results) counts.set(result, (counts.get(result) ?? 0) + 1);
  }
  // The common results have occurred, and most of them are known.
  expect([...counts.keys()]).toEqual(expect.arrayContaining(COMMON_RESULTS));
  expect(counts.get('unknown'), JSON.stringify([...counts])).toBeLessThan(REQUESTS / 4);
});

const COMMON_RESULTS = ['newly-refused', 'other-status', 'same', 'unknown'];
