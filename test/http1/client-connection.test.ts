import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type ClientRequest, checkRequestLine, parseRequest } from '../../src/engine/http1/client-request.ts';
import { HeadReader } from '../../src/engine/http1/message-reader.ts';
import type { ResponseWriter } from '../../src/engine/http1/response-writer.ts';
import { withLinearCost } from '../support/growth.ts';
import { LIMITS, TestConnection, TestSocket } from './client-site.ts';

const HOST = 'Host: a\r\n';

/** Yields every split of a text into two reads, and the split into single bytes. */
function* splits(text: string): Generator<Buffer[]> {
  const all = Buffer.from(text, 'latin1');
  for (let at = 0; at <= all.length; at += 1)
    yield [all.subarray(0, at), all.subarray(at)].filter(({ length }) => length > 0);
  yield [...all].map((byte) => Buffer.from([byte]));
}

/** A connection whose head limit allows a test of every split. */
class SmallHeadConnection extends TestConnection {
  protected override get limits() {
    return { ...LIMITS, headerLimitBytes: 64 };
  }
}

async function read(reads: readonly Buffer[], Connection = TestConnection) {
  const socket = new TestSocket();
  const connection = new Connection(socket);
  for (const bytes of reads) socket.emit('data', bytes);
  for (let count = -1; count < connection.requests.length; ) {
    count = connection.requests.length;
    await nextTurn();
  }
  socket.destroy();
  return { requests: connection.requests, errors: connection.errors, written: socket.written };
}

describe('a client connection', () => {
  it('reads on in the next turn of the event loop after 16 MB of a body, so that others need not wait', async () => {
    const socket = new TestSocket();
    const connection = new TestConnection(socket);
    socket.emit('data', Buffer.from(`POST /1 HTTP/1.1\r\n${HOST}Content-Length: 16777216\r\n\r\n`));
    for (let read = 0; read < 256; read += 1) {
      expect(socket.isPaused()).toBe(false);
      socket.emit('data', Buffer.alloc(65_536));
    }
    expect(socket.isPaused()).toBe(true);
    await nextTurn();
    expect(socket.isPaused()).toBe(false);
    expect(connection.requests.length).toBe(1);
    socket.destroy();
  });

  it('reads pipelined requests equally in any split', async () => {
    const text = [
      `\r\nGET /1 HTTP/1.1\r\n${HOST}A: \r\r\n`.replace('\r\r\n', '\r\n\r\n'),
      `POST /2 HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\nGET / HTT`,
      `PUT /3 HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nA;x="\\""\r\n0\r\n\r\n0\r\n\r\n\r\n1\r\n\n\r\n000\r\nX: 1\r\n\r\n`,
      `HEAD /4 HTTP/1.1\r\n${HOST}\r\n`,
    ].join('');
    for (const reads of splits(text)) {
      const { requests, errors } = await read(reads);
      expect(errors).toEqual([]);
      expect(requests.map(({ method, target, body }) => [method, target, body])).toEqual([
        ['GET', '/1', ''],
        ['POST', '/2', 'GET / HTT'],
        ['PUT', '/3', '0\r\n\r\n0\r\n\r\n\n'],
        ['HEAD', '/4', ''],
      ]);
    }
  });

  it.each<[string, string]>([
    ['GET  /1 HTTP/1.1\r\n', 'request_line'],
    ['GET /1 RTSP/1.0\r\n', 'request_line'],
    ['GET /1 HTTP/1.1 \r\n', 'request_line'],
    ['GET /1 HTTP/1.1\n', 'request_line'],
    ['get', 'message'],
    ['GETS', 'message'],
    ['\x16\x03\x01', 'request_line'],
    ['\r\n\r\n', 'request_line'],
    ['GET /1\tHTTP/1.1\r\n', 'request_line'],
    ['BREW /1 HTTP/1.1\r\n\r\n', 'message'],
    ['GET x HTTP/1.1\r\n\r\n', 'message'],
    ['GET /1 HTTP/1.1\r\nA : b\r\n', 'message'],
    ['GET /1 HTTP/1.1\r\nA: b\r\n c\r\n', 'message'],
    ['GET /1 HTTP/1.1\r\nA: b\nC: d\r\n', 'message'],
    ['GET /1 HTTP/1.1\r\nA: \0', 'message'],
    ['GET /1 HTTP/1.1\r\n: b\r\n', 'message'],
    [`GET /1 HTTP/1.1\r\nA: ${'b'.repeat(LIMITS.headerLimitBytes)}`, 'too_large'],
    [`GET /${'b'.repeat(LIMITS.headerLimitBytes)} HTTP/1.1\r\n\r\n`, 'too_large'],
    ['POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\n', 'body'],
    ['POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n', 'body'],
    ['POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;\r\n', 'body'],
    ['POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n', 'body'],
    [`POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'A: b\r\n'.repeat(3_000)}`, 'too_large'],
  ])('refuses %j before more bytes arrive', async (text, kind) => {
    const whole = await read([Buffer.from(text, 'latin1')]);
    expect([whole.errors, whole.requests]).toEqual([[kind], []]);
    const bytewise = await read([...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte])));
    expect([bytewise.errors, bytewise.requests]).toEqual([[kind], []]);
  });

  it.each<[number, string, string[]]>([
    [-1, '', []],
    [0, '', []],
    [0, '\r\n', []],
    [1, '', ['too_large']],
    [1, '\r\n', ['too_large']],
    [2, '', ['too_large']],
    [2, '\r\n', ['too_large']],
    [3, '', ['too_large']],
    [4, '', ['too_large']],
    [5, '', ['too_large']],
  ])('applies the limit of a head equally in any split: %i bytes more, after %j', async (more, before, errors) => {
    const start = 'GET / HTTP/1.1\r\nA: ';
    // The limit counts the end of the last line, not the empty line.
    const text = `${before}${start.padEnd(64 + more - 2, 'a')}\r\n\r\n`;
    for (const reads of splits(text)) {
      const result = await read(reads, SmallHeadConnection);
      expect([result.errors, result.requests.length]).toEqual([errors, 1 - errors.length]);
    }
  });
});

it('an idle client connection keeps no trailers of its last request', () => {
  const socket = new TestSocket();
  const connection = new TestConnection(socket);
  socket.emit('data', Buffer.from('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n'));
  expect([connection.isIdle, connection.requests.length, connection.trailers]).toEqual([true, 1, []]);
});

describe('a head reader', () => {
  const START = 'GET / HTTP/1.1\r\n';
  it.each<[string, (size: number) => string]>([
    ['many lines', (size) => START + 'a: bcdef\r\n'.repeat(size / 10)],
    ['a long line', (size) => `${START}a: ${'b'.repeat(size)}`],
    ['a long target', (size) => `GET /${'b'.repeat(size)}`],
  ])('has a cost that is linear in its size: %s', (_name, textOf) => {
    const result = withLinearCost(1_000_000, (size) => {
      const bytes = Buffer.from(textOf(size));
      const heads = new HeadReader(checkRequestLine);
      for (let at = 0; at < bytes.length; at += 200) heads.read(bytes.subarray(at, at + 200), 0, 2 * size);
      return heads.error;
    });
    expect(result).toBeUndefined();
  });
});

describe('a request', () => {
  it('tells a reader that comes after the client has left', () => {
    const request = parseRequest('POST / HTTP/1.1\r\nContent-Length: 10\r\n', {
      updateReads: () => {},
      parseBody: () => {},
    }) as ClientRequest;
    request.receive(Buffer.from('half'));
    request.close();
    const events: string[] = [];
    request.readBody({
      onBodyData: () => void events.push('data'),
      onBodyEnd: () => void events.push('end'),
      onBodyClose: () => void events.push('close'),
    });
    expect(events).toEqual(['close']);
  });

  it('gives its reader at once a body that came with the head', () => {
    const socket = new TestSocket();
    const events: string[] = [];
    new TestConnection(socket, (request) => {
      request.readBody({
        onBodyData: (bytes) => void events.push(`data ${bytes}`),
        onBodyEnd: () => void events.push('end'),
        onBodyClose: () => void events.push('close'),
      });
      events.push('read');
    });
    socket.emit('data', Buffer.from(`POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabcGET`));
    expect(events).toEqual(['data abc', 'end', 'read']);
    socket.destroy();
  });

  it('is read without a pause once its body is discarded', () => {
    const request = parseRequest('POST / HTTP/1.1\r\nContent-Length: 10\r\n', {
      updateReads: () => {},
      parseBody: () => {},
    }) as ClientRequest;
    request.discardBody();
    request.pause();
    expect(request.mayRead).toBe(true);
  });
});

/** Returns the response that `write` sends to a request. */
function responseTo(line: string, write: (response: ResponseWriter) => void): string {
  const socket = new TestSocket();
  const connection = new TestConnection(socket, () => {
    write(connection.response as ResponseWriter);
    throw new Error('the response is complete');
  });
  socket.emit('data', Buffer.from(`${line}\r\nConnection: keep-alive\r\n\r\n`));
  socket.destroy();
  return socket.written.replace(/Date: .*\r\n/, '');
}

const LINES = 'Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n';

describe('a response writer', () => {
  const ok = (response: ResponseWriter) => response.writeHead(200, 'OK', []);
  const body = Buffer.from('abc');
  it.each<[string, string, (response: ResponseWriter) => void, string]>([
    [
      'chunks a body without a length',
      'GET / HTTP/1.1',
      (response) => {
        ok(response);
        response.write(body);
        response.setTrailers(['A', 'b']);
        response.end();
      },
      `HTTP/1.1 200 OK\r\n${LINES}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n`,
    ],
    [
      'ends the body with the connection in HTTP/1.0',
      'GET / HTTP/1.0',
      (response) => {
        ok(response);
        response.end(body);
      },
      'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc',
    ],
    [
      'sends a counted body as it is',
      'GET / HTTP/1.1',
      (response) => {
        response.writeHead(200, 'OK', ['Content-Length', '3']);
        response.end(body);
      },
      `HTTP/1.1 200 OK\r\nContent-Length: 3\r\n${LINES}\r\nabc`,
    ],
    [
      'sends no body to HEAD',
      'HEAD / HTTP/1.1',
      (response) => {
        ok(response);
        response.end(body);
      },
      `HTTP/1.1 200 OK\r\n${LINES}\r\n`,
    ],
    [
      'sends no body with 304',
      'GET / HTTP/1.1',
      (response) => {
        response.writeHead(304, 'Not Modified', []);
        response.end(body);
      },
      `HTTP/1.1 304 Not Modified\r\n${LINES}\r\n`,
    ],
  ])('%s', (_name, line, write, expected) => {
    expect(responseTo(line, write)).toBe(expected);
  });

  it.each(['\r', '\n', '\0'])('refuses %j in the reason, in names and in values', (character) => {
    const refused = (reason: string, headers: string[]) =>
      responseTo('GET / HTTP/1.1', (response) => {
        const writes = [
          () => response.writeHead(200, reason, headers),
          () => response.writeInformation(103, reason, headers),
          () => response.setTrailers([...headers, 'Reason', reason]),
        ];
        for (const write of writes) expect(write).toThrow('has a line break');
      });
    expect(refused(`O${character}K`, [])).toBe('');
    expect(refused('OK', [`A${character}`, 'b'])).toBe('');
    expect(refused('OK', ['A', `${character}b`])).toBe('');
  });

  it.each<[string, (response: ResponseWriter) => void]>([
    ['100 Continue', (response) => response.writeInformation(100, 'Continue', [])],
    [
      'a response',
      (response) => {
        ok(response);
        response.write(Buffer.alloc(20_000));
        response.end(Buffer.alloc(20_000));
      },
    ],
  ])('writes nothing after the response is over: %s', async (_name, write) => {
    const socket = new TestSocket();
    let response: ResponseWriter | undefined;
    const connection = new TestConnection(socket, () => {
      response = connection.response;
    });
    socket.emit('data', Buffer.from('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'));
    expect(connection.errors).toEqual(['body']);
    write(response as ResponseWriter);
    await nextTurn();
    // A write after the end would destroy the socket, and the client could lose the refusal.
    expect([socket.written, socket.destroyed]).toEqual(['', false]);
    socket.destroy();
  });
});
