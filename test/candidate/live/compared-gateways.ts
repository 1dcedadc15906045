import { createHash } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import type { ExchangeObserver } from '../../../src/engine/gateway/exchange.ts';
import { load } from '../../../src/engine/load.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { CandidateControl, type CandidateStatus } from '../../../src/traffic/candidate/candidate-control.ts';
import type { ChangeGroup, ComparisonReport } from '../../../src/traffic/comparison.ts';
import { createNoWorkers } from '../../support/candidate.ts';
import { startGateway, type TestGateway, worldOf } from '../../support/gateway.ts';
import { type Issuer, startIssuer } from '../../support/issuer.ts';
import type { Message } from '../../support/message.ts';
import { type RawResponse, Wire } from '../../support/raw.ts';
import { eventually } from '../../support/site.ts';
import { startWireUpstream, type WireResponse, type WireUpstream } from '../../support/upstream.ts';
import { startWorkerSite } from '../../support/worker-site.ts';
import type { ManifestPair } from './any-change.ts';
import { type AnyRequest, CALLERS, type Caller } from './any-request.ts';

/** The upstreams and the issuer that all gateways of a test use. */
export interface Surroundings {
  readonly upstreams: Readonly<Record<'up' | 'other', WireUpstream>>;
  readonly issuer: Issuer;
  readonly tokens: ReadonlyMap<Caller, string>;
  close(): Promise<void>;
}

export async function startSurroundings(): Promise<Surroundings> {
  const issuer = await startIssuer();
  const tokens = new Map<Caller, string>();
  for (const role of CALLERS) tokens.set(role, await issuer.token({ company_role: role, sub: role }));
  tokens.set('expired', await issuer.token({ company_role: 'admin', exp: 1_000_000 }));
  const [, claims = ''] = (tokens.get('admin') ?? '').split('.');
  const { privateKey } = await generateKeyPair('ES256');
  const unsigned = new SignJWT(JSON.parse(Buffer.from(claims, 'base64url').toString()));
  tokens.set('foreign', await unsigned.setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey));
  const respond = (request: Message) => respondTo(request, tokens);
  const upstreams = { up: await startWireUpstream(respond), other: await startWireUpstream(respond) };
  return {
    upstreams,
    issuer,
    tokens,
    async close() {
      await Promise.all([upstreams.up.close(), upstreams.other.close(), issuer.close()]);
    },
  };
}

/** Responds as `X-Respond` says: with the token of a login, with a status, or with an event stream that ends. */
function respondTo({ line, headers }: Message, tokens: ReadonlyMap<Caller, string>): WireResponse {
  const headerOf = (name: string) => headers.find(([rawName]) => rawName.toLowerCase() === name)?.[1];
  const key = headerOf('sec-websocket-key');
  if (headerOf('upgrade') !== undefined && key !== undefined) return acceptHandshake(key);
  const [kind = '', argument = ''] = (headerOf('x-respond') ?? '').split(' ');
  const body = kind === 'login' ? JSON.stringify({ token: tokens.get(argument as Caller) }) : '{}';
  const status = /^\d+$/.test(kind) ? kind : '200';
  const type = kind === 'events' ? 'text/event-stream' : 'application/json';
  const text = line.startsWith('HEAD') ? '' : body;
  return `HTTP/1.1 ${status} OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${text}`;
}

function acceptHandshake(key: string): WireResponse {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  return (socket) => void socket.end([...head, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
}

/** The outcome of one request, as the client, the upstreams and the log show it. */
export interface Observation {
  readonly outcome: 'forwarded' | 'refused' | 'responded' | 'left';
  /** False if the gateway could not parse the request. */
  readonly isParsed: boolean;
  readonly route: string | undefined;
  readonly upstream: string | undefined;
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** With the violations. */
  readonly detail: string | undefined;
  /** The headers of the gateway's own response. */
  readonly permissions: string;
  /** The head that the upstream received, without parts that differ for each request. */
  readonly message: string | undefined;
}

/** The result of the candidate for one request. */
export interface CandidateResult {
  /** `same`, `errors`, `skipped`, a reason after `unknown: `, or a kind of change. */
  readonly result: string;
  /** The group of a change. */
  readonly group: ChangeGroup<unknown> | undefined;
}

/** A gateway with a candidate. */
interface ActiveGateway extends Pick<TestGateway, 'port' | 'lines' | 'close'> {
  readonly control: CandidateControl;
  readonly plan: Plan;
  /** The requests that the candidate has observed; `undefined` if other threads observe them too. */
  readonly observed: () => number | undefined;
}

async function startActive(text: string): Promise<ActiveGateway> {
  const active = await startGateway(text);
  const { gateway } = active;
  let observed = 0;
  const count = (observer: ExchangeObserver): ExchangeObserver => ({
    copyBody: (exchange) => observer.copyBody(exchange),
    observe: (exchange) => {
      observed += 1;
      observer.observe(exchange);
    },
  });
  const observe = (observer: ExchangeObserver | undefined) => gateway.observe(observer && count(observer));
  const control = new CandidateControl(
    { plan: gateway.plan, rateLimiter: gateway.rateLimiter, observe },
    active.log.logger,
    createNoWorkers(),
  );
  return { ...active, plan: gateway.plan, control, observed: () => observed };
}

async function startActiveWorkers(text: string, workers: number): Promise<ActiveGateway> {
  const site = await startWorkerSite(text, workers);
  return { ...site, plan: site.gateway.plan, lines: site.requestLines, observed: () => undefined };
}

/** A gateway with a candidate, and a gateway that serves the candidate. */
export class ComparedGateways {
  readonly #active: ActiveGateway;
  readonly #next: TestGateway;
  readonly #surroundings: Surroundings;

  private constructor(active: ActiveGateway, next: TestGateway, surroundings: Surroundings) {
    this.#active = active;
    this.#next = next;
    this.#surroundings = surroundings;
  }

  /**
   * Returns `undefined` if one of the manifests has problems.
   *
   * @param isShared false if the candidate is loaded without the active plan
   * @param workers those of the gateway with the candidate
   */
  static async start(
    pair: ManifestPair,
    surroundings: Surroundings,
    source: 'file' | 'request',
    isShared: boolean,
    workers = 1,
  ): Promise<ComparedGateways | undefined> {
    const [activeText, nextText] = [textOf(pair.active, surroundings), textOf(pair.candidate, surroundings)];
    const isValid = (text: string) => load({ path: 'gateway.yaml', text }, worldOf()).plan !== undefined;
    if (!isValid(activeText) || !isValid(nextText)) return undefined;
    const active = workers === 1 ? await startActive(activeText) : await startActiveWorkers(activeText, workers);
    const next = await startGateway(nextText);
    const compared = new ComparedGateways(active, next, surroundings);
    const previous = isShared ? active.plan : undefined;
    const loaded = load({ path: 'gateway.yaml', text: nextText }, worldOf(), previous);
    if (loaded.plan !== undefined) await active.control.activate(loaded, source, 1);
    return compared;
  }

  async close(): Promise<void> {
    await this.#active.control.remove();
    await Promise.all([this.#active.close(), this.#next.close()]);
  }

  /** Sends a request to the gateway with the candidate, and then to the other one. */
  async send(
    request: AnyRequest,
    target: string,
  ): Promise<{ from: Observation; to: Observation; candidate: CandidateResult | undefined }> {
    const before = this.#counts();
    const observed = this.#active.observed();
    const from = await this.#observe(this.#active, request, target);
    const isObserved = observed === undefined ? from.isParsed : observed !== this.#active.observed();
    const candidate = isObserved ? await this.#resultAfter(before) : undefined;
    return { from, to: await this.#observe(this.#next, request, target), candidate };
  }

  #counts(): Counts {
    const { report, skipped, errors } = this.#active.control.status as CandidateStatus;
    const { unknown, changed, ...rest } = report();
    return { ...rest, unknown: new Map(unknown), changed: new Map(changed), skipped: totalOf(skipped), errors };
  }

  async #resultAfter(before: Counts): Promise<CandidateResult> {
    let after = this.#counts();
    await eventually('the comparison', () => {
      after = this.#counts();
      return countOf(after) > countOf(before);
    });
    const [result = 'none', ...others] = newResults(before, after);
    if (others.length > 0) throw new Error(`more than one result: ${[result, ...others]}`);
    const group = after.groups.find((group) => {
      const { kind, from, to } = group;
      const old = before.groups.find(
        (other) => JSON.stringify([kind, from, to]) === JSON.stringify([other.kind, other.from, other.to]),
      );
      return group.requests > (old?.requests ?? 0);
    });
    return { result, group };
  }

  async #observe(
    gateway: Pick<TestGateway, 'port' | 'lines'>,
    request: AnyRequest,
    target: string,
  ): Promise<Observation> {
    const { upstreams, tokens } = this.#surroundings;
    const lines = gateway.lines.length;
    const counts = { up: upstreams.up.messages.length, other: upstreams.other.messages.length };
    const response = await sendInForm(gateway.port, request, target, tokens);
    await eventually('the line', () => gateway.lines.length > lines);
    const line = gateway.lines[lines] ?? {};
    const [upstream, message] =
      upstreams.up.messages.length > counts.up
        ? ['up', upstreams.up.messages[counts.up]]
        : ['other', upstreams.other.messages[counts.other]];
    return observationOf(line, response, upstream, message, tokens);
  }
}

function textOf(manifest: unknown, { upstreams, issuer }: Surroundings): string {
  return JSON.stringify(manifest)
    .replaceAll('http://127.0.0.1:9/jwks.json', issuer.jwksUrl)
    .replaceAll('"http://127.0.0.1:9"', `"${upstreams.up.url}"`)
    .replaceAll('"http://127.0.0.1:10"', `"${upstreams.other.url}"`);
}

/** The counts of a candidate at one time. */
interface Counts extends ComparisonReport<unknown> {
  readonly skipped: number;
  readonly errors: number;
}

function countOf({ requests, errors, skipped }: Counts): number {
  return requests + errors + skipped;
}

function totalOf(counts: CandidateStatus['skipped']): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function newResults(before: Counts, after: Counts): string[] {
  const increased = (old: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>) =>
    [...now].filter(([key, count]) => count > (old.get(key) ?? 0)).map(([key]) => key);
  return [
    ...(['same', 'errors', 'skipped'] as const).filter((key) => after[key] > before[key]),
    ...increased(before.unknown, after.unknown).map((reason) => `unknown: ${reason}`),
    ...increased(before.changed, after.changed),
  ];
}

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const PREFLIGHT = ['Origin: https://app.example', 'Access-Control-Request-Method: GET'];

/** Sends a request on a new connection. Returns `undefined` if the client leaves or receives no response. */
async function sendInForm(
  port: number,
  { method: anyMethod, headers, type, body: anyBody, caller, form }: AnyRequest,
  target: string,
  tokens: ReadonlyMap<Caller, string>,
): Promise<RawResponse | undefined> {
  const method = form === 'handshake' ? 'GET' : form === 'preflight' ? 'OPTIONS' : anyMethod;
  const body = form === 'handshake' || form === 'preflight' ? undefined : anyBody;
  const framing =
    body === undefined ? [] : [form === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`];
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: gateway.test',
    ...(form === 'handshake' ? HANDSHAKE : ['Connection: close']),
    ...(form === 'preflight' ? PREFLIGHT : []),
    ...(form === 'expecting' ? ['Expect: 100-continue'] : []),
    ...(body === undefined || type === undefined ? [] : [`Content-Type: ${type}`]),
    ...framing,
    ...(caller === undefined ? [] : [`Authorization: Bearer ${tokens.get(caller)}`]),
    ...headers,
    '',
    '',
  ].join('\r\n');
  const bytes =
    body === undefined ? '' : form === 'chunked' ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  const wire = await Wire.open(port);
  try {
    return await exchange(wire, method, form, head, bytes);
  } catch {
    return undefined;
  } finally {
    wire.end();
  }
}

async function exchange(
  wire: Wire,
  method: string,
  form: AnyRequest['form'],
  head: string,
  body: string,
): Promise<RawResponse | undefined> {
  if (form === 'leaving') {
    wire.write(Buffer.from(head + body.slice(0, 3), 'latin1'));
    wire.socket.end();
    return wire.response(method);
  }
  if (form === 'slow' || form === 'expecting') {
    wire.write(Buffer.from(head, 'latin1'));
    if (form === 'slow') await new Promise(setImmediate);
    else {
      const first = await wire.message(method);
      if (first.status !== 100) return first;
    }
    wire.write(Buffer.from(body, 'latin1'));
  } else wire.write(Buffer.from(head + body, 'latin1'));
  for (;;) {
    const response = await wire.message(method);
    if (response.status === 101 || response.status >= 200) return response;
  }
}

function observationOf(
  line: Record<string, unknown>,
  response: RawResponse | undefined,
  upstream: string | undefined,
  message: Message | undefined,
  tokens: ReadonlyMap<Caller, string>,
): Observation {
  const refusal = line['refusal'] as string | undefined;
  const isRefused = refusal !== undefined && !/^upstream_(?!path)/.test(refusal);
  const status = (line['status'] as number | undefined) ?? response?.status;
  const isProblem = response?.value('content-type') === 'application/problem+json' && response.body.length > 0;
  const common = {
    route: line['route'] as string | undefined,
    status,
    code: isRefused ? refusal : undefined,
    detail: isRefused && isProblem ? JSON.stringify([response.json().detail, response.json().errors]) : undefined,
    isParsed: line['ms'] !== undefined,
    permissions: isRefused ? permissionsOf(response) : '',
    upstream: undefined,
    message: undefined,
  };
  if (isRefused) return { ...common, outcome: line['reason'] === 'client_closed' ? 'left' : 'refused' };
  if (common.route === undefined) {
    const outcome = response === undefined ? 'left' : 'responded';
    return { ...common, outcome, permissions: permissionsOf(response) };
  }
  if (message === undefined) return { ...common, outcome: 'left' };
  return {
    ...common,
    outcome: 'forwarded',
    upstream: `${line['upstream']} at ${upstream}`,
    message: textOfMessage(message, tokens),
  };
}

function permissionsOf(response: RawResponse | undefined): string {
  const isPermission = /^(?:access-control-.*|vary|allow|accept|www-authenticate|ratelimit-policy)$/i;
  return JSON.stringify(response?.headers.filter(([name]) => isPermission.test(name)) ?? []);
}

/** Excludes the framing: a validated body has a length, where the client may have sent chunks. */
const IGNORED = /^(?:x-request-id|traceparent|via|host|content-length|transfer-encoding)$/i;

function textOfMessage({ line, headers }: Message, tokens: ReadonlyMap<Caller, string>): string {
  const text = JSON.stringify([line, ...headers.filter(([name]) => !IGNORED.test(name))], undefined, 1);
  return [...tokens].reduce((rest, [caller, token]) => rest.replaceAll(token, `<${caller}>`), text);
}

/** Returns the result that the two observations show. */
export function resultOf(from: Observation, to: Observation): string {
  if (from.outcome === 'left' || to.outcome === 'left') return 'left';
  if (from.outcome === 'refused' && to.outcome !== 'refused') return 'newly-allowed';
  if (from.outcome !== 'refused' && to.outcome === 'refused') return 'newly-refused';
  if (from.outcome !== 'forwarded' || to.outcome !== 'forwarded') {
    const partsOf = ({ outcome, status, code, detail, permissions }: Observation) =>
      JSON.stringify([outcome, status, code, detail, permissions]);
    return partsOf(from) === partsOf(to) ? 'same' : 'other-status';
  }
  if (from.route !== to.route) return 'other-route';
  if (from.upstream !== to.upstream) return 'other-upstream';
  return from.message === to.message ? 'same' : 'other-message';
}
