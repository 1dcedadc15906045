import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoggedRequest } from '../../../src/traffic/access-log/logged-request.ts';
import {
  type LogInput,
  type LogReader,
  type ReadProgress,
  readLogs,
} from '../../../src/traffic/access-log/read-logs.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const requestLine = (index: number) =>
  `{"level":30,"time":${index},"msg":"request","id":"x","method":"GET","path":"/${index}","peer":"127.0.0.1"}`;

const inputOf = (data: string | Buffer | readonly Buffer[], name = 'a.log'): LogInput => ({
  name,
  open: () => Readable.from([data].flat().map((chunk) => Buffer.from(chunk))),
});

async function requestsOf(reader: LogReader): Promise<LoggedRequest[]> {
  const requests: LoggedRequest[] = [];
  for await (const batch of reader) requests.push(...batch);
  return requests;
}

/** Cuts bytes into chunks of the sizes, again and again. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let start = 0, at = 0; start < bytes.length; at += 1) {
    const size = sizes[at % sizes.length] ?? 1;
    chunks.push(bytes.subarray(start, start + size));
    start += size;
  }
  return chunks;
}

describe('reading logs', () => {
  it('reads several logs one after the other, and numbers their lines', async () => {
    const reader = readLogs([inputOf(`${requestLine(1)}\n${requestLine(2)}\n`), inputOf(requestLine(3), 'b.log')]);
    const requests = await requestsOf(reader);
    expect(requests.map(({ source, line, path }) => [source, line, path])).toEqual([
      ['a.log', 1, '/1'],
      ['a.log', 2, '/2'],
      ['b.log', 1, '/3'],
    ]);
    expect(reader.counts).toMatchObject({ lines: 3, requests: 3, failures: [] });
    expect(reader.counts.skipped.size).toBe(0);
  });

  it('opens a log when the logs before it have been read', async () => {
    const opened: string[] = [];
    const input = (name: string): LogInput => ({
      ...inputOf(requestLine(1), name),
      open: () => {
        opened.push(name);
        return Readable.from([Buffer.from(requestLine(1))]);
      },
    });
    for await (const [request] of readLogs([input('a'), input('b')])) expect(opened.at(-1)).toBe(request?.source);
    expect(opened).toEqual(['a', 'b']);
  });

  it('counts the other lines by reason, with the first line of each', async () => {
    const text = ['x', requestLine(1), 'y', '{"level":30,"time":1,"msg":"ready"}', '', '{"level":30,"msg":"request"}'];
    const reader = readLogs([inputOf(text.join('\r\n'))]);
    expect(await requestsOf(reader)).toHaveLength(1);
    expect(reader.counts.lines).toBe(6);
    expect([...reader.counts.skipped]).toEqual([
      ['not-json', { lines: 2, source: 'a.log', line: 1, member: undefined }],
      ['other-message', { lines: 1, source: 'a.log', line: 4, member: undefined }],
      ['blank', { lines: 1, source: 'a.log', line: 5, member: undefined }],
      ['member-invalid', { lines: 1, source: 'a.log', line: 6, member: 'time' }],
    ]);
  });

  it('finds the lines of random text in chunks of any size, plain or compressed', async () => {
    const anyLine = fc.oneof(
      fc.nat(9).map(requestLine),
      fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => text.replaceAll('\n', '')),
      fc.constantFrom('', '{', '\r', '\ufeff', '{"msg":"request"}', 'é'.repeat(40_000), 'x'.repeat(65_536), '𝒳{}'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLine, { maxLength: 12 }),
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 4 }),
        async (lines, hasLastNewline, isCompressed, sizes) => {
          const text = lines.join('\n') + (hasLastNewline ? '\n' : '');
          const bytes = isCompressed ? gzipSync(text) : Buffer.from(text);
          const reader = readLogs([inputOf(cut(bytes, sizes))]);
          const requests = await requestsOf(reader);
          const expected = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
          const numbers = expected.flatMap((line, index) => (/^\{.*"path":"\/\d"/.test(line) ? [index + 1] : []));
          expect(requests.map(({ line }) => line)).toEqual(numbers);
          expect(reader.counts.lines).toBe(text === '' ? 0 : expected.length);
          const tooLong = expected.filter((line) => Buffer.byteLength(line) > 65_536).length;
          expect(reader.counts.skipped.get('too-long')?.lines ?? 0).toBe(tooLong);
        },
      ),
    );
  });

  it('reads a compressed file of any name, also one to which a second one was appended', async () => {
    const folder = temporaryFolder('logs');
    const file = join(folder, 'gateway.log');
    writeFileSync(file, Buffer.concat([gzipSync(`${requestLine(1)}\n`), gzipSync(`${requestLine(2)}\n`)]));
    const reader = readLogs([{ name: file, open: () => createReadStream(file) }]);
    expect((await requestsOf(reader)).map(({ path }) => path)).toEqual(['/1', '/2']);
    expect(reader.counts.failures).toEqual([]);
  });

  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, -40), 'the compressed data ends early; copy the file again'],
    [
      'only a magic number',
      (bytes: Buffer) => bytes.subarray(0, 2),
      'the compressed data ends early; copy the file again',
    ],
    [
      'damaged',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 12), Buffer.alloc(30, 0xff), bytes.subarray(42)]),
      'the compressed data is damaged; copy the file again',
    ],
  ])('reports a compressed log that is %s, and reads the next log', async (_name, change, message) => {
    const bytes = gzipSync(Array.from({ length: 5_000 }, (_, index) => requestLine(index)).join('\n'));
    const reader = readLogs([inputOf(change(bytes), 'a.gz'), inputOf(requestLine(7), 'b.log')]);
    const requests = await requestsOf(reader);
    expect(requests.at(-1)).toMatchObject({ source: 'b.log', path: '/7' });
    expect(reader.counts.failures).toMatchObject([{ source: 'a.gz', message }]);
  });

  it('reports a log that cannot be read', async () => {
    const missing = join(temporaryFolder('logs'), 'missing.log');
    const folder = temporaryFolder('logs');
    const reader = readLogs([missing, folder].map((name) => ({ name, open: () => createReadStream(name) })));
    expect(await requestsOf(reader)).toEqual([]);
    expect(reader.counts.failures).toEqual([
      { source: missing, lines: 0, message: 'cannot be read: ENOENT' },
      { source: folder, lines: 0, message: 'this is a folder; name the files in it' },
    ]);
  });

  it('reports the progress in bytes of the files', async () => {
    const bytes = gzipSync(requestLine(1).repeat(100));
    const seen: ReadProgress[] = [];
    await requestsOf(readLogs([{ ...inputOf(cut(bytes, [10])), bytes: bytes.length }], (now) => seen.push(now)));
    expect(seen[0]).toEqual({ bytes: 10, totalBytes: bytes.length });
    expect(seen.at(-1)).toEqual({ bytes: bytes.length, totalBytes: bytes.length });
    await requestsOf(readLogs([{ ...inputOf('x'), bytes: 1 }, inputOf('y')], (now) => seen.push(now)));
    expect(seen.at(-1)).toEqual({ bytes: 2, totalBytes: undefined });
  });

  it('closes the log when the reader of the requests stops early', async () => {
    for (const data of [`${requestLine(1)}\n`, gzipSync(`${requestLine(1)}\n`)]) {
      const source = new Readable({ read: () => undefined });
      source.push(data);
      source.push(data);
      for await (const batch of readLogs([{ name: 'a', open: () => source }])) {
        expect(batch.length).toBeGreaterThan(0);
        break;
      }
      expect(source.destroyed).toBe(true);
    }
  });

  it('keeps no more than one line, so a log without newlines takes no memory', async () => {
    const block = Buffer.alloc(1_000_000, 0x7b);
    const blocks = (function* () {
      for (let index = 0; index < 300; index += 1) yield block;
    })();
    const reader = readLogs([{ name: 'a', open: () => Readable.from(blocks) }]);
    const before = process.memoryUsage().arrayBuffers;
    expect(await requestsOf(reader)).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(30_000_000);
    expect(reader.counts.skipped.get('too-long')).toMatchObject({ lines: 1, line: 1 });
  });
});
