import fc from 'fast-check';
import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import type { Explanation } from '../../src/prove/explain/explain-request.ts';
import { explain } from '../../src/prove/explain/explain-request.ts';
import { type OfflineRequest, requestBytes } from '../../src/prove/offline/request-bytes.ts';
import { type AnyManifest, anyManifest, anyUrl, matchingUrl } from '../support/any-manifest.ts';
import { PUBLIC_ALL, worldOf } from '../support/gateway.ts';
import { type RawResponse, sendRequest } from '../support/raw.ts';
import { cases } from '../support/runs.ts';
import { eventually, type Site, startSite } from '../support/site.ts';

/** The number of requests: enough for every common outcome. */
const REQUESTS = Math.max(cases(1_200), 360);
const PER_MANIFEST = 30;

const ROLES = ['admin', 'user', 'guest'] as const;
type Role = (typeof ROLES)[number];

let site: Site;
const tokens = new Map<Role, string>();
/** A token with the signature of another key. */
let foreignToken: string;

beforeAll(async () => {
  site = await startSite(PUBLIC_ALL);
  // Responses of logins without a token.
  site.respond = (_request, response) => void response.end();
  for (const role of ROLES) tokens.set(role, await site.issuer.token({ company_role: role }));
  const [, claims = ''] = (await site.issuer.token()).split('.');
  const { privateKey } = await generateKeyPair('ES256');
  const unsigned = new SignJWT(JSON.parse(Buffer.from(claims, 'base64url').toString()));
  foreignToken = await unsigned.setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
});

afterAll(() => site.close());

const commonHeader = fc.constantFrom(
  ['X-Debug', '1'],
  ['Content-Type', 'application/json'],
  ['Content-Type', 'application/json'],
  ['Content-Type', 'application/json'],
  ['Content-Type', 'text/csv; charset=utf-8'],
  ['X-Tenant', 'one'],
  ['X-Tenant', 'three'],
  ['X-Forwarded-For', '192.0.2.1'],
  ['X-Forwarded-Host', 'outside.example'],
  ['Connection', 'close, X-Debug'],
  ['Transfer-Encoding', 'chunked'],
  ['Origin', 'https://app.example'],
  ['Access-Control-Request-Method', 'GET'],
);

const rareHeader = fc.constantFrom(
  ['x_debug', '2'],
  ['Transfer-Encoding', 'gzip'],
  ['Content-Encoding', 'gzip'],
  ['Upgrade', 'websocket'],
  ['Expect', '100-continue'],
  ['Expect', 'wonders'],
  ['Host', 'one.example'],
  ['Host', 'two,example'],
  ['Authorization', 'Basic eA=='],
  ['Authorization', 'Bearer'],
);

const header = fc.oneof({ weight: 9, arbitrary: commonHeader }, { weight: 1, arbitrary: rareHeader });
const rareTarget = fc.constantFrom('*', 'x', '/a b', 'http://localhost/a');

const anyRequest = fc.record({
  method: fc.constantFrom(
    'GET',
    'GET',
    'GET',
    'POST',
    'POST',
    'POST',
    'HEAD',
    'PUT',
    'PUT',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'NO',
  ),
  targetIn: fc.oneof(
    { weight: 20, arbitrary: matchingUrl },
    { weight: 8, arbitrary: anyUrl.map((url) => () => url) },
    { weight: 1, arbitrary: rareTarget.map((target) => () => target) },
  ),
  headers: fc.array(header, { maxLength: 3 }).map((some) => some.flat()),
  body: fc.constantFrom(
    undefined,
    undefined,
    '{"a":1}',
    '{"a":1}',
    '{"a":10,"b":"xy"}',
    '{"a":1,"a":2}',
    'a,b',
    'x'.repeat(2_000),
  ),
  caller: fc.constantFrom<Role | 'foreign' | undefined>(undefined, 'admin', 'admin', 'user', 'guest', 'foreign'),
});

describe('explain', () => {
  it('agrees with a running gateway on random requests to random manifests', async () => {
    const counts = new Map<string, number>();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        anyManifest,
        fc.array(anyRequest, { minLength: PER_MANIFEST, maxLength: PER_MANIFEST }),
        async (manifest, requests) => {
          const text = manifestText(manifest);
          const loaded = load({ path: 'gateway.yaml', text }, worldOf());
          fc.pre(loaded.plan !== undefined);
          if (loaded.plan === undefined) return;
          site.gateway.swap(text);
          for (const { method, targetIn, headers: others, body, caller: anyCaller } of requests) {
            const caller = anyCaller === 'foreign' ? undefined : anyCaller;
            const headers = anyCaller === 'foreign' ? [...others, 'Authorization', 'Bearer foreign'] : others;
            const input = { method, target: targetIn(manifest), headers, body, caller };
            const request = {
              method,
              target: input.target,
              headers: headers.map((text) => text.replace('foreign', foreignToken)),
              body: body === undefined ? undefined : Buffer.from(body),
            };
            const explanation = await explain(loaded, request, caller && { company_role: caller });
            const actual = await sendToGateway(request, caller);
            expect({ manifest, input, ...observableOf(explanation, method) }).toEqual({ manifest, input, ...actual });
            count += 1;
            const kind = explanation.refusal?.code ?? explanation.outcome;
            counts.set(kind, (counts.get(kind) ?? 0) + 1);
          }
        },
      ),
      { numRuns: Math.ceil(REQUESTS / PER_MANIFEST), endOnFailure: true },
    );
    expect(count).toBeGreaterThanOrEqual(REQUESTS);
    // Every common outcome has happened at least once.
    expect([...counts.keys()].sort()).toEqual(expect.arrayContaining(COMMON_OUTCOMES));
  });
});

const COMMON_OUTCOMES = [
  'forwarded',
  'media_type_unsupported',
  'message_malformed',
  'parameter_invalid',
  'method_not_allowed',
  'path_ambiguous',
  'rate_limit_key_missing',
  'role_not_allowed',
  'route_unknown',
  'token_invalid',
  'token_missing',
];

function manifestText(manifest: AnyManifest): string {
  const text = JSON.stringify(manifest);
  return text
    .replaceAll('http://127.0.0.1:9/jwks.json', site.issuer.jwksUrl)
    .replaceAll('"http://127.0.0.1:9"', `"${site.upstream.url}"`);
}

/** The part of an outcome that is observable at a running gateway. */
interface ObservableOutcome {
  readonly refusal: unknown;
  readonly reported: unknown;
  readonly route: string | undefined;
  readonly upstream: unknown;
}

function observableOf({ refusal, reported, route, upstream }: Explanation, method: string): ObservableOutcome {
  const { detail: _detail, errors: _errors, ...head } = refusal ?? {};
  return {
    refusal: refusal === null ? undefined : method === 'HEAD' ? head : refusal,
    reported,
    route: route?.id,
    upstream: upstream && {
      method: upstream.method,
      url: upstream.url,
      headers: upstream.headers,
      bodyBytes: upstream.bodyBytes,
    },
  };
}

async function sendToGateway(request: OfflineRequest, caller: Role | undefined): Promise<ObservableOutcome> {
  const token = caller && tokens.get(caller);
  const authorization = token === undefined ? [] : ['Authorization', `Bearer ${token}`];
  const { chunks } = requestBytes({ ...request, headers: [...request.headers, ...authorization] });
  const { gateway: running, upstream } = site;
  const lines = running.lines.length;
  const before = upstream.requests.length;
  const response = await sendRequest(running.port, Buffer.concat(chunks));
  await eventually('the line', () => running.lines.length > lines);
  const line = running.lines[lines] ?? {};
  const received = upstream.requests[before];
  return {
    refusal: refusalOf(line, response),
    reported: line['reported'] ?? [],
    route: line['route'] as string | undefined,
    upstream:
      received === undefined
        ? null
        : {
            method: received.method,
            url: upstream.url + received.url,
            headers: received.headers.flatMap((name, index) =>
              index % 2 === 0 ? [[name, valueAt(name, received.headers[index + 1] ?? '', token)]] : [],
            ),
            bodyBytes: received.body.length,
          },
  };
}

function refusalOf(line: Record<string, unknown>, response: RawResponse): unknown {
  const { refusal: code, reason, limit } = line;
  if (code === undefined) return undefined;
  const head = { code, reason, status: response.status, ...(limit !== undefined && { limit }) };
  // The response to HEAD has no body.
  if (response.body.length === 0) return head;
  const { detail, errors = [] } = response.json();
  return { ...head, detail, errors };
}

function valueAt(name: string, value: string, token: string | undefined): string {
  if (name === 'X-Request-Id' || name === 'traceparent') return '<generated for each request>';
  if (name === 'Via') return value.replace(/ signing-gateway-[0-9a-f]{16}$/, ' <random>');
  return token === undefined ? value : value.replace(token, '<token>');
}
