import type { Socket } from 'node:net';
import { startGateway } from '../support/gateway.ts';
import { turns, within } from '../support/pause.ts';
import { openSocket, type RawResponse, sendRequest } from '../support/raw.ts';
import { scaledMs } from '../support/slowness.ts';
import { type RawUpstream, startRawUpstream } from '../support/upstream.ts';
import { get, HOST, request } from './corpus/case.ts';
import type { ClientOutcome, HostileResponse } from './corpus/responses.ts';
import {
  REQUEST_LINE,
  readStrictly,
  STATUS_LINE,
  type StrictHead,
  type StrictMessage,
  strictValues,
  UnreadableError,
} from './strict.ts';

/** A gateway with its own upstream, which sends hostile responses. */
export interface ResponseLane {
  /** Makes the upstream send this response and returns a description of each violation. */
  check(hostile: HostileResponse): Promise<string[]>;
  /** Sends a GET request on a new connection. */
  send(path: string): Promise<RawResponse>;
  close(): Promise<void>;
}

const TIMEOUTS = '{ response: 300ms, idle: 300ms }';
/** Far more than the timeouts above, even on a busy machine, and less than the defaults. */
const LIMIT_MS = scaledMs(10_000);

export async function startResponseLane(): Promise<ResponseLane> {
  let hostile: HostileResponse | undefined;
  let requestCount = 0;
  let lastSocket: Socket | undefined;
  let sent: Promise<void> | undefined;
  const upstream = await startHostileUpstream((socket) => {
    requestCount += 1;
    lastSocket = socket;
    if (hostile !== undefined) sent = sendHostile(socket, hostile);
  });
  const closed = await startRawUpstream(() => undefined);
  await closed.close();
  const gateway = await startGateway(manifest(upstream.url, closed.url));
  const send = (path: string) => sendRequest(gateway.port, get(path, 'Connection: close'));
  return {
    check: async (response) => {
      hostile = response;
      requestCount = 0;
      const errors: string[] = [];
      await send('/x/next/0');
      const startedAt = performance.now();
      const received = await requestHostile(gateway.port, response);
      if (performance.now() - startedAt > LIMIT_MS - 500) errors.push('the exchange took too long');
      errors.push(...clientErrors(response, received));
      const isRepeatable = response.method !== 'POST';
      if (requestCount < 1 || requestCount > (isRepeatable ? 2 : 1))
        errors.push(`the upstream received the request ${requestCount} times`);
      if (response.isLateSurplus && !(await isClosedInTime(lastSocket)))
        errors.push('the gateway kept a connection with surplus bytes');
      // On a busy machine the last bytes may be late, and would reach the gateway as a response to the next request.
      await sent;
      for (let request = 0; request < 4; request += 1) {
        errors.push(...(await nextRequestErrors(send)));
        await turns(5);
      }
      return errors;
    },
    send,
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

function manifest(up: string, closed: string): string {
  return `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${up}', timeouts: ${TIMEOUTS} }
  closed: { url: '${closed}', timeouts: ${TIMEOUTS} }
  nowhere: { url: 'http://no-such-host.invalid:80' }
routes:
  - { id: next, method: GET, path: '/x/next/{number}', upstream: up, access: public, timeout: 20s }
  - { id: patient, method: any, path: /x/patient/hostile, upstream: up, access: public, timeout: 20s }
  - { id: x, method: any, path: /x/**, upstream: up, access: public }
  - { id: closed, method: any, path: /closed/**, upstream: closed, access: public }
  - { id: nowhere, method: any, path: /nowhere/**, upstream: nowhere, access: public }
`;
}

/** Starts an upstream that responds with the request target. `respond` handles requests for a path that ends in `/hostile`. */
function startHostileUpstream(respond: (socket: Socket) => void): Promise<RawUpstream> {
  return startRawUpstream((socket) => {
    let rest = Buffer.alloc(0);
    let ignoresInput = false;
    socket.on('data', (chunk: Buffer) => {
      if (ignoresInput) return;
      rest = Buffer.concat([rest, chunk]);
      while (rest.length > 0) {
        const result = readStrictly(rest, { line: REQUEST_LINE, unframed: 'no body' });
        const head = result.message ?? result.head;
        if (head === undefined) return;
        const target = head.line.split(' ')[1] ?? '';
        if (target.endsWith('/hostile')) {
          respond(socket);
          // The response to an upload starts before its end. The rest of the upload does not matter.
          ignoresInput = result.message === undefined;
        } else if (result.message !== undefined) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
        }
        if (result.message === undefined) return;
        rest = rest.subarray(result.message.size);
      }
    });
  });
}

async function sendHostile(socket: Socket, { bytes, after, lateBytes }: HostileResponse): Promise<void> {
  const writes = typeof bytes === 'string' ? [bytes] : bytes;
  for (const [index, text] of writes.entries()) {
    if (index > 0) await turns(5);
    if (text !== '') socket.write(Buffer.from(text, 'latin1'));
  }
  if (after === 'close') socket.end();
  // A reset discards bytes that the gateway has not read yet, so wait for it to read them.
  if (after === 'reset') void turns(5).then(() => socket.resetAndDestroy());
  if (lateBytes === undefined) return;
  await turns(20);
  socket.write(Buffer.from(lateBytes, 'latin1'));
}

/** Everything that the client receives. */
interface ClientResult {
  /** The interim (1xx) responses. */
  readonly interim: readonly StrictMessage[];
  /** All bytes after the interim responses. */
  readonly bytes: Buffer;
  readonly end: 'open' | 'closed' | 'reset' | 'timeout';
  readonly message: StrictMessage | undefined;
  readonly head: StrictHead | undefined;
  /** The parse error, if the bytes are not valid HTTP. */
  readonly parseError: string | undefined;
}

async function requestHostile(
  port: number,
  { method = 'GET', uploadBytes, expect }: HostileResponse,
): Promise<ClientResult> {
  const path = expect.includes('504') ? '/x/hostile' : '/x/patient/hostile';
  const socket = await openSocket(port);
  let bytes = Buffer.alloc(0);
  let end: ClientResult['end'] = 'timeout';
  const parse = () => parseResponses(bytes, method, end !== 'timeout');
  const received = new Promise<void>((resolve) => {
    const finish = (reason: ClientResult['end']) => {
      if (end === 'timeout') end = reason;
      resolve();
    };
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (parse().message !== undefined) finish('open');
    });
    socket.on('end', () => finish('closed'));
    socket.on('error', () => finish('reset'));
    socket.on('close', () => finish('closed'));
    const length = uploadBytes === undefined ? [] : [`Content-Length: ${uploadBytes}`];
    const body = uploadBytes === undefined ? '' : 'x'.repeat(100);
    socket.write(request(`${method} ${path} HTTP/1.1`, HOST, ...length) + body);
  });
  await within(LIMIT_MS, received);
  socket.destroy();
  return { end, ...parse() };
}

type ParsedResponses = Pick<ClientResult, 'interim' | 'bytes' | 'message' | 'head' | 'parseError'>;

/** Parses the interim responses and the final response. */
function parseResponses(bytes: Buffer, method: string, isClosed: boolean): ParsedResponses {
  const interim: StrictMessage[] = [];
  let rest = bytes;
  for (;;) {
    const result = parseResponse(rest, method, isClosed);
    if (result.message === undefined || !isInterim(result.message)) return { interim, bytes: rest, ...result };
    interim.push(result.message);
    rest = rest.subarray(result.message.size);
  }
}

function isInterim({ line }: StrictMessage): boolean {
  return /^HTTP\/1\.1 1/.test(line);
}

type ParsedResponse = Pick<ClientResult, 'message' | 'head' | 'parseError'>;

function parseResponse(bytes: Buffer, method: string, isClosed: boolean): ParsedResponse {
  try {
    const result = readStrictly(bytes, {
      line: STATUS_LINE,
      hasBody: (line) => method !== 'HEAD' && !/^HTTP\/1\.[01] (?:1..|204|304) /.test(line),
      unframed: 'until the end',
      isClosed,
    });
    return { message: result.message, head: result.message ?? result.head, parseError: undefined };
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    return { message: undefined, head: undefined, parseError: error.message };
  }
}

/** Returns errors if the client received anything except an outcome that the case allows. */
function clientErrors(hostile: HostileResponse, received: ClientResult): string[] {
  const { bytes, end, message, parseError } = received;
  if (parseError !== undefined) return [`the client received invalid HTTP: ${parseError}`];
  if (end === 'timeout') return ['the client received no complete response in time'];
  const errors = interimErrors(hostile, received.interim);
  const outcome = outcomeOf(received);
  if (!hostile.expect.includes(outcome))
    errors.push(`the outcome for the client was ${outcome}, not ${hostile.expect.join(' or ')}`);
  if (message !== undefined && message.size < bytes.length)
    errors.push(`surplus bytes for the client: ${JSON.stringify(bytes.subarray(message.size).toString('latin1'))}`);
  if (message !== undefined)
    errors.push(...(outcome === 'forwarded' ? forwardedErrors(hostile, message) : refusalErrors(message)));
  else if (
    received.head !== undefined &&
    !hostile.bytes.toString().includes('Content-Length') &&
    end === 'closed' &&
    strictValues(received.head, 'transfer-encoding').length === 0
  )
    errors.push('a client reads an aborted body without framing as complete');
  return errors;
}

function outcomeOf({ message }: ClientResult): ClientOutcome {
  if (message === undefined) return 'aborted';
  const isProblem = strictValues(message, 'content-type').join() === 'application/problem+json';
  const [, status = ''] = message.line.split(' ');
  return isProblem && /^50[234]$/.test(status) ? (status as ClientOutcome) : 'forwarded';
}

const REFUSAL_HEADERS = new Set([
  'content-type',
  'content-length',
  'cache-control',
  'connection',
  'keep-alive',
  'date',
  'retry-after',
]);

function refusalErrors(message: StrictMessage): string[] {
  const unexpected = message.headers.filter(([name]) => !REFUSAL_HEADERS.has(name.toLowerCase()));
  return unexpected.map(([name]) => `the refusal has the header ${name}`);
}

const CONNECTION_HEADERS = /^(?:connection|keep-alive|proxy-connection|te|transfer-encoding|upgrade|date|trailer)$/i;

/** Compares a forwarded response with a strict parse of the upstream's bytes. */
function forwardedErrors(hostile: HostileResponse, message: StrictMessage): string[] {
  const expected = expectedResponse(hostile);
  if (expected === undefined) return ['the gateway forwarded a response that is not valid'];
  const errors: string[] = [];
  if (message.line !== expected.line) errors.push(`the client received ${message.line}, not ${expected.line}`);
  if (message.body.toString('latin1') !== expected.body)
    errors.push(`the client received the body ${message.body.toString('latin1').slice(0, 100)}`);
  if (expected.headers === undefined) return errors;
  const actualHeaders = endToEndHeaders(message);
  const expectedHeaders = endToEndHeaders({ line: expected.line, headers: expected.headers });
  if (actualHeaders !== expectedHeaders)
    errors.push(
      `the client received the headers ${JSON.stringify(actualHeaders)}, not ${JSON.stringify(expectedHeaders)}`,
    );
  return errors;
}

/** Returns the headers that the gateway must forward. */
function endToEndHeaders({ line, headers }: StrictHead): string {
  const connectionOptions = new Set(
    headers
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.toLowerCase().split(/[\t ]*,[\t ]*/)),
  );
  connectionOptions.delete('content-length');
  return headers
    .filter(
      ([name]) =>
        !CONNECTION_HEADERS.test(name) && !connectionOptions.has(name.toLowerCase()) && !isForbiddenLength(name, line),
    )
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** True for a Content-Length on a 1xx or 204 response. RFC 9110 section 8.6 forbids it, so the gateway may remove it. */
function isForbiddenLength(name: string, line: string): boolean {
  return name.toLowerCase() === 'content-length' && /^HTTP\/1\.1 (?:1..|204) /.test(line);
}

/** The gateway refuses a response with more interim responses than this. */
const MAX_INTERIM = 100;

/** Checks that the client received the interim responses in order, except 100 and 101, which it did not request. */
function interimErrors({ bytes, method = 'GET' }: HostileResponse, received: readonly StrictMessage[]): string[] {
  const show = (message: StrictMessage) => `${message.line.slice(0, 12)} ${endToEndHeaders(message)}`;
  const { interim } = parseResponses(Buffer.from([bytes].flat().join(''), 'latin1'), method, true);
  const isUnrequested = ({ line }: StrictMessage) => /^HTTP\/1\.1 10[01] /.test(line);
  const expected = interim
    .filter((message) => !isUnrequested(message))
    .slice(0, MAX_INTERIM)
    .map(show);
  const actual = received.map(show);
  return actual.join() === expected.join()
    ? []
    : [`the interim responses were ${actual.join(' | ')}, not ${expected.join(' | ')}`];
}

function expectedResponse({ bytes, forwardedAs, method = 'GET', after }: HostileResponse) {
  if (forwardedAs !== undefined) return { line: forwardedAs[0], body: forwardedAs[1], headers: undefined };
  let rest = Buffer.from(typeof bytes === 'string' ? bytes : bytes.join(''), 'latin1');
  for (;;) {
    const { message } = parseResponse(rest, method, after === 'close');
    if (message === undefined) return undefined;
    rest = rest.subarray(message.size);
    if (message.line.startsWith('HTTP/1.1 1')) continue;
    // The gateway always responds with HTTP/1.1, also if the upstream uses HTTP/1.0.
    return {
      line: message.line.replace('HTTP/1.0', 'HTTP/1.1'),
      body: message.body.toString('latin1'),
      headers: message.headers,
    };
  }
}

async function isClosedInTime(socket: Socket | undefined): Promise<boolean> {
  if (socket === undefined || socket.destroyed) return true;
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)));
  return (await within(LIMIT_MS, closed)) === true;
}

let nextNumber = 0;

/** Checks that the next request receives its own response. */
async function nextRequestErrors(send: (path: string) => Promise<RawResponse>): Promise<string[]> {
  nextNumber += 1;
  const path = `/x/next/${nextNumber}`;
  try {
    const response = await within(LIMIT_MS, send(path));
    const received = response === undefined ? 'nothing' : `${response.status} ${response.body}`;
    return received === `200 ${path}` ? [] : [`the response to the next request was ${received}`];
  } catch (error) {
    return [`the next request failed: ${String(error)}`];
  }
}
