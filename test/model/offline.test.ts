import { expect, it } from 'vitest';
import { createOfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { StubVerifier } from '../../src/prove/offline/stub-verifier.ts';
import { cases, SEED } from '../support/runs.ts';
import { type Comparison, decisionOfGateway, decisionOfModel, loadCase, offlineRequest } from './compared-decisions.ts';
import { type CaseRequest, isWholeRequest, type Json, RandomCases, randomOf } from './random-case.ts';
import { shrink } from './shrink.ts';

/** The number of requests. With `RUNS=10`, the deep run has two million. */
const REQUESTS = cases(200_000);
const PER_MANIFEST = 40;

/** Returns the decisions of the model and of the offline gateway; `undefined` for a manifest that does not load. */
async function compare(manifest: Json, requests: readonly CaseRequest[]): Promise<Comparison[] | undefined> {
  const planned = loadCase(manifest);
  if (planned === undefined) return undefined;
  const tokens = new StubVerifier();
  const send = createOfflineGateway(planned.plan, tokens);
  const compared: Comparison[] = [];
  for (const request of requests) {
    if (typeof request.caller === 'object') tokens.setToken('valid', request.caller);
    const gateway = decisionOfGateway(planned, await send(offlineRequest(request, 'valid')));
    compared.push({ request, gateway, model: decisionOfModel(planned, request) });
  }
  return compared;
}

const isDifferent = ({ model, gateway }: Comparison) => JSON.stringify(model) !== JSON.stringify(gateway);

/** Returns the smallest manifest and request with the same two decisions, for the message of a failed test. */
async function smallest(manifest: Json, { request, ...decisions }: Comparison): Promise<unknown> {
  const kindsOf = ({ model, gateway }: Pick<Comparison, 'model' | 'gateway'>) =>
    JSON.stringify([model, gateway].map(({ kind, refusal }) => [kind, refusal]));
  const compareOne = async (one: { manifest?: Json; request?: Partial<CaseRequest> }) => {
    if (one.manifest === undefined || one.request === undefined || !isWholeRequest(one.request)) return undefined;
    return (await compare(one.manifest, [one.request]))?.[0];
  };
  const small = await shrink({ manifest, request }, async (one) => {
    const found = await compareOne(one);
    return found !== undefined && isDifferent(found) && kindsOf(found) === kindsOf(decisions);
  });
  return { seed: SEED, manifest: small.manifest, ...(await compareOne(small)) };
}

it('agrees with the offline gateway on random requests to random manifests', async () => {
  const generator = new RandomCases(randomOf(SEED), { hasFewTexts: true });
  const counts = new Map<string, number>();
  for (let count = 0; count < REQUESTS; ) {
    const manifest = generator.manifest();
    const compared = await compare(
      manifest,
      Array.from({ length: PER_MANIFEST }, () => generator.request(manifest)),
    );
    if (compared === undefined) continue;
    count += compared.length;
    const different = compared.find(isDifferent);
    if (different !== undefined) expect.fail(JSON.stringify(await smallest(manifest, different), undefined, 1));
    for (const { gateway } of compared) {
      const kind = gateway.refusal ?? gateway.kind;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  // Each decision has occurred often enough to be compared.
  expect(Object.fromEntries(DECISIONS.map((kind) => [kind, (counts.get(kind) ?? 0) >= REQUESTS / 20_000]))).toEqual(
    Object.fromEntries(DECISIONS.map((kind) => [kind, true])),
  );
  expect([...counts.keys()].sort()).toEqual(DECISIONS);
});

it('agrees about an ambiguous path in a handshake without a version', async () => {
  const upgrade = [['Connection', 'Upgrade'] as const, ['Upgrade', 'websocket'] as const];
  const headers = [['Host', 'one.example'] as const, ...upgrade, ['Sec-WebSocket-Key', `${'A'.repeat(22)}==`] as const];
  const manifest = {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    routes: [{ id: 'all', method: 'GET', path: '/', upstream: 'up', access: 'public', websocket: true }],
  };
  const compared = await compare(manifest, [{ method: 'GET', target: '/%', headers, caller: 'none' }]);
  expect(compared?.map(({ model, gateway }) => [model.refusal, gateway.refusal])).toEqual([
    ['400 path_ambiguous', '400 path_ambiguous'],
  ]);
});

const DECISIONS = [
  '400 body_invalid',
  '400 message_malformed',
  '400 parameter_invalid',
  '400 path_ambiguous',
  '401 token_invalid',
  '401 token_missing',
  '403 claim_unusable',
  '403 origin_not_allowed',
  '403 role_not_allowed',
  '404 route_unknown',
  '405 method_not_allowed',
  '413 body_too_large',
  '415 media_type_unsupported',
  '426 websocket_version_unsupported',
  '431 headers_too_large',
  '508 loop_detected',
  'forwarded',
  'responded',
];
