import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isServerOptions, readRequestHead, readRequestTarget } from '../../src/engine/gateway/request/request-head.ts';
import type { ClientRequest } from '../../src/engine/http1/client-request.ts';
import { FRAMING } from '../edge/corpus/framing.ts';
import { HEADERS } from '../edge/corpus/headers.ts';
import { PATHS } from '../edge/corpus/paths.ts';
import { applyMutations, MUTATIONS } from '../edge/mutate.ts';
import { RUNS } from '../support/runs.ts';
import { type ReadRequest, TestConnection, TestSocket } from './client-site.ts';

/** Node's own parser, llhttp, which no public module exports. */
interface Parser {
  initialize(type: number, resource: object): void;
  execute(bytes: Buffer): number | Error;
  close(): void;
  [event: number]: (...values: never[]) => unknown;
}
interface ParserClass {
  new (): Parser;
  readonly REQUEST: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}
const { HTTPParser, methods } = createRequire(import.meta.url)('node:_http_common') as {
  HTTPParser: ParserClass;
  methods: string[];
};

/** Returns the complete requests that llhttp reads, up to its first error. */
function readByNode(reads: readonly Buffer[]): ReadRequest[] {
  const requests: ReadRequest[] = [];
  const parser = new HTTPParser();
  let head: Omit<ReadRequest, 'body'> | undefined;
  let body = '';
  let flushed: string[] = [];
  let flushedTarget = '';
  parser.initialize(HTTPParser.REQUEST, {});
  parser[HTTPParser.kOnHeaders] = (headers: string[], target: string) => {
    flushed = [...flushed, ...headers];
    flushedTarget += target;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    major: number,
    minor: number,
    headers: string[] | undefined,
    method: number,
    target: string | undefined,
  ) => {
    head = {
      // The list ends before the newest method.
      method: methods[method] ?? 'QUERY',
      target: target ?? flushedTarget,
      version: `${major}.${minor}`,
      headers: headers ?? flushed,
    };
    body = '';
    return 0;
  };
  parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
    body += bytes.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (head !== undefined) requests.push({ ...head, body });
    flushed = [];
    flushedTarget = '';
  };
  for (const bytes of reads) if (typeof parser.execute(bytes) !== 'number') break;
  parser.close();
  return requests;
}

/** @throws for a request that the gateway refuses on every route */
function check(request: ClientRequest): void {
  if (request.method === 'CONNECT') throw new Error('no route allows it');
  const { host } = readRequestHead(request, 100);
  if (!isServerOptions(request)) readRequestTarget(request.url, host);
}

/** Returns the complete requests that the gateway accepts. */
async function readByGateway(reads: readonly Buffer[]): Promise<ReadRequest[]> {
  const socket = new TestSocket();
  const connection = new TestConnection(socket, check);
  for (const bytes of reads) socket.emit('data', bytes);
  for (let count = -1; count < connection.requests.length; ) {
    count = connection.requests.length;
    await nextTurn();
  }
  socket.destroy();
  return connection.requests;
}

const BYTES = [...PATHS, ...FRAMING, ...HEADERS]
  .map(({ bytes }) => (typeof bytes === 'string' ? bytes : bytes.join('')))
  .filter(({ length }) => length < 3_000);

const VALID = [
  'GET /a?b=c HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n',
  'HEAD / HTTP/1.0\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  'PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a="b"\r\nab\r\n3\r\ncde\r\n0\r\nA: b\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nX-Empty:\r\nX: \xff\t\r\n\r\n',
];
const PIPELINE = fc.array(fc.constantFrom(...VALID), { minLength: 1, maxLength: 4 }).map((texts) => texts.join(''));

const MUTANT = fc
  .tuple(
    fc.oneof(PIPELINE, fc.constantFrom(...BYTES)),
    fc.constantFrom(...BYTES),
    fc.oneof(
      MUTATIONS,
      MUTATIONS.map((mutations) => mutations.slice(0, 1)),
      fc.constant([]),
    ),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  )
  .map(([bytes, other, mutations, cuts]) => {
    const all = Buffer.from(applyMutations(bytes, other, mutations), 'latin1');
    const indexes = [0, ...cuts.map((cut) => Math.floor(cut * all.length)).sort((a, b) => a - b), all.length];
    return indexes
      .slice(1)
      .map((end, index) => all.subarray(indexes[index], end))
      .filter(({ length }) => length > 0);
  });

/** The number of mutants, also outside of `npm run test:deep`. */
const MUTANTS = 20_000 * Math.max(1, RUNS);

it('accepts no request that llhttp refuses, and reads each one like llhttp', async () => {
  let accepted = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(MUTANT, async (reads) => {
      const own = await readByGateway(reads);
      const others = readByNode(reads);
      expect(others.slice(0, own.length)).toEqual(own);
      accepted += own.length;
      refused += others.length - own.length;
    }),
    { numRuns: MUTANTS },
  );
  console.log(`${MUTANTS} mutants: both accept ${accepted} requests, llhttp alone ${refused}`);
  expect(accepted).toBeGreaterThan(MUTANTS / 3);
});
