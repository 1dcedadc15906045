import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import type { Issuer } from '../support/issuer.ts';
import { turns, within } from '../support/pause.ts';
import { type RawResponse, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { scaledMs } from '../support/slowness.ts';
import { get } from './corpus/case.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import type { StrictHead, StrictMessage } from './strict.ts';

/** Public and protected paths next to each other. `reference.ts` repeats them in another form. */
export const ROUTES = `  - { id: public, method: any, path: /public/**, upstream: up, access: public }
  - { id: admin, method: any, path: /admin/**, upstream: up, access: protected }
  - { id: files, method: any, path: /files/**, upstream: up, access: public }
  - { id: secret, method: any, path: /files/secret, upstream: up, access: protected }
  - { id: vault, method: any, path: /files/vault/**, upstream: up, access: protected }
  - { id: keys, method: any, path: '/files/{id}/keys', upstream: up, access: protected }
  - { id: read, method: GET, path: /read, upstream: up, access: public }
  - { id: small, method: POST, path: /small, upstream: up, access: public, body: { maxBytes: 16B } }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /access_token } }
  - { id: kept, method: any, path: /kept/**, upstream: up, access: public, encodedSlash: keep }
  - { id: kept-secret, method: any, path: /kept/secret/**, upstream: up, access: protected }
  - { id: kept-keys, method: any, path: '/kept/{id}/keys', upstream: up, access: protected }
  - { id: sealed, method: GET, path: '/sealed/{id}', upstream: up, access: protected, encodedSlash: keep }
  - { id: kept-login, method: POST, path: /kept/auth/login, upstream: up, access: public, login: { token: /access_token } }
  - { id: schema, method: POST, path: /schema, upstream: up, access: public, body: { schema: { type: object } } }
`;

/** Only a violation reaches this limit. It is far more than a busy machine needs. */
const LIMIT_MS = scaledMs(20_000);
/** The time for bytes that may end in an incomplete request. */
const UNFINISHED_MS = 1_000;
const TIMEOUTS = '{ connect: 1h, response: 1h, idle: 1h }';
const PROBE = get('/public/probe').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');

/** A gateway and its own recorder. One lane runs one case at a time, so each recorded request belongs to that case. */
export interface Lane {
  readonly gateway: TestGateway;
  readonly recorder: Recorder;
  /** Sends bytes on a new connection and returns everything that the client and the upstream receive. */
  exchange(bytes: string | readonly string[], options: LaneOptions): Promise<LaneResult>;
  close(): Promise<void>;
}

export interface LaneOptions {
  /** The methods of the requests to await responses for. `undefined`: read until the connection is idle. */
  readonly methods: readonly string[] | undefined;
  /** True if the gateway must close the connection. */
  readonly mustClose: boolean;
}

export interface LaneResult {
  readonly responses: readonly RawResponse[];
  readonly interimStatuses: readonly number[];
  readonly isClosed: boolean;
  /** The bytes after the expected responses. */
  readonly extraBytes: string;
  readonly requests: readonly StrictMessage[];
  readonly abortedRequests: readonly StrictHead[];
  /** Violations of the rules that hold for every input. */
  readonly errors: readonly string[];
}

/** Uncaught exceptions during the tests. A gateway process would crash from them. */
export const uncaughtErrors: string[] = [];
process.on('uncaughtExceptionMonitor', (error) => void uncaughtErrors.push(String(error.stack)));

export async function startLane(issuer: Issuer): Promise<Lane> {
  const recorder = await startRecorder();
  const gateway = await startGateway(manifest(ROUTES, { up: recorder.url, jwks: issuer.jwksUrl, timeouts: TIMEOUTS }));
  return {
    gateway,
    recorder,
    exchange: (bytes, options) => exchange({ gateway, recorder }, bytes, options),
    close: async () => {
      await gateway.close();
      await recorder.close();
    },
  };
}

async function exchange(
  { gateway, recorder }: Pick<Lane, 'gateway' | 'recorder'>,
  bytes: string | readonly string[],
  options: LaneOptions,
): Promise<LaneResult> {
  for (const list of [recorder.requests, recorder.abortedRequests, recorder.errors]) list.length = 0;
  const errors: string[] = [];
  const wire = await Wire.open(gateway.port);
  wire.socket.setNoDelay(true);
  const writes = typeof bytes === 'string' ? [bytes] : bytes;
  for (const [index, text] of writes.entries()) {
    // The gateway reads each part by itself.
    if (index > 0) await turns(5);
    wire.write(Buffer.from(text, 'latin1'));
  }
  const { responses, interimStatuses } =
    options.methods === undefined
      ? await readUntilIdle(wire, gateway, recorder)
      : await readResponses(wire, options.methods);
  if (options.mustClose) await within(LIMIT_MS, wire.closed());
  const { isClosed, rest: extraBytes } = wire;
  wire.end();
  const isOver = () => recorder.countPending() === 0;
  await eventually('each request to the upstream ends or is aborted', isOver, LIMIT_MS).catch((error: Error) =>
    errors.push(error.message),
  );
  errors.push(...(await probe(gateway.port)));
  errors.push(...recorder.errors);
  const requests = [...recorder.requests];
  const probes = requests.filter(({ line }) => line === 'GET /public/probe HTTP/1.1').length;
  if (probes !== 1) errors.push(`the upstream received the next request ${probes} times`);
  return {
    responses,
    interimStatuses,
    isClosed,
    extraBytes,
    requests: requests.filter(({ line }) => line !== 'GET /public/probe HTTP/1.1'),
    abortedRequests: [...recorder.abortedRequests],
    errors,
  };
}

type ClientResponses = Pick<LaneResult, 'responses' | 'interimStatuses'>;

async function readResponses(wire: Wire, methods: readonly string[]): Promise<ClientResponses> {
  const responses: RawResponse[] = [];
  const interimStatuses: number[] = [];
  const all = (async () => {
    while (responses.length < methods.length) {
      const message = await wire.message(methods[responses.length]);
      if (message.status < 200) interimStatuses.push(message.status);
      else responses.push(message);
    }
  })().catch(() => undefined);
  await within(LIMIT_MS, all);
  return { responses, interimStatuses };
}

/** Waits for bytes that contain an unknown number of requests: until nothing is in progress and no more bytes arrive. */
async function readUntilIdle(wire: Wire, gateway: TestGateway, recorder: Recorder): Promise<ClientResponses> {
  const { metrics } = gateway.gateway;
  let previous = -1;
  const isIdle = async () => {
    await turns(10);
    const now = wire.rest.length + recorder.requests.length;
    const hasChanged = now !== previous;
    previous = now;
    return wire.isClosed || (!hasChanged && metrics.inFlight === 0 && recorder.countPending() === 0);
  };
  // An incomplete request never ends.
  await eventually('the connection is idle', isIdle, UNFINISHED_MS).catch(() => undefined);
  return { responses: [], interimStatuses: [] };
}

/** Sends a valid request on a new connection and returns the errors. */
async function probe(port: number): Promise<string[]> {
  try {
    const wire = await Wire.open(port);
    wire.write(PROBE);
    const response = await within(LIMIT_MS, wire.response());
    wire.end();
    const got = response === undefined ? 'nothing' : `${response.status} ${response.body}`;
    return got === '200 {"target":"/public/probe"}' ? [] : [`the response to the next request was ${got}`];
  } catch (error) {
    return [`the next request failed: ${String(error)}`];
  }
}
