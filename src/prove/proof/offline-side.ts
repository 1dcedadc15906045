import type { DiffRequest } from '../diff/difference.ts';
import type { DiffSide } from '../diff/side.ts';
import type { OfflineResponse } from '../offline/client.ts';
import { createOfflineGateway, type OfflineOutcome, type Repetition } from '../offline/offline-gateway.ts';
import { createOfflineRequest } from '../offline/request-bytes.ts';
import { callerOfRole, methodOf } from '../offline/role-claims.ts';
import { type Caller, type StubToken, StubVerifier } from '../offline/stub-verifier.ts';
import { resultOf } from './token-requests.ts';

/** A request, and the way to send it: more than once, or with another response of the upstream. */
export interface Attempt extends SendOptions {
  readonly request: DiffRequest;
}

export interface SendOptions {
  readonly repetition?: Pick<Repetition, 'times' | 'waitMs'>;
  /** Sent in place of the request, except for the last time. */
  readonly first?: DiffRequest;
  readonly response?: OfflineResponse;
  /** The caller of the token in that response, which is a login. */
  readonly user?: Caller;
}

/** A request with one manifest. */
export interface SideOutcome {
  /** True if the gateway forwards the request and the response, or responds itself without an error. */
  readonly isServed: boolean;
  /** Continues a sentence about the request: `refused with 401 token_missing`. */
  readonly text: string;
  /** The servers, path and `Host` of the upstream request; equal if the same servers may receive the same request line. */
  readonly target: string;
  /** The permissions of pages of other origins, each with its header: `Access-Control-Allow-Methods: PUT`. */
  readonly permissions: ReadonlySet<string>;
  /** Everything that the client and the upstream see, without ids and dates. */
  readonly seen: Readonly<Record<string, unknown>>;
}

/** Runs requests with a manifest, without a network. */
type OfflineSide = (request: DiffRequest, sending?: SendOptions) => Promise<SideOutcome>;

/** It has a header that routes rewrite. */
const RESPONSE: OfflineResponse = { status: 200, headers: ['Location', '/elsewhere'], body: Buffer.alloc(0) };

export const USER_TOKEN = '<user>';
const FIRST_TOKEN = '<first>';

export function createOfflineSide({ plan, manifest }: DiffSide): OfflineSide {
  const tokens = new StubVerifier();
  const send = createOfflineGateway(plan, tokens);
  return async (request, { repetition, first, response, user } = {}) => {
    if (user !== undefined) tokens.setToken(USER_TOKEN, user);
    const repeated = repetition && { ...repetition, first: first && toOffline(first, FIRST_TOKEN) };
    return describe(await send(toOffline(request), response ?? RESPONSE, repeated));
  };

  function toOffline(request: DiffRequest, token?: string) {
    const { method, url, headers = [], body, bodyBytes, peer } = request;
    const credentials = tokens.authorize(callerOf(request), token);
    const length = bodyBytes === undefined ? [] : ['Content-Length', String(bodyBytes)];
    const bytes = body === undefined ? undefined : Buffer.from(body);
    return { ...createOfflineRequest(method, url, [...credentials, ...headers, ...length], bytes), peer };
  }

  function callerOf({ role, issuer, token }: DiffRequest): StubToken | undefined {
    const method = methodOf(manifest.auth, issuer, role);
    if (role === undefined || method === undefined) return undefined;
    return token === undefined ? callerOfRole(manifest, role, issuer) : resultOf(method, token);
  }
}

function describe({ record, response, upstreamRequest }: OfflineOutcome): SideOutcome {
  const { refusal, route } = record;
  const isServed = refusal === undefined && (upstreamRequest !== undefined || route?.ownResponse !== undefined);
  const served =
    upstreamRequest === undefined ? 'served by the gateway itself' : `forwarded to "${route?.upstream?.id}"`;
  const { endpoints = [], host } = route?.upstream ?? {};
  // Each endpoint of an upstream may receive the request.
  const servers = endpoints.map(({ url }) => url.href).sort();
  const headers = withoutIds(upstreamRequest?.headers).filter((line) => host !== 'upstream' || !/^host:/i.test(line));
  return {
    isServed,
    text:
      refusal === undefined ? `${served} with ${response?.status}` : `refused with ${refusal.status} ${refusal.code}`,
    target: JSON.stringify([servers, upstreamRequest?.url, host, headers.filter((line) => /^host:/i.test(line))]),
    permissions: new Set(withoutIds(response?.headers).flatMap(permissionsIn)),
    seen: {
      refusal: refusal?.code,
      reported: record.reported,
      response: response && {
        status: response.status,
        headers: withoutIds(response.headers),
        body: refusal === undefined ? response.body.toString('base64') : '',
      },
      upstream: upstreamRequest && {
        ...upstreamRequest,
        origin: servers,
        headers,
        body: upstreamRequest.body.toString('base64'),
      },
    },
  };
}

/** Ids and dates differ between two equal requests, and the length of an error depends on them. */
function withoutIds(headers: readonly string[] = []): string[] {
  return headers.flatMap((text, index) =>
    index % 2 === 0 && !/^(?:x-request-id|traceparent|date)$/i.test(text) ? [`${text}: ${headers[index + 1]}`] : [],
  );
}

/** Returns the permissions in a line of a response: one for each item of its list. */
function permissionsIn(line: string): string[] {
  const [name = '', list = ''] = line.split(': ');
  return /^access-control-/i.test(name) ? list.split(', ').map((item) => `${name}: ${item}`) : [];
}
