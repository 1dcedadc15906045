import type { PlannedManifest } from '../../../src/engine/load.ts';
import { type LogLine, parseLogLine } from '../../../src/traffic/access-log/logged-request.ts';
import type { ComparisonResult } from '../../../src/traffic/compare-outcomes.ts';
import { OutcomeComparison } from '../../../src/traffic/comparison.ts';
import { LimitEffects } from '../../../src/traffic/replay/limit-effects.ts';
import { createReplay } from '../../../src/traffic/replay/replay.ts';
import { startGateway } from '../../support/gateway.ts';
import { startIssuer } from '../../support/issuer.ts';
import { Wire } from '../../support/raw.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import { createTokens, type RandomRequest, type Tokens } from './random-traffic.ts';

/** The response and the forwarded message of one request, and its line in the log. */
export interface ServedRequest {
  // biome-ignore lint/suspicious/noExplicitAny: a line has the members of the access log.
  readonly line: any;
  readonly status: number;
  /** Of a refusal; the length of the body that a response to HEAD leaves out. */
  readonly detail: string | undefined;
  /** The CORS headers of the response, the methods that are allowed, and the challenge. */
  readonly permissions: string;
  /** The request that the upstream received, without what differs for each request. */
  readonly sent: string | undefined;
}

export interface TrafficSite {
  readonly urls: { readonly up: string; readonly other: string; readonly jwks: string };
  readonly tokens: Tokens;
  /** Serves requests, one after the other, by a gateway of its own. */
  serve(
    manifest: string,
    requests: readonly RandomRequest[],
  ): Promise<{ served: ServedRequest[]; planned: PlannedManifest }>;
  close(): Promise<void>;
}

/** Headers that differ for each request or each gateway. */
const VARYING = /^(?:x-request-id|traceparent|via|connection|host|x-forwarded-host)$/i;

export async function startTrafficSite(): Promise<TrafficSite> {
  const issuer = await startIssuer();
  const respond: Parameters<typeof startUpstream>[0] = (request, response) => {
    const token = request.headers['x-give'];
    if (token === undefined) return void response.end('ok');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ token, data: {} }));
  };
  const [up, other] = await Promise.all([startUpstream(respond), startUpstream(respond)]);
  return {
    urls: { up: up.url, other: other.url, jwks: issuer.jwksUrl },
    tokens: await createTokens(issuer),
    serve: (manifest, requests) => serve(manifest, requests, [up, other]),
    close: async () => void (await Promise.all([up.close(), other.close(), issuer.close()])),
  };
}

async function serve(manifest: string, requests: readonly RandomRequest[], upstreams: readonly Upstream[]) {
  const site = await startGateway(manifest);
  const served: ServedRequest[] = [];
  for (const { bytes, method } of requests) {
    for (const upstream of upstreams) upstream.requests.length = 0;
    const { promise: recorded, resolve } = Promise.withResolvers<void>();
    const unsubscribe = site.gateway.subscribe(() => resolve());
    const wire = (await Wire.open(site.port)).write(bytes);
    const response = await wire.response(method);
    wire.end();
    await recorded;
    unsubscribe();
    served.push({
      line: site.lines.at(-1),
      status: response.status,
      detail:
        response.status < 400
          ? undefined
          : method === 'HEAD'
            ? response.value('content-length')
            : response.json().detail,
      permissions: ['origin', 'methods', 'headers']
        .map((name) => response.value(`access-control-allow-${name}`))
        .concat(response.value('allow'), response.value('www-authenticate'))
        .join(),
      sent: sentText(upstreams),
    });
  }
  const planned = site.planned();
  await site.close();
  return { served, planned };
}

function sentText(upstreams: readonly Upstream[]): string | undefined {
  const index = upstreams.findIndex(({ requests }) => requests.length > 0);
  const request = upstreams[index]?.requests[0];
  if (request === undefined) return undefined;
  const headers = request.headers.filter((_text, at) => !VARYING.test(request.headers[at - (at % 2)] ?? ''));
  return JSON.stringify([index, request.method, request.url, headers]);
}

/** Returns how the results of one request by two gateways differ: `same`, or a kind of change. */
export function observedChange(before: ServedRequest, after: ServedRequest): string {
  const [old, next] = [before.line, after.line];
  if (isRefused(before)) {
    if (!isRefused(after)) return 'newly-allowed';
    const textOf = ({ line, status, detail, permissions }: ServedRequest) =>
      JSON.stringify([line.refusal, status, detail, permissions]);
    return textOf(before) === textOf(after) ? 'same' : 'other-status';
  }
  if (isRefused(after)) return 'newly-refused';
  if (old.kind === 'server-options') return 'same';
  if (old.route === undefined || next.route === undefined)
    return old.route === next.route && before.permissions === after.permissions ? 'same' : 'other-status';
  if (old.route !== next.route) return 'other-route';
  if (old.upstream !== next.upstream) return 'other-upstream';
  return before.sent === after.sent ? 'same' : 'other-message';
}

function isRefused({ line }: ServedRequest): boolean {
  return line.refusal !== undefined && !line.refusal.startsWith('upstream_');
}

/** The results of the lines of a log, in order. */
export interface LineResults {
  readonly calibrations: readonly ComparisonResult[];
  readonly comparisons: readonly ComparisonResult[];
}

/** Replays lines and returns the result of each of them, which reports do not have. */
export function replayLines(lines: readonly object[], old: PlannedManifest, next: PlannedManifest): LineResults {
  const calibrations: ComparisonResult[] = [];
  const comparisons: ComparisonResult[] = [];
  const { add } = OutcomeComparison.prototype;
  const { hold } = LimitEffects.prototype;
  let isCalibration = false;
  OutcomeComparison.prototype.add = (result, _weight, _caller, witness) => {
    const { line } = witness() as LogLine;
    (isCalibration ? calibrations : comparisons)[line - 1] = result;
    isCalibration = false;
  };
  LimitEffects.prototype.hold = function (result, effects, request, caller) {
    // The number of the line keeps equal results apart.
    hold.call(this, Object.assign({}, result, { line: request.line }), effects, request, caller);
  };
  try {
    const replay = createReplay(old, next);
    for (const [index, line] of lines.entries()) {
      const request = parseLogLine(JSON.stringify(line), 'access.log', index + 1);
      if (!('line' in request)) throw new Error(`${request.reason}: ${JSON.stringify(line)}`);
      isCalibration = true;
      replay.add(request);
    }
    replay.report();
  } finally {
    OutcomeComparison.prototype.add = add;
    LimitEffects.prototype.hold = hold;
  }
  return { calibrations, comparisons };
}
