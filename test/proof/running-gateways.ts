import { once } from 'node:events';
import { connect } from 'node:net';
import type { RequestRecord } from '../../src/engine/gateway/telemetry/request-record.ts';
import { getOrCreate } from '../../src/engine/get-or-create.ts';
import type { DiffRequest } from '../../src/prove/diff/difference.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { createOfflineRequest, requestBytes } from '../../src/prove/offline/request-bytes.ts';
import { callerOfRole } from '../../src/prove/offline/role-claims.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startIssuer } from '../support/issuer.ts';
import { type RawResponse, Wire } from '../support/raw.ts';
import { startUpstream } from '../support/upstream.ts';
import type { DecidedOutcome, Decider } from './model-side.ts';

/** The response header in which an upstream returns the request that it received. */
const SEEN = 'X-Seen';
/** Headers that differ for each request or each gateway. */
const VARYING = /^(?:x-request-id|traceparent|via|authorization)$/i;
/** Longer than the intervals of all rate limits. */
const LONG_MS = 36_000_000;

/** Starts two gateways, three upstreams and an issuer of tokens, which stay for all pairs of manifests. */
export async function startRunningGateways() {
  const issuer = await startIssuer();
  const upstreams = await Promise.all(
    [1, 2, 3].map((name) =>
      startUpstream(({ method, url, rawHeaders }, response, body) => {
        const headers = rawHeaders.filter((_, at) => !VARYING.test(rawHeaders[at - (at % 2)] ?? ''));
        const seen = JSON.stringify({ name, method, url, headers, body: body.toString() });
        response.setHeader(SEEN, encodeURIComponent(seen)).end();
      }),
    ),
  );
  const urls = [...upstreams.map(({ url }) => url), issuer.jwksUrl];
  const localized = (manifest: object): object => {
    const text = JSON.stringify({ ...manifest, listen: '127.0.0.1:0' });
    const url = (port: string) => urls[[1, 2, 3, 9].indexOf(Number(port))] ?? '';
    return JSON.parse(text.replaceAll(/http:\/\/127\.0\.0\.1:([1239])\/?(?=")/g, (_, port) => url(port)));
  };
  const tokens = new Map<string, Promise<string>>();
  const tokenOf = ({ alg, typ, ...claims }: Token) =>
    getOrCreate(tokens, JSON.stringify({ alg, typ, claims }), () => {
      const exp = Math.floor(Date.now() / 1000) + LONG_MS;
      return issuer.token({ company_role: undefined, sub: undefined, exp, ...claims }, { typ });
    });
  const gateways = [await RunningGateway.start(tokenOf), await RunningGateway.start(tokenOf)] as const;
  const decidersOf = ([old, next]: readonly [DiffSide, DiffSide]) =>
    [gateways[0].deciderOf(old), gateways[1].deciderOf(next)] as const;
  const close = async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await Promise.all([...upstreams, issuer].map((server) => server.close()));
  };
  return { localized, decidersOf, close };
}

type Token = NonNullable<DiffRequest['token']>;
type TokenOf = (token: Token) => Promise<string>;

/** A gateway, a connection to it from each client, and the clock of its rate limits. */
class RunningGateway {
  readonly #gateway: TestGateway;
  readonly #clock: { now: number };
  readonly #tokenOf: TokenOf;
  readonly #wires = new Map<string, Promise<Wire>>();

  private constructor(gateway: TestGateway, clock: { now: number }, tokenOf: TokenOf) {
    this.#gateway = gateway;
    this.#clock = clock;
    this.#tokenOf = tokenOf;
  }

  static async start(tokenOf: TokenOf): Promise<RunningGateway> {
    const clock = { now: 0 };
    const manifest = {
      ...{ version: 1, listen: '127.0.0.1:0', upstreams: { up: { url: 'http://127.0.0.1:9' } } },
      routes: [{ id: 'first', method: 'GET', path: '/', access: 'public', upstream: 'up' }],
    };
    const gateway = await startGateway(JSON.stringify(manifest), {}, {}, undefined, () => clock.now);
    return new RunningGateway(gateway, clock, tokenOf);
  }

  /** Activates the manifest of a side. */
  deciderOf({ manifest, document }: DiffSide): Decider {
    this.#gateway.swap(document.text);
    return async (request, { first = request, repetition: { times, waitMs } = { times: 1, waitMs: 0 } } = {}) => {
      // Counters of the last request are empty again.
      this.#clock.now += LONG_MS;
      for (let count = 1; count < times; count += 1) await this.#send(first, manifest);
      this.#clock.now += waitMs;
      return outcomeOf(await this.#send(request, manifest));
    };
  }

  async close(): Promise<void> {
    for (const wire of this.#wires.values()) (await wire).end();
    await this.#gateway.close();
  }

  async #send(request: DiffRequest, manifest: DiffSide['manifest']): Promise<Response> {
    const { method, peer = '' } = request;
    const { promise: recorded, resolve } = Promise.withResolvers<RequestRecord>();
    const unsubscribe = this.#gateway.gateway.subscribe(resolve);
    const wire = await getOrCreate(this.#wires, peer, () => this.#connect(peer));
    const response = await wire.write(await this.#bytesOf(request, manifest)).response(method);
    const { reported } = await recorded;
    unsubscribe();
    if (response.value('connection') === 'close') {
      wire.end();
      this.#wires.delete(peer);
    }
    return { response, reported: reported?.map(({ code }) => code) };
  }

  /** Each client has an address of loopback. */
  async #connect(peer: string): Promise<Wire> {
    const socket = connect({ port: this.#gateway.port, host: '127.0.0.1', localAddress: `127.0.0.${1 + peer.length}` });
    await once(socket, 'connect');
    return new Wire(socket);
  }

  async #bytesOf(request: DiffRequest, manifest: DiffSide['manifest']): Promise<Buffer> {
    const { method, url, headers = [], role, issuer, body, bodyBytes = 0 } = request;
    const {
      token = role === undefined ? undefined : { ...callerOfRole(manifest, role, issuer).claims, iss: 'i', aud: 'a' },
    } = request;
    const credentials = token === undefined ? [] : ['Authorization', `Bearer ${await this.#tokenOf(token)}`];
    const text = bodyBytes === 0 ? body : (body ?? '').padEnd(bodyBytes);
    const bytes = text === undefined ? text : Buffer.from(text);
    return Buffer.concat(requestBytes(createOfflineRequest(method, url, [...credentials, ...headers], bytes)).chunks);
  }
}

/** A response, and the violations that are only logged. */
interface Response {
  readonly response: RawResponse;
  readonly reported: readonly string[] | undefined;
}

function outcomeOf({ response, reported }: Response): DecidedOutcome {
  const { status } = response;
  const upstreamRequest = response.value(SEEN);
  if (upstreamRequest === undefined) {
    const refusal = response.body.length === 0 ? undefined : response.json();
    return { isServed: false, target: '', seen: { status, code: refusal?.code, errors: refusal?.errors, reported } };
  }
  const { name, url, headers, ...others } = JSON.parse(decodeURIComponent(upstreamRequest));
  const host = headers[headers.indexOf('Host') + 1];
  const seen = { status, name, url, headers, reported, ...others };
  return { isServed: true, target: JSON.stringify([name, url, host]), seen };
}
