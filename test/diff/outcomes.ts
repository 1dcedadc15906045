import { isDeepStrictEqual } from 'node:util';
import type { DiffRequest } from '../../src/prove/diff/difference.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { createOfflineGateway, type OfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { createOfflineRequest } from '../../src/prove/offline/request-bytes.ts';
import { callerOfRole } from '../../src/prove/offline/role-claims.ts';
import { StubVerifier } from '../../src/prove/offline/stub-verifier.ts';

/** A manifest that serves requests offline. */
export interface OfflineSide {
  readonly side: DiffSide;
  readonly gateway: OfflineGateway;
  readonly tokens: StubVerifier;
}

/** It has a header that routes rewrite. */
const UPSTREAM_RESPONSE = { status: 200, headers: ['Location', '/elsewhere'], body: Buffer.alloc(0) };

export function offlineSide(side: DiffSide): OfflineSide {
  const tokens = new StubVerifier();
  return { side, tokens, gateway: createOfflineGateway(side.plan, tokens) };
}

/** Returns everything that a client, an upstream or a reader of the log sees of a request. */
export async function outcomeOf({ side, gateway, tokens }: OfflineSide, request: DiffRequest): Promise<unknown> {
  const { method, url, role, issuer, headers = [], body, bodyBytes } = request;
  const { auth } = side.manifest;
  if (role !== undefined && auth !== undefined) tokens.setToken('token', callerOfRole(side.manifest, role, issuer));
  const all = [
    ...(role === undefined ? [] : ['Authorization', 'Bearer token']),
    ...headers,
    ...(bodyBytes === undefined ? [] : ['Content-Length', String(bodyBytes)]),
  ];
  const sent = createOfflineRequest(method, url, all, body === undefined ? undefined : Buffer.from(body));
  const { record, response, upstreamRequest } = await gateway(sent, UPSTREAM_RESPONSE);
  return {
    route: record.route?.id,
    refusal: record.refusal?.code,
    reported: record.reported?.map(({ code }) => code),
    status: response?.status,
    headers: withoutIds(response?.headers),
    body: withoutId(response?.body.toString()),
    upstream: upstreamRequest && {
      ...upstreamRequest,
      headers: withoutIds(upstreamRequest.headers),
      body: upstreamRequest.body.toString('base64'),
    },
  };
}

export async function isTreatedDifferently(
  old: OfflineSide,
  next: OfflineSide,
  request: DiffRequest,
): Promise<boolean> {
  return !isDeepStrictEqual(await outcomeOf(old, request), await outcomeOf(next, request));
}

/** Ids and dates differ between two equal requests. */
function withoutIds(headers: readonly string[] = []): string[] {
  return headers.flatMap((text, index) =>
    index % 2 === 0 && !/^(?:x-request-id|traceparent|date)$/i.test(text) ? [`${text}: ${headers[index + 1]}`] : [],
  );
}

function withoutId(text = ''): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
    .replaceAll(/"(?:requestId|request_id|traceId|trace_id)":"[^"]*"/g, '');
}
