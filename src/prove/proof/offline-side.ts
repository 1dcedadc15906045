import { nestValue } from '../../engine/json-pointer.ts';
import { loginEntry } from '../../engine/tokens/token-entries.ts';
import type { DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import type { DiffSide } from '../diff/side.ts';
import type { OfflineResponse } from '../offline/client.ts';
import { createOfflineGateway, type OfflineOutcome, type Repetition } from '../offline/offline-gateway.ts';
import { createOfflineRequest } from '../offline/request-bytes.ts';
import { callerOfRole } from '../offline/role-claims.ts';
import { type Caller, StubVerifier } from '../offline/stub-verifier.ts';

/** The way to send a request: more than once, or with another response of the upstream. */
export interface SendOptions {
  readonly repetition?: Repetition;
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
  /** Everything that the client and the upstream see, without ids and dates. */
  readonly seen: unknown;
}

/** Runs requests with a manifest, without a network. */
type OfflineSide = (request: DiffRequest, sending?: SendOptions) => Promise<SideOutcome>;

/** It has a header that routes rewrite. */
const RESPONSE: OfflineResponse = { status: 200, headers: ['Location', '/elsewhere'], body: Buffer.alloc(0) };

const USER_TOKEN = '<user>';

export function createOfflineSide({ plan, manifest }: DiffSide): OfflineSide {
  const tokens = new StubVerifier();
  const send = createOfflineGateway(plan, tokens);
  return async ({ method, url, role, issuer, headers = [], body, bodyBytes }, { repetition, response, user } = {}) => {
    if (user !== undefined) tokens.setToken(USER_TOKEN, user);
    const hasCaller = role !== undefined && manifest.auth !== undefined;
    const credentials = tokens.authorize(hasCaller ? callerOfRole(manifest, role, issuer) : undefined);
    const length = bodyBytes === undefined ? [] : ['Content-Length', String(bodyBytes)];
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const request = createOfflineRequest(method, url, [...credentials, ...headers, ...length], bytes);
    return describe(await send(request, response ?? RESPONSE, repetition));
  };
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

/** Returns the responses of a login with the token of a user without a role, at each place where the old route expects one. */
export function loginSendings({ from: { entry, side } }: MatchedRoutePair): readonly SendOptions[] {
  if (entry.login === undefined) return [];
  const { token: pointers = [], header } = entry.login;
  const user = { claims: { sub: 'someone' }, issuer: loginEntry(side.methods, entry.login)?.issuer };
  const bodies = [pointers].flat().map((at) => Buffer.from(JSON.stringify(nestValue(at, USER_TOKEN))));
  const json = ['Content-Type', 'application/json'];
  const inBody = bodies.map((body) => ({ user, response: { status: 200, headers: json, body } }));
  const headers = header === undefined ? [] : [header, USER_TOKEN];
  return [
    ...inBody,
    ...(header === undefined ? [] : [{ user, response: { status: 200, headers, body: Buffer.alloc(0) } }]),
  ];
}
