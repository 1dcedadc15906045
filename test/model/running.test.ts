import { afterAll, beforeAll, expect, it } from 'vitest';
import { explain } from '../../src/prove/explain/explain-request.ts';
import { requestBytes } from '../../src/prove/offline/request-bytes.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { sendRequest } from '../support/raw.ts';
import { cases, SEED } from '../support/runs.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { decisionOfModel, loadCase, offlineRequest } from './compared-decisions.ts';
import { type CaseRequest, type Json, RandomCases, randomOf } from './random-case.ts';

const REQUESTS = cases(4_000);
const PER_MANIFEST = 20;

let issuer: Issuer;
let upstream: Upstream;
let running: TestGateway;
beforeAll(async () => {
  issuer = await startIssuer();
  upstream = await startUpstream((_request, response) => void response.end());
  running = await startGateway(`version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${upstream.url}' } }
routes: [{ id: first, method: GET, path: /, upstream: up, access: public }]
`);
});
afterAll(async () => {
  await running.close();
  await upstream.close();
  await issuer.close();
});

/** Returns the manifest with the addresses of this test. Both upstreams are one server. */
function localized(manifest: Json): Json {
  const text = JSON.stringify({ listen: '127.0.0.1:0', ...manifest })
    .replaceAll('https://k.example/keys', issuer.jwksUrl)
    .replaceAll(/http:\/\/127\.0\.0\.1:[89]"/g, `${upstream.url}"`);
  return JSON.parse(text);
}

/** Returns the token of a caller. An issuer checks that `sub` is a text. */
async function tokenOf({ caller }: CaseRequest, manifest: Json): Promise<string> {
  if (typeof caller === 'string') return 'invalid';
  const [first = 'i'] = JSON.stringify(manifest['auth']).match(/(?<="issuer":")\w+/) ?? [];
  return issuer.token({
    company_role: undefined,
    sub: undefined,
    ...caller.claims,
    iss: caller.issuer ?? first,
    aud: 'a',
  });
}

it('agrees with a running gateway and with explain on random requests to random manifests', async () => {
  const generator = new RandomCases(randomOf(SEED), { hasAnySubject: false });
  for (let count = 0; count < REQUESTS; ) {
    const manifest = localized(generator.manifest());
    const planned = loadCase(manifest);
    if (planned === undefined) continue;
    running.swap(JSON.stringify(manifest));
    for (let index = 0; index < PER_MANIFEST; index += 1, count += 1) {
      const request = generator.request(manifest);
      const offline = offlineRequest(request, await tokenOf(request, manifest));
      const [lines, requests] = [running.lines.length, upstream.requests.length];
      const { status } = await sendRequest(running.port, Buffer.concat(requestBytes(offline).chunks));
      await eventually('the line', () => running.lines.length > lines);
      const { refusal: code, route, reported = [] } = running.lines[lines] ?? {};
      const received = upstream.requests[requests];
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
        target: explainedUpstream?.url.slice(upstream.url.length),
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
