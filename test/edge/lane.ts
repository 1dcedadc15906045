import { setTimeout as sleep } from 'node:timers/promises';
import { manifest, type Running, startGateway } from '../support/gateway.ts';
import type { Issuer } from '../support/issuer.ts';
import { type RawAnswer, Wire } from '../support/raw.ts';
import { get } from './corpus/case.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import type { StrictHead, StrictMessage } from './strict.ts';

/** Public and protected paths side by side. `reference.ts` says the same of them in other words. */
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

const TIMEOUTS = '{ connect: 2s, response: 2s, idle: 2s }';
const PROBE = get('/public/probe').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');

/** A gateway of its own before a recorder of its own, so that what the recorder gets has one author. */
export interface Lane {
  readonly gateway: Running;
  readonly recorder: Recorder;
  /** Sends bytes on a new connection and tells everything that came of it, on both sides. */
  play(bytes: string | readonly string[], reading: PlayOptions): Promise<Played>;
  close(): Promise<void>;
}

export interface PlayOptions {
  /** The methods of the requests whose answers are awaited; `undefined`: until it is quiet. */
  readonly methods: readonly string[] | undefined;
  /** Whether the gateway is to close the connection. */
  readonly closes: boolean;
}

export interface Played {
  readonly answers: readonly RawAnswer[];
  readonly interim: readonly number[];
  readonly isClosed: boolean;
  /** What came beyond the answers that were awaited. */
  readonly rest: string;
  readonly requests: readonly StrictMessage[];
  readonly cut: readonly StrictHead[];
  /** What must never be, whatever was sent. */
  readonly faults: readonly string[];
}

/** What nobody caught while the tests ran: a gateway in a process of its own would have died of it. */
export const crashes: string[] = [];
process.on('uncaughtExceptionMonitor', (error) => void crashes.push(String(error.stack)));

export async function startLane(issuer: Issuer): Promise<Lane> {
  const recorder = await startRecorder();
  const gateway = await startGateway(manifest(ROUTES, { up: recorder.url, jwks: issuer.jwksUrl, timeouts: TIMEOUTS }));
  return {
    gateway,
    recorder,
    play: (bytes, options) => play({ gateway, recorder }, bytes, options),
    close: async () => {
      await gateway.close();
      await recorder.close();
    },
  };
}

async function play(
  { gateway, recorder }: Pick<Lane, 'gateway' | 'recorder'>,
  bytes: string | readonly string[],
  options: PlayOptions,
): Promise<Played> {
  for (const list of [recorder.requests, recorder.cut, recorder.faults]) list.length = 0;
  const faults: string[] = [];
  const wire = await Wire.open(gateway.port);
  wire.socket.setNoDelay(true);
  const read = options.methods === undefined ? readUntilQuiet(wire, recorder) : readAnswers(wire, options.methods);
  const pieces = typeof bytes === 'string' ? [bytes] : bytes;
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await sleep(pieces.length > 10 ? 1 : 20);
    wire.write(Buffer.from(piece, 'latin1'));
  }
  const { answers, interim } = await read;
  if (options.closes) await Promise.race([wire.closed(), sleep(3_000)]);
  const { isClosed, rest } = wire;
  wire.end();
  for (let waited = 0; recorder.pending() > 0 && waited < 500; waited += 2) await sleep(2);
  if (recorder.pending() > 0) faults.push('a request upstream neither ended nor broke off');
  faults.push(...(await probe(gateway.port)));
  faults.push(...recorder.faults);
  const requests = [...recorder.requests];
  const probes = requests.filter(({ line }) => line === 'GET /public/probe HTTP/1.1').length;
  if (probes !== 1) faults.push(`the next request came upstream ${probes} times`);
  return {
    answers,
    interim,
    isClosed,
    rest,
    requests: requests.filter(({ line }) => line !== 'GET /public/probe HTTP/1.1'),
    cut: [...recorder.cut],
    faults,
  };
}

type Read = Pick<Played, 'answers' | 'interim'>;

async function readAnswers(wire: Wire, methods: readonly string[]): Promise<Read> {
  const answers: RawAnswer[] = [];
  const interim: number[] = [];
  const all = (async () => {
    while (answers.length < methods.length) {
      const message = await wire.message(methods[answers.length]);
      if (message.status < 200) interim.push(message.status);
      else answers.push(message);
    }
  })().catch(() => undefined);
  await Promise.race([all, sleep(3_000)]);
  return { answers, interim };
}

/** For bytes of which nobody knows how many requests they are. */
async function readUntilQuiet(wire: Wire, recorder: Recorder): Promise<Read> {
  let seen = -1;
  for (let quiet = 0, waited = 0; quiet < 4 && waited < 200 && !wire.isClosed; waited += 1) {
    await sleep(5);
    const now = wire.rest.length + recorder.requests.length;
    quiet = now === seen && recorder.pending() === 0 ? quiet + 1 : 0;
    seen = now;
  }
  return { answers: [], interim: [] };
}

/** The next valid request on a new connection. */
async function probe(port: number): Promise<string[]> {
  try {
    const wire = await Wire.open(port);
    wire.write(PROBE);
    const answer = await Promise.race([wire.answer(), sleep(3_000)]);
    wire.end();
    const got = answer === undefined ? 'nothing' : `${answer.status} ${answer.body}`;
    return got === '200 {"target":"/public/probe"}' ? [] : [`the next request was answered ${got}`];
  } catch (error) {
    return [`the next request failed: ${String(error)}`];
  }
}
