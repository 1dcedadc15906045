import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../support/gateway.ts';
import { ask, openSocket, type RawAnswer } from '../support/raw.ts';
import { type RawUpstream, startRawUpstream } from '../support/upstream.ts';
import type { HostileAnswer, Sight } from './corpus/answers.ts';
import { get, HOST, request } from './corpus/case.ts';
import {
  REQUEST_LINE,
  readStrictly,
  STATUS_LINE,
  type StrictHead,
  type StrictMessage,
  strictValues,
  Unreadable,
} from './strict.ts';

/** A gateway of its own before an upstream of its own that gives hostile answers. */
export interface AnswerLane {
  /** Has the upstream give this answer and says everything that is not as it must be. */
  judge(answer: HostileAnswer): Promise<string[]>;
  /** A request without a body on a connection of its own. */
  ask(path: string): Promise<RawAnswer>;
  close(): Promise<void>;
}

const TIMEOUTS = '{ connect: 300ms, response: 300ms, idle: 300ms }';
const BOUND_MS = 3_000;

export async function startAnswerLane(): Promise<AnswerLane> {
  let hostile: HostileAnswer | undefined;
  let times = 0;
  let last: Socket | undefined;
  const upstream = await startHostile((socket) => {
    times += 1;
    last = socket;
    if (hostile !== undefined) void give(socket, hostile);
  });
  const gone = await startRawUpstream(() => undefined);
  await gone.close();
  const gateway = await startGateway(manifest(upstream.url, gone.url));
  const askFor = (path: string) => ask(gateway.port, get(path, 'Connection: close'));
  return {
    judge: async (answer) => {
      hostile = answer;
      times = 0;
      const faults: string[] = [];
      await askFor('/x/warm');
      const started = performance.now();
      const seen = await see(gateway.port, answer);
      if (performance.now() - started > BOUND_MS - 500) faults.push('it took too long');
      faults.push(...seenFaults(answer, seen));
      const isRepeatable = answer.method !== 'POST';
      if (times < 1 || times > (isRepeatable ? 2 : 1)) faults.push(`it was asked for ${times} times`);
      if (answer.isSurplus && !(await isLetGo(last))) faults.push('the connection with the surplus is kept');
      for (const pause of [0, 0, 60, 0]) {
        await sleep(pause);
        faults.push(...(await nextFaults(askFor)));
      }
      return faults;
    },
    ask: askFor,
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

function manifest(up: string, gone: string): string {
  return `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${up}', timeouts: ${TIMEOUTS} }
  gone: { url: '${gone}', timeouts: ${TIMEOUTS} }
  nowhere: { url: 'http://no-such-host.invalid:80' }
routes:
  - { id: x, method: any, path: /x/**, upstream: up, access: public }
  - { id: gone, method: any, path: /gone/**, upstream: gone, access: public }
  - { id: nowhere, method: any, path: /nowhere/**, upstream: nowhere, access: public }
`;
}

/** An upstream that answers each request with its own target, and leaves those for `/x/hostile` to `talk`. */
function startHostile(talk: (socket: Socket) => void): Promise<RawUpstream> {
  return startRawUpstream((socket) => {
    let rest = Buffer.alloc(0);
    let isSilent = false;
    socket.on('data', (chunk: Buffer) => {
      if (isSilent) return;
      rest = Buffer.concat([rest, chunk]);
      while (rest.length > 0) {
        const reading = readStrictly(rest, { line: REQUEST_LINE, unframed: 'no body' });
        const head = reading.message ?? reading.head;
        if (head === undefined) return;
        const target = head.line.split(' ')[1] ?? '';
        if (target === '/x/hostile') {
          talk(socket);
          // An answer to an upload comes before its end, and the rest is of no interest.
          isSilent = reading.message === undefined;
        } else if (reading.message !== undefined) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
        }
        if (reading.message === undefined) return;
        rest = rest.subarray(reading.message.size);
      }
    });
  });
}

async function give(socket: Socket, { bytes, after, late }: HostileAnswer): Promise<void> {
  const pieces = typeof bytes === 'string' ? [bytes] : bytes;
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await sleep(25);
    if (piece !== '') socket.write(Buffer.from(piece, 'latin1'));
  }
  if (after === 'close') socket.end();
  // A reset takes bytes along that were not read yet: they get a moment.
  if (after === 'reset') setTimeout(() => socket.resetAndDestroy(), pieces.join('') === '' ? 0 : 10);
  if (late === undefined) return;
  await sleep(30);
  socket.write(Buffer.from(late, 'latin1'));
}

/** What came to the client. */
interface Seen {
  /** The answers before the answer. */
  readonly interim: readonly StrictMessage[];
  /** From the answer on. */
  readonly bytes: Buffer;
  readonly end: 'kept' | 'closed' | 'reset' | 'nothing in time';
  readonly message: StrictMessage | undefined;
  readonly head: StrictHead | undefined;
  readonly unreadable: string | undefined;
}

async function see(port: number, { method = 'GET', uploadBytes }: HostileAnswer): Promise<Seen> {
  const socket = await openSocket(port);
  let bytes = Buffer.alloc(0);
  let end: Seen['end'] = 'nothing in time';
  const readAnswer = () => readAll(bytes, method, end !== 'nothing in time');
  await new Promise<void>((resolve) => {
    const done = (how: Seen['end']) => {
      if (end === 'nothing in time') end = how;
      resolve();
    };
    setTimeout(resolve, BOUND_MS);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (readAnswer().message !== undefined) done('kept');
    });
    socket.on('end', () => done('closed'));
    socket.on('error', () => done('reset'));
    socket.on('close', () => done('closed'));
    const length = uploadBytes === undefined ? [] : [`Content-Length: ${uploadBytes}`];
    const sent = uploadBytes === undefined ? '' : 'x'.repeat(100);
    socket.write(request(`${method} /x/hostile HTTP/1.1`, HOST, ...length) + sent);
  });
  socket.destroy();
  return { end, ...readAnswer() };
}

type Read = Pick<Seen, 'interim' | 'bytes' | 'message' | 'head' | 'unreadable'>;

/** The answer, and what came before it. */
function readAll(bytes: Buffer, method: string, isClosed: boolean): Read {
  const interim: StrictMessage[] = [];
  let rest = bytes;
  for (;;) {
    const reading = read(rest, method, isClosed);
    if (reading.message === undefined || !isInterim(reading.message)) return { interim, bytes: rest, ...reading };
    interim.push(reading.message);
    rest = rest.subarray(reading.message.size);
  }
}

function isInterim({ line }: StrictMessage): boolean {
  return /^HTTP\/1\.1 1/.test(line);
}

function read(bytes: Buffer, method: string, isClosed: boolean): Pick<Seen, 'message' | 'head' | 'unreadable'> {
  try {
    const reading = readStrictly(bytes, {
      line: STATUS_LINE,
      hasBody: (line) => method !== 'HEAD' && !/^HTTP\/1\.[01] (?:1..|204|304) /.test(line),
      unframed: 'until the end',
      isClosed,
    });
    return { message: reading.message, head: reading.message ?? reading.head, unreadable: undefined };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { message: undefined, head: undefined, unreadable: error.message };
  }
}

/** The client sees one of the things that the case allows; each of them is held to what it promises. */
function seenFaults(answer: HostileAnswer, seen: Seen): string[] {
  const { bytes, end, message, unreadable } = seen;
  if (unreadable !== undefined) return [`what the client got has no strict reading: ${unreadable}`];
  if (end === 'nothing in time') return ['it hangs'];
  const faults = interimFaults(answer, seen.interim);
  const sight = sightOf(seen);
  if (!answer.sees.includes(sight)) faults.push(`the client saw ${sight}, not ${answer.sees.join(' or ')}`);
  if (message !== undefined && message.size < bytes.length)
    faults.push(`more was answered: ${JSON.stringify(bytes.subarray(message.size).toString('latin1'))}`);
  if (message !== undefined)
    faults.push(...(sight === 'passes' ? passFaults(answer, message) : refusalFaults(message)));
  else if (
    seen.head !== undefined &&
    !answer.bytes.toString().includes('Content-Length') &&
    end === 'closed' &&
    strictValues(seen.head, 'transfer-encoding').length === 0
  )
    faults.push('a body without framing that ends cleanly is taken for a whole one');
  return faults;
}

function sightOf({ message }: Seen): Sight {
  if (message === undefined) return 'cut';
  const isProblem = strictValues(message, 'content-type').join() === 'application/problem+json';
  const [, status = ''] = message.line.split(' ');
  return isProblem && /^50[234]$/.test(status) ? (status as Sight) : 'passes';
}

const OF_A_REFUSAL = new Set([
  'content-type',
  'content-length',
  'cache-control',
  'connection',
  'keep-alive',
  'date',
  'retry-after',
]);

function refusalFaults(message: StrictMessage): string[] {
  const stale = message.headers.filter(([name]) => !OF_A_REFUSAL.has(name.toLowerCase()));
  return stale.map(([name]) => `${name} stands on a refusal`);
}

const OF_THE_CONNECTION = /^(?:connection|keep-alive|proxy-connection|te|transfer-encoding|upgrade|date|trailer)$/i;

/** What passes is what a strict reader reads of the upstream's bytes: line, body, headers. */
function passFaults(answer: HostileAnswer, message: StrictMessage): string[] {
  const sent = strictReadingOf(answer);
  if (sent === undefined) return ['it passed, and has no strict reading'];
  const faults: string[] = [];
  if (message.line !== sent.line) faults.push(`the client saw ${message.line}, not ${sent.line}`);
  if (message.body.toString('latin1') !== sent.body)
    faults.push(`the client got ${message.body.toString('latin1').slice(0, 100)}`);
  if (sent.headers === undefined) return faults;
  const [got, expected] = [endToEnd(message), endToEnd({ line: sent.line, headers: sent.headers })];
  if (got !== expected)
    faults.push(`the client got the headers ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`);
  return faults;
}

/** The headers that an answer has at both of its ends. */
function endToEnd({ line, headers }: StrictHead): string {
  const named = new Set(
    headers
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.toLowerCase().split(/[\t ]*,[\t ]*/)),
  );
  named.delete('content-length');
  return headers
    .filter(
      ([name]) => !OF_THE_CONNECTION.test(name) && !named.has(name.toLowerCase()) && !isLengthOfNothing(name, line),
    )
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** A 1xx and a 204 have no length (RFC 9110 section 8.6); it may be left out. */
function isLengthOfNothing(name: string, line: string): boolean {
  return name.toLowerCase() === 'content-length' && /^HTTP\/1\.1 (?:1..|204) /.test(line);
}

/** More answers before the answer than this break an upstream off. */
const MAX_INTERIM = 100;

/** What comes before the answer comes too, in its order; only what nobody asked for ends here. */
function interimFaults({ bytes, method = 'GET' }: HostileAnswer, seen: readonly StrictMessage[]): string[] {
  const show = (message: StrictMessage) => `${message.line.slice(0, 12)} ${endToEnd(message)}`;
  const { interim } = readAll(Buffer.from([bytes].flat().join(''), 'latin1'), method, true);
  const isUnasked = ({ line }: StrictMessage) => /^HTTP\/1\.1 10[01] /.test(line);
  const sent = interim
    .filter((message) => !isUnasked(message))
    .slice(0, MAX_INTERIM)
    .map(show);
  const got = seen.map(show);
  return got.join() === sent.join() ? [] : [`before the answer came ${got.join(' | ')}, not ${sent.join(' | ')}`];
}

function strictReadingOf({ bytes, reads, method = 'GET', after }: HostileAnswer) {
  if (reads !== undefined) return { line: reads[0], body: reads[1], headers: undefined };
  let rest = Buffer.from(typeof bytes === 'string' ? bytes : bytes.join(''), 'latin1');
  for (;;) {
    const { message } = read(rest, method, after === 'close');
    if (message === undefined) return undefined;
    rest = rest.subarray(message.size);
    if (message.line.startsWith('HTTP/1.1 1')) continue;
    // The gateway speaks HTTP/1.1, whatever its upstream speaks.
    return {
      line: message.line.replace('HTTP/1.0', 'HTTP/1.1'),
      body: message.body.toString('latin1'),
      headers: message.headers,
    };
  }
}

async function isLetGo(socket: Socket | undefined): Promise<boolean> {
  if (socket === undefined || socket.destroyed) return true;
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)));
  return Promise.race([closed, sleep(BOUND_MS, false)]);
}

let number = 0;

/** The next request gets the answer to itself. */
async function nextFaults(askFor: (path: string) => Promise<RawAnswer>): Promise<string[]> {
  number += 1;
  const path = `/x/next-${number}`;
  try {
    const answer = await Promise.race([askFor(path), sleep(BOUND_MS)]);
    const got = answer === undefined ? 'nothing' : `${answer.status} ${answer.body}`;
    return got === `200 ${path}` ? [] : [`the next request was answered ${got}`];
  } catch (error) {
    return [`the next request failed: ${String(error)}`];
  }
}
