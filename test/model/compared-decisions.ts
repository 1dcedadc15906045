import type { RequestRecord } from '../../src/engine/gateway/telemetry/request-record.ts';
import type { PlannedManifest } from '../../src/engine/load.ts';
import { load } from '../../src/engine/load.ts';
import type { JsonSchema, Manifest, RouteEntry } from '../../src/engine/manifest/manifest.generated.ts';
import type { OfflineOutcome } from '../../src/prove/offline/offline-gateway.ts';
import type { OfflineRequest } from '../../src/prove/offline/request-bytes.ts';
import { isValidBy } from '../plan/schema/naive-evaluator.ts';
import { worldOf } from '../support/gateway.ts';
import { expectedDecision } from './decisions/expected-decision.ts';
import type { ModelRequest } from './decisions/model-request.ts';
import { BODIES, type CaseRequest, type Json } from './random-case.ts';

/** Headers that do not depend on the manifest: of the connection, of the framing, and those that the gateway writes for each request. */
const OTHER_HEADERS = new Set(
  'authorization connection upgrade content-length transfer-encoding x-request-id traceparent via x-forwarded-for x-forwarded-proto x-forwarded-host x-forwarded-prefix'.split(
    ' ',
  ),
);

/** Everything about a decision that the model and the gateway must agree on. */
export interface ComparedDecision {
  readonly kind: string;
  readonly route: string | undefined;
  readonly origin: string | undefined;
  readonly reported: readonly string[];
  readonly refusal?: string;
  /** The status, then the location. */
  readonly response?: string;
  /** The upstream and the target, then the headers. */
  readonly forwarded?: readonly string[];
}

/** A request, and what the model and a gateway decide about it. */
export interface Comparison {
  readonly request: CaseRequest;
  readonly model: ComparedDecision;
  readonly gateway: ComparedDecision;
}

/** Returns a manifest with its plan; `undefined` if it does not load. */
export function loadCase(manifest: Json): PlannedManifest | undefined {
  const loaded = load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, worldOf());
  return loaded.plan === undefined ? undefined : loaded;
}

/** Returns the request as a client sends it. @param token the text of the token */
export function offlineRequest(
  { method, target, headers, caller, body, isChunked }: CaseRequest,
  token: string,
): OfflineRequest {
  const authorization =
    caller === 'none' ? [] : ['Authorization', `Bearer ${caller === 'invalid' ? 'invalid' : token}`];
  const framing =
    body === undefined
      ? []
      : isChunked
        ? ['Transfer-Encoding', 'chunked']
        : ['Content-Length', String(Buffer.byteLength(BODIES[body] ?? ''))];
  return {
    method,
    target,
    headers: [...headers.flat(), ...authorization, ...framing],
    body: body === undefined ? undefined : Buffer.from(BODIES[body] ?? ''),
  };
}

/** Returns the decision of the model. */
export function decisionOfModel({ manifest }: PlannedManifest, request: CaseRequest): ComparedDecision {
  const decision = expectedOf(manifest, { ...request, body: BODIES[request.body ?? ''] });
  const { kind, route, origin, reported, status, code, location, upstream, target, headers = [] } = decision;
  const common = { kind, route, origin, reported };
  if (kind === 'refused') return { ...common, refusal: `${status} ${code}` };
  if (kind === 'responded') return { ...common, response: `${status} ${location}` };
  return { ...common, forwarded: [`${upstream} ${target}`, ...linesOf(headers)] };
}

/** Returns the decision of the model about a request whose `body` is the text of the body. */
export function expectedOf(
  manifest: Manifest,
  request: Omit<CaseRequest, 'body' | 'caller'> & Pick<ModelRequest, 'caller'> & { readonly body: string | undefined },
): ReturnType<typeof expectedDecision> {
  const { body, headers, isChunked = false } = request;
  const framing = body === undefined ? [] : [['Content-Length', ''] as const];
  return expectedDecision(manifest, {
    ...request,
    headers: [...headers, ...framing],
    body: (body ?? '') === '' && !isChunked ? undefined : Buffer.byteLength(body ?? ''),
    isTrustedProxy: manifest.server.trustedProxies.length > 0,
    isValidParameter: (schema, value) => isValidParameter(schema, value, manifest.schemas),
    isValidBody: (rule) => isValidBody(rule, body ?? '', headers, manifest.schemas),
  });
}

/** Returns the decision of a gateway. */
export function decisionOfGateway(
  { plan }: PlannedManifest,
  { record, response, upstreamRequest }: OfflineOutcome,
): ComparedDecision {
  const received = pairsOf(response?.headers ?? []);
  const receivedValue = (name: string) => received.find(([other]) => other.toLowerCase() === name)?.[1];
  const common = {
    route: record.route?.id,
    origin: receivedValue('access-control-allow-origin'),
    reported: record.reported?.map(({ code }) => code) ?? [],
  };
  if (record.refusal !== undefined) return { kind: 'refused', ...common, refusal: refusalOf(record, response?.status) };
  if (upstreamRequest === undefined)
    return {
      kind: 'responded',
      ...common,
      response: `${response?.status} ${receivedValue('location')}`,
    };
  const { origin, url, headers } = upstreamRequest;
  const { id, host } = plan.upstreams.find(({ endpoints }) => endpoints.some(({ url }) => url.origin === origin)) ?? {};
  const pairs = pairsOf(headers).map(
    ([name, value]) =>
      [name, host === 'upstream' && name === 'Host' && value === origin.slice(7) ? host : value] as const,
  );
  return { kind: 'forwarded', ...common, forwarded: [`${id} ${url}`, ...linesOf(pairs)] };
}

function refusalOf({ refusal }: RequestRecord, status: number | undefined): string {
  return `${status ?? refusal?.status} ${refusal?.code}`;
}

export function pairsOf(headers: readonly string[]): (readonly [string, string])[] {
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as const] : []));
}

function linesOf(headers: readonly (readonly [string, string])[]): string[] {
  return headers
    .filter(([name]) => !OTHER_HEADERS.has(name.toLowerCase()))
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .sort();
}

/** Validates a parameter as the documentation says: a text, or the number or boolean that it stands for. */
function isValidParameter(schema: JsonSchema, text: string, shared: Json): boolean {
  const types = schema === true || schema === false ? [] : [schema['type']].flat();
  const isNumber = types.includes('integer') && /^-?(?:0|[1-9]\d*)$/.test(text);
  return isValidBy(schema, isNumber ? Number(text) : text, shared);
}

/** Validates the few kinds of bodies that tests send: JSON without blanks inside, rows without quotes, and forms without files. */
function isValidBody(
  { schema, csv, multipart }: NonNullable<RouteEntry['body']>,
  body: string,
  headers: CaseRequest['headers'],
  shared: Json,
): boolean {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1].toLowerCase() ?? '';
  if (schema !== undefined) {
    const value = parseJson(body);
    // The text of a value with two members of one name is shorter.
    return JSON.stringify(value) === body.trim() && isValidBy(schema, value, shared);
  }
  if (csv !== undefined && type.startsWith('text/csv')) return body.split('\r\n', 1)[0] === csv.header.join();
  const names = [...body.matchAll(/(?<= name=")\w+/g)].join();
  return multipart === undefined || names === Object.keys(multipart.parts).join();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
